import Dispatch
import Foundation
import Synchronization

/// Where a manager's delegate is called.
enum DeliveryContext: Sendable {
  /// The main thread's run loop, by its queue: it is also served by `dispatchMain()` and by a main actor.
  case main
  /// The run loop of another thread.
  case runLoop(ThreadRunLoop)
  /// A queue that the app named.
  case queue(DispatchQueue)

  /// Where calls of the current thread are to come: its run loop. A Swift task and a block on a dispatch
  /// queue have none, and there the main one stands in.
  ///
  /// - Parameter latest: Where calls came until now.
  /// - Returns: Where they come from now on.
  static func current(after latest: DeliveryContext? = nil) -> DeliveryContext {
    if Thread.isMainThread || isInTask || isOnMainQueue || isInPool { return .main }
    if case .runLoop(let known)? = latest { return .runLoop(ThreadRunLoop.current(known)) }
    return .runLoop(ThreadRunLoop.current(nil))
  }

  /// Whether calls come in the same place, one after the other.
  func isSame(as other: DeliveryContext) -> Bool {
    switch (self, other) {
    case (.main, .main): true
    case (.runLoop(let loop), .runLoop(let other)): loop === other
    case (.queue(let queue), .queue(let other)): queue === other
    default: false
    }
  }

  /// Calls a block there, soon.
  func perform(_ block: @escaping @Sendable () -> Void) {
    switch self {
    case .main: DispatchQueue.main.async(execute: block)
    case .runLoop(let loop): loop.perform(block)
    case .queue(let queue): queue.async(execute: block)
    }
  }

  private static var isInTask: Bool { unsafe withUnsafeCurrentTask { unsafe $0 != nil } }

  /// Whether the main queue's block runs here: in a program that ends in `dispatchMain()`, as every program
  /// with an asynchronous main function does, other threads than the main one run them.
  private static var isOnMainQueue: Bool {
    _ = markMainQueue
    return DispatchQueue.getSpecific(key: mainQueueMark) != nil
  }

  /// Whether a block of a dispatch queue runs here, on a thread of libdispatch's pool, which has no run loop
  /// of its own.
  ///
  /// The label of the current queue tells, but for the default global queue: a thread outside of any queue
  /// has its label too. Only then the thread's name decides, which libdispatch sets for its own threads. If
  /// that ever changed, a manager that is used on the default global queue would have its calls made on that
  /// thread's run loop, which does not run: such code sets ``CLLocationManager/delegateQueue``.
  private static var isInPool: Bool {
    guard currentQueueLabel ?? defaultLabel == defaultLabel else { return true }
    if Thread.current.isExecuting { return false }
    let comm = FileManager.default.contents(atPath: "/proc/thread-self/comm") ?? Data()
    let name = String(decoding: comm, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    return name.hasSuffix("-qos") || name.hasSuffix("-qos.overcommit")
  }

  private static let defaultLabel = "com.apple.root.default-qos"

  /// The label of the queue whose block runs here, or of the default global queue; `nil` if libdispatch does
  /// not tell.
  private static var currentQueueLabel: String? {
    // The overlay offers the function for a queue only. It takes a null queue for the current one, and the
    // label lives as long as the queue.
    guard let label = queueLabel?(nil) else { return nil }
    return unsafe String(cString: label)
  }

  private static let queueLabel = unsafe dlsym(nil, "dispatch_queue_get_label").map {
    unsafe unsafeBitCast(
      $0, to: (@convention(c) (OpaquePointer?) -> UnsafePointer<CChar>).self)
  }

  private static let mainQueueMark = DispatchSpecificKey<Bool>()
  private static let markMainQueue: Void =
    DispatchQueue.main.setSpecific(key: mainQueueMark, value: true)
}

/// A thread's run loop, as other threads may use it.
final class ThreadRunLoop: @unchecked Sendable {
  // Other threads only change the timer's date, which locks the loop underneath.
  private let loop: RunLoop
  private let calls: Calls
  /// It fires when there are calls. A plain block would not wake the loop, and a loop without a timer or
  /// another source ends at once.
  private let timer: Timer

  private final class Calls: Sendable {
    private let state = Mutex<(waiting: [@Sendable () -> Void], isOwned: Bool)>(([], true))

    func add(_ call: @escaping @Sendable () -> Void) { state.withLock { $0.waiting.append(call) } }

    /// Makes the calls that wait.
    ///
    /// - Returns: Whether more may come.
    func make() -> Bool {
      let (calls, isOwned) = state.withLock { state in
        defer { state.waiting.removeAll() }
        return (state.waiting, state.isOwned)
      }
      for call in calls { call() }
      return isOwned
    }

    /// Nobody will add more.
    ///
    /// - Returns: Whether none waits.
    func disown() -> Bool {
      state.withLock { state in
        state.isOwned = false
        return state.waiting.isEmpty
      }
    }
  }

  private init(_ loop: RunLoop) {
    self.loop = loop
    let calls = Calls()
    self.calls = calls
    // Thirty years: it repeats only so that it can be set again.
    timer = Timer(fire: .distantFuture, interval: 1e9, repeats: true) { timer in
      if !calls.make() { timer.invalidate() }
    }
    loop.add(timer, forMode: .common)
  }

  deinit {
    // What waits keeps the timer, which the loop has, until it was called.
    if calls.disown() { timer.invalidate() }
  }

  /// The current thread's.
  ///
  /// - Parameter known: One that is known already, and may be it.
  /// - Returns: The known one, or a new one.
  static func current(_ known: ThreadRunLoop?) -> ThreadRunLoop {
    let loop = RunLoop.current
    if let known, known.loop === loop { return known }
    return ThreadRunLoop(loop)
  }

  /// Has the thread call a block.
  func perform(_ block: @escaping @Sendable () -> Void) {
    calls.add(block)
    timer.fireDate = .distantPast
  }
}
