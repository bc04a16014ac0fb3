import Dispatch
import Synchronization

/// Tracks whether clients need the beacons: one streams or made a request lately. If not, the
/// receiver is off.
final class InterestMeter: Sendable {
  /// The seconds that a request counts after its end, so that polling keeps the receiver on.
  static let patience = 60.0

  private struct State {
    var users = 0
    /// The number of the last change. Only the latest end counts.
    var latestEnd = 0
    var isInterested = false
  }

  private let state = Mutex(State())
  private let patience: Double
  /// The last reported interest. Its lock is held during the call, so that calls are in order and
  /// the last one is correct.
  private let reported = Mutex(Reported())

  private struct Reported {
    var isInterested = false
    var change: (@Sendable (Bool) -> Void)?
  }

  init(patience: Double = InterestMeter.patience) { self.patience = patience }

  /// Sets a function to call when clients start to need the beacons, and when none has for a while.
  func onChange(_ body: @escaping @Sendable (Bool) -> Void) {
    reported.withLock { $0.change = body }
  }

  func begin() {
    state.withLock { state in
      state.users += 1
      state.latestEnd += 1
      state.isInterested = true
    }
    report()
  }

  func end() {
    let number = state.withLock { state in
      state.users -= 1
      state.latestEnd += 1
      return state.users == 0 ? state.latestEnd : nil
    }
    guard let number else { return }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + patience) { [weak self] in
      self?.state.withLock { if $0.latestEnd == number { $0.isInterested = false } }
      self?.report()
    }
  }

  private func report() {
    reported.withLock { reported in
      let isInterested = state.withLock { $0.isInterested }
      guard reported.isInterested != isInterested else { return }
      reported.isInterested = isInterested
      reported.change?(isInterested)
    }
  }
}
