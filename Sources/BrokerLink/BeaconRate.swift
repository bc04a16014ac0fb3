import Advertising
import Ranging
import Scanning

/// Which beacons of a report are published: arithmetic only, on the reports' own time.
///
/// A beacon is published at most once a second: when its zone changes, when its distance changes by 0.1 m and 5 %
/// or more, when it becomes known or unknown, and every 30 s.
struct BeaconRate {
  private struct Publication {
    /// `nil` for long ago.
    var time: MonotonicTime?
    var beacon: RangedBeacon
  }

  private var last: [BeaconIdentity: Publication] = [:]

  /// The shortest time between two publications, in seconds. Reports that come once a second are not exact.
  static let shortest = 0.95
  /// The time after which a beacon is published again without a change, in seconds.
  static let longest = 30.0

  /// The beacons that were published since they appeared.
  var beacons: [BeaconIdentity] { Array(last.keys) }

  /// Returns whether a beacon is published now, and records that it is.
  mutating func publishes(_ beacon: RangedBeacon, at time: MonotonicTime) -> Bool {
    if let last = last[beacon.beacon], let before = last.time {
      let age = time.seconds(since: before)
      // A clock that went back is another recording.
      guard age >= Self.shortest || age < 0 else { return false }
      let isChanged =
        last.beacon.proximity != beacon.proximity
        || Self.isChange(last.beacon.estimate?.distance, beacon.estimate?.distance)
      guard isChanged || age >= Self.longest || age < 0 else { return false }
    }
    last[beacon.beacon] = Publication(time: time, beacon: beacon)
    return true
  }

  /// Forgets a beacon that is gone, and returns it as it was published last.
  @discardableResult
  mutating func remove(_ beacon: BeaconIdentity) -> RangedBeacon? {
    last.removeValue(forKey: beacon)?.beacon
  }

  /// Forgets when the beacons were published: each is published with the next report.
  mutating func expire() { for beacon in last.keys { last[beacon]?.time = nil } }

  private static func isChange(_ old: Double?, _ new: Double?) -> Bool {
    guard let old, let new else { return (old == nil) != (new == nil) }
    return abs(new - old) >= max(0.1, 0.05 * old)
  }
}
