package import Clocks
package import FleetPicture

/// Which receivers of a site are sent their configuration now.
///
/// A version goes to a few receivers at a time, and to no further one when a receiver refuses it,
/// does not report any more while it tries it, or ends twice meanwhile.
package struct Rollout: Sendable {
  private struct Sent {
    var version: String
    var first: MonotonicTime
    var last: MonotonicTime
    /// The time since which it reports, and tries the version or does not.
    var since: MonotonicTime
    /// Whether it tries the version, and how often it has ended that without a reason.
    var isTrying = false
    var ends = 0

    init(_ version: String, at now: MonotonicTime) {
      self.version = version
      (first, last, since) = (now, now, now)
    }
  }

  /// The seconds after which a receiver that does not report the version is sent it again.
  private static let pause = 20.0
  /// The seconds after which such a receiver does not hold up the others, and is sent it less often.
  private static let patience = 120.0
  private static let longPause = 600.0
  /// The seconds of reports after which a receiver has not taken the version.
  private static let limit = 600.0

  private var sent: [String: Sent] = [:]
  /// The receivers that have reported for ten minutes since they were sent their version, and neither
  /// use nor refuse it. They do not keep it from the others, as they say nothing about it.
  package private(set) var untaken: Set<String> = []

  package init() {}

  /// Returns the receivers to send to, in order, by the versions that they are to have.
  package mutating func next(
    _ receivers: [SitePicture.Receiver], wanted: [String: String], at now: MonotonicTime
  ) -> [String] {
    sent = sent.filter { wanted[$0.key] == $0.value.version }
    untaken = []
    var stopped: Set<String> = []
    var busy = 0
    for receiver in receivers {
      guard let version = wanted[receiver.name], receiver.configuration?.version != version else {
        sent[receiver.name] = nil
        continue
      }
      let isTrying = receiver.configuration?.trial == version
      let isRefused = receiver.configuration?.refused == version
      // Another service may have sent it.
      if isTrying, sent[receiver.name] == nil { sent[receiver.name] = Sent(version, at: now) }
      if var entry = sent[receiver.name] {
        if receiver.isMissing || isTrying != entry.isTrying { entry.since = now }
        if entry.isTrying, !isTrying { entry.ends += 1 }
        entry.isTrying = isTrying
        if !isRefused, now.seconds(since: entry.since) >= Self.limit {
          untaken.insert(receiver.name)
        }
        sent[receiver.name] = entry
      }
      // A receiver reports that it tries a version before it does.
      if isRefused || isTrying && receiver.isMissing || sent[receiver.name]?.ends ?? 0 >= 2 {
        stopped.insert(version)
      } else if isTrying || sent[receiver.name] != nil && !isLate(receiver.name, now) {
        busy += 1
      }
    }
    // The first ones find what is wrong with a version.
    let most = max(1, receivers.count / 10)
    var result: [String] = []
    for receiver in receivers where !receiver.isMissing {
      guard let version = wanted[receiver.name], receiver.configuration?.version != version,
        receiver.configuration?.trial != version, !stopped.contains(version)
      else { continue }
      if let known = sent[receiver.name] {
        let isLate = isLate(receiver.name, now)
        guard now.seconds(since: known.last) >= (isLate ? Self.longPause : Self.pause),
          !isLate || busy < most
        else { continue }
        if isLate { busy += 1 }
        sent[receiver.name]?.last = now
      } else {
        guard busy < most else { continue }
        busy += 1
        sent[receiver.name] = Sent(version, at: now)
      }
      result.append(receiver.name)
    }
    return result
  }

  private func isLate(_ receiver: String, _ now: MonotonicTime) -> Bool {
    sent[receiver].map { now.seconds(since: $0.first) >= Self.patience } ?? false
  }
}
