import CDispatch
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

  /// Where calls of the current thread are to come: its run loop. A Swift task and a block on a dispatch queue have
  /// none, and there the main one stands in.
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

  /// Whether the main queue's block runs here: in a program that ends in `dispatchMain()`, as every program with an
  /// asynchronous main function does, other threads than the main one run them.
  private static var isOnMainQueue: Bool {
    _ = markMainQueue
    return DispatchQueue.getSpecific(key: mainQueueMark) != nil
  }

  /// Whether a block of a dispatch queue runs here, on a thread of libdispatch's pool, which has no run loop of its
  /// own.
  ///
  /// The label of the current queue tells: outside of any queue, it is that of a root queue on which nobody can put
  /// blocks.
  private static var isInPool: Bool {
    // The label lives as long as its queue, which runs this.
    let label = unsafe String(cString: dispatch_queue_get_label(nil))
    return label != "com.apple.root.default-qos.overcommit"
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
  /// It fires when there are calls. A plain block would not wake the loop, and a loop without a timer or another
  /// source ends at once.
  private let timer: Timer

  private final class Calls: Sendable {
    private let state = Mutex<(waiting: [@Sendable () -> Void], isOwned: Bool, isOver: Bool)>(
      ([], true, false))

    /// Adds a call; where the thread has ended, the call is released instead, and counts as not made. The core
    /// bounds how many wait: 4,096 for each manager.
    func add(_ call: @escaping @Sendable () -> Void) {
      state.withLock { if !$0.isOver { $0.waiting.append(call) } }
    }

    /// Releases the calls that wait: the thread has ended.
    func abandon() {
      let calls = state.withLock { state in
        state.isOver = true
        defer { state.waiting.removeAll() }
        return state.waiting
      }
      // Released outside of the lock, as their end may come back to it.
      _ = calls.count
    }

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
    End.current.add(calls)
  }

  /// Releases the calls that wait for a thread when the thread ends.
  private final class End {
    private struct Weak {
      weak var calls: Calls?
    }

    private var all: [Weak] = []

    private static let key = {
      var key = pthread_key_t()
      // The thread's value is the one that ``current`` retained for it.
      unsafe pthread_key_create(&key) { value in
        if let value = unsafe value { unsafe Unmanaged<End>.fromOpaque(value).release() }
      }
      return key
    }()

    /// The one of the current thread.
    static var current: End {
      // A value of this key is always an object of this class, which the thread keeps until it ends.
      if let value = unsafe pthread_getspecific(key) {
        return unsafe Unmanaged<End>.fromOpaque(value).takeUnretainedValue()
      }
      let end = End()
      unsafe pthread_setspecific(key, Unmanaged.passRetained(end).toOpaque())
      return end
    }

    func add(_ calls: Calls) {
      all.removeAll { $0.calls == nil }
      all.append(Weak(calls: calls))
    }

    deinit {
      for entry in all { entry.calls?.abandon() }
    }
  }

  deinit {
    // What waits keeps the timer, which the loop has, until it was called.
    if calls.disown() { timer.invalidate() }
  }

  /// The current thread's.
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
