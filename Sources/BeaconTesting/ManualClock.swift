import Dispatch
public import Scanning
import Synchronization

/// A clock that stands still until it is moved by hand.
public final class ManualClock: Sendable {
  private let state: Mutex<State>

  private struct State {
    var now: MonotonicTime
    var waiters: [DispatchSemaphore] = []
  }

  /// Makes a clock.
  ///
  /// - Parameter start: What it shows at first; 2026-01-01T00:00:00Z if not given.
  public init(start: MonotonicTime = MonotonicTime(nanoseconds: 1_767_225_600_000_000_000)) {
    state = Mutex(State(now: start))
  }

  /// What it shows.
  public var now: MonotonicTime { state.withLock { $0.now } }

  /// Moves it.
  ///
  /// - Parameter seconds: How far; a clock does not go back.
  public func advance(by seconds: Double) {
    precondition(seconds >= 0 && seconds < 9e9, "a clock goes forward, by less than 285 years")
    let waiters = state.withLock { state in
      state.now = state.now.advanced(by: Int64((seconds * 1e9).rounded()))
      defer { state.waiters.removeAll() }
      return state.waiters
    }
    for waiter in waiters { waiter.signal() }
  }

  /// Waits until it shows a later moment, or for some nanoseconds of real time.
  func wait(after moment: MonotonicTime, atMost longest: Int64) {
    let waiter = DispatchSemaphore(value: 0)
    let waits = state.withLock { state in
      guard state.now <= moment else { return false }
      state.waiters.append(waiter)
      return true
    }
    guard waits else { return }
    _ = waiter.wait(timeout: .now() + .nanoseconds(Int(longest)))
    state.withLock { $0.waiters.removeAll { $0 === waiter } }
  }
}
