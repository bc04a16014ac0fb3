import Dispatch
import Synchronization

/// Whether somebody wants the beacons: a stream is open, or somebody asked lately. The radio rests otherwise.
final class InterestMeter: Sendable {
  /// The seconds for which a request counts after its end: a program that asks again and again finds the receiver at
  /// work.
  static let patience = 60.0

  private struct State {
    var users = 0
    var isInterested = false
    /// The number of the latest end: an older one does not count.
    var latestEnd = 0
    var change: (@Sendable (Bool) -> Void)?
  }

  private let state = Mutex(State())

  func onChange(_ body: @escaping @Sendable (Bool) -> Void) {
    state.withLock { $0.change = body }
  }

  func begin() {
    let change = state.withLock { state in
      state.users += 1
      state.latestEnd += 1
      guard !state.isInterested else { return nil as (@Sendable (Bool) -> Void)? }
      state.isInterested = true
      return state.change
    }
    change?(true)
  }

  func end() {
    let number = state.withLock { state in
      state.users -= 1
      state.latestEnd += 1
      return state.users == 0 ? state.latestEnd : nil
    }
    guard let number else { return }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.patience) {
      [weak self] in
      guard let self else { return }
      let change = state.withLock { state in
        guard state.latestEnd == number, state.isInterested else {
          return nil as (@Sendable (Bool) -> Void)?
        }
        state.isInterested = false
        return state.change
      }
      change?(false)
    }
  }
}
