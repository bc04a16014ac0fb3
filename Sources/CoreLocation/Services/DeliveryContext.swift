import CDispatch
import Dispatch
import Foundation
import Synchronization

/// The place where a manager's delegate is called.
enum DeliveryContext: Sendable {
  /// The run loop of a thread other than the main one.
  case runLoop(ThreadRunLoop)
  /// A queue, such as the main one, which the main run loop and the main actor serve.
  case queue(DispatchQueue)

  /// Returns the run loop of the current thread, or the main one if the thread has none.
  static func current(after latest: DeliveryContext? = nil) -> DeliveryContext {
    if Thread.isMainThread || isInTask || isOnMainQueue || isInPool { return .queue(.main) }
    if let latest, case .runLoop(let known) = latest, known.isCurrent { return latest }
    return .runLoop(ThreadRunLoop())
  }

  /// Returns whether calls come in the same place, one after the other.
  func isSame(as other: DeliveryContext) -> Bool {
    switch (self, other) {
    case (.runLoop(let loop), .runLoop(let other)): loop === other
    case (.queue(let queue), .queue(let other)): queue === other
    default: false
    }
  }

  /// Calls a block there soon.
  func perform(_ block: @escaping @Sendable () -> Void) {
    switch self {
    case .runLoop(let loop): loop.perform(block)
    case .queue(let queue): queue.async(execute: block)
    }
  }

  private static var isInTask: Bool { unsafe withUnsafeCurrentTask { unsafe $0 != nil } }

  /// Whether this is a block of the main queue, which any thread may run after `dispatchMain()`.
  private static var isOnMainQueue: Bool {
    _ = markMainQueue
    return DispatchQueue.getSpecific(key: mainQueueMark) != nil
  }

  /// Whether this is a block of a dispatch queue, on a pool thread without a run loop. Outside of
  /// any queue, the label is that of a root queue to which no program adds blocks.
  private static var isInPool: Bool {
    // The label lives as long as its queue, which runs this.
    let label = unsafe String(cString: dispatch_queue_get_label(nil))
    return label != "com.apple.root.default-qos.overcommit"
  }

  private static let mainQueueMark = DispatchSpecificKey<Bool>()
  private static let markMainQueue: Void =
    DispatchQueue.main.setSpecific(key: mainQueueMark, value: true)
}

/// A thread's run loop that other threads can use.
final class ThreadRunLoop: @unchecked Sendable {
  // Sendable: other threads only change the timer's date, which locks the underlying loop.
  private let loop: RunLoop
  private let calls: Calls
  /// The timer fires when there are calls. It wakes the loop, and keeps it from ending.
  private let timer: Timer

  private final class Calls: Sendable {
    private let state = Mutex<(waiting: [@Sendable () -> Void], isOwned: Bool, isOver: Bool)>(
      ([], true, false))

    /// Adds a call. After the thread's end, releases it instead, which counts as not made.
    func add(_ call: @escaping @Sendable () -> Void) {
      state.withLock { if !$0.isOver { $0.waiting.append(call) } }
    }

    /// Releases the waiting calls after the thread's end.
    func abandon() {
      let calls = state.withLock { state in
        state.isOver = true
        defer { state.waiting.removeAll() }
        return state.waiting
      }
      // This is outside of the lock, because the calls' release may come back to it.
      _ = calls.count
    }

    /// Makes the waiting calls. Returns whether more may come.
    func make() -> Bool {
      let (calls, isOwned) = state.withLock { state in
        defer { state.waiting.removeAll() }
        return (state.waiting, state.isOwned)
      }
      for call in calls { call() }
      return isOwned
    }

    /// Records that no more calls will be added. Returns whether none waits.
    func disown() -> Bool {
      state.withLock { state in
        state.isOwned = false
        return state.waiting.isEmpty
      }
    }
  }

  /// Creates the current thread's.
  init() {
    loop = .current
    let calls = Calls()
    self.calls = calls
    // The interval is about thirty years: the timer repeats only so that it can be set again.
    timer = Timer(fire: .distantFuture, interval: 1e9, repeats: true) { timer in
      if !calls.make() { timer.invalidate() }
    }
    loop.add(timer, forMode: .common)
    End.current.add(calls)
  }

  /// Releases a thread's waiting calls when the thread ends.
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

    /// The object of the current thread.
    static var current: End {
      // A value of this key is always an object of this class, which its thread keeps.
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
    // If calls wait, the loop keeps the timer until they were made.
    if calls.disown() { timer.invalidate() }
  }

  var isCurrent: Bool { loop === RunLoop.current }

  /// Calls a block on the thread.
  func perform(_ block: @escaping @Sendable () -> Void) {
    calls.add(block)
    timer.fireDate = .distantPast
  }
}
