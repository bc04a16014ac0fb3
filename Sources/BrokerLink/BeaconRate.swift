import Advertising
import Ranging
import Scanning

/// Decides which beacons of a report to publish, based on the reports' times alone.
///
/// A beacon is published at most once a second: when its zone changes, when its distance changes by
/// at least 0.1 m and 5 %, when the distance becomes known or unknown, and every 30 s.
struct BeaconRate {
  private struct Publication {
    /// `nil` to publish with the next report.
    var time: MonotonicTime?
    var beacon: RangedBeacon
  }

  private var last: [BeaconIdentity: Publication] = [:]

  /// The shortest time between two publications, in seconds. Reports arrive about once a second.
  static let shortest = 0.95
  /// The time after which an unchanged beacon is published again, in seconds.
  static let longest = 30.0

  var beacons: [BeaconIdentity] { Array(last.keys) }

  mutating func publishes(_ beacon: RangedBeacon, at time: MonotonicTime) -> Bool {
    if let last = last[beacon.beacon], let before = last.time {
      let age = time.seconds(since: before)
      // If the clock went back, another recording has started.
      guard age >= Self.shortest || age < 0 else { return false }
      let isChanged =
        last.beacon.proximity != beacon.proximity
        || Self.isChange(last.beacon.estimate?.distance, beacon.estimate?.distance)
      guard isChanged || age >= Self.longest || age < 0 else { return false }
    }
    last[beacon.beacon] = Publication(time: time, beacon: beacon)
    return true
  }

  @discardableResult
  mutating func remove(_ beacon: BeaconIdentity) -> RangedBeacon? {
    last.removeValue(forKey: beacon)?.beacon
  }

  /// Makes the next report publish every beacon.
  mutating func expire() { for beacon in last.keys { last[beacon]?.time = nil } }

  private static func isChange(_ old: Double?, _ new: Double?) -> Bool {
    guard let old, let new else { return (old == nil) != (new == nil) }
    return abs(new - old) >= max(0.1, 0.05 * old)
  }
}
