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
    /// Whether it tries the version, and how often it has ended that without a reason.
    var isTrying = false
    var ends = 0
  }

  /// The seconds after which a receiver that does not report the version is sent it again.
  private static let pause = 20.0
  /// The seconds after which such a receiver does not hold up the others, and is sent it less often.
  private static let patience = 120.0
  private static let longPause = 600.0

  private var sent: [String: Sent] = [:]

  package init() {}

  /// Returns the receivers to send to, in order, by the versions that they are to have.
  package mutating func next(
    _ receivers: [SitePicture.Receiver], wanted: [String: String], at now: MonotonicTime
  ) -> [String] {
    sent = sent.filter { wanted[$0.key] == $0.value.version }
    var stopped: Set<String> = []
    var busy = 0
    for receiver in receivers {
      guard let version = wanted[receiver.name], receiver.configuration?.version != version else {
        sent[receiver.name] = nil
        continue
      }
      let isTrying = receiver.configuration?.trial == version
      let isSent = sent[receiver.name] != nil
      if sent[receiver.name]?.isTrying == true, !isTrying { sent[receiver.name]?.ends += 1 }
      sent[receiver.name]?.isTrying = isTrying
      // A receiver reports that it tries a version before it does.
      if receiver.configuration?.refused == version || isTrying && receiver.isMissing
        || sent[receiver.name]?.ends ?? 0 >= 2
      {
        stopped.insert(version)
      } else if isTrying || isSent && !isLate(receiver.name, now) {
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
        sent[receiver.name] = Sent(version: version, first: now, last: now)
      }
      result.append(receiver.name)
    }
    return result
  }

  private func isLate(_ receiver: String, _ now: MonotonicTime) -> Bool {
    sent[receiver].map { now.seconds(since: $0.first) >= Self.patience } ?? false
  }
}
