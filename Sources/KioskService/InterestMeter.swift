import Dispatch
import Synchronization

/// Whether somebody wants the beacons: a stream is open, or somebody asked lately. The radio rests otherwise.
final class InterestMeter: Sendable {
  /// The seconds for which a request counts after its end: a program that asks again and again finds the receiver at
  /// work.
  static let patience = 60.0

  private struct State {
    var users = 0
    /// The number of the latest end: an older one does not count.
    var latestEnd = 0
    /// Whether somebody wants the beacons, or did lately.
    var isInterested = false
  }

  private let state = Mutex(State())
  private let patience: Double
  /// What the last call of the function said. Held during the call, so that the calls come one after the other and the
  /// last one says what is so.
  private let reported = Mutex(Reported())

  private struct Reported {
    var isInterested = false
    var change: (@Sendable (Bool) -> Void)?
  }

  init(patience: Double = InterestMeter.patience) { self.patience = patience }

  /// Calls a function when somebody begins to want the beacons, and when nobody has for a while.
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

  /// Reports the interest as it is now, unless that was reported last.
  private func report() {
    reported.withLock { reported in
      let isInterested = state.withLock { $0.isInterested }
      guard reported.isInterested != isInterested else { return }
      reported.isInterested = isInterested
      reported.change?(isInterested)
    }
  }
}
