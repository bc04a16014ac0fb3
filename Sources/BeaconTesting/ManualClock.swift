import Dispatch
public import Scanning
import Synchronization

/// A clock that advances only when a test advances it.
public final class ManualClock: Sendable {
  private let state: Mutex<State>

  private struct State {
    var now: MonotonicTime
    var waiters: [DispatchSemaphore] = []
  }

  /// Creates a clock that starts at a time, by default 2026-01-01T00:00:00Z.
  public init(start: MonotonicTime = MonotonicTime(nanoseconds: 1_767_225_600_000_000_000)) {
    state = Mutex(State(now: start))
  }

  /// The clock's time.
  public var now: MonotonicTime { state.withLock { $0.now } }

  /// Advances the clock by seconds, 0 or more.
  public func advance(by seconds: Double) {
    precondition(seconds >= 0 && seconds < 9e9, "a clock goes forward, by less than 285 years")
    let waiters = state.withLock { state in
      state.now = state.now.advanced(by: Int64((seconds * 1e9).rounded()))
      defer { state.waiters.removeAll() }
      return state.waiters
    }
    for waiter in waiters { waiter.signal() }
  }

  /// Waits until the clock's time is later than a moment, at most for some real nanoseconds.
  func wait(after moment: MonotonicTime, atMost longest: Int64) {
    let waiter = DispatchSemaphore(value: 0)
    state.withLock { state in
      if state.now <= moment { state.waiters.append(waiter) } else { waiter.signal() }
    }
    _ = waiter.wait(timeout: .now() + .nanoseconds(Int(longest)))
    state.withLock { $0.waiters.removeAll { $0 === waiter } }
  }
}
