import Advertising
import Frontends
import Ranging
import Records
import Scanning
import ServiceCore

struct ZoneChanges {
  private var present: [BeaconIdentity: RangedBeacon] = [:]
  private let regions: [NamedRegion]

  init(regions: [NamedRegion]) { self.regions = regions }

  /// Returns the changes: disappeared beacons by identity, then others, closest first.
  mutating func update(_ report: RangingReport) -> [ZoneChange] {
    var changes: [ZoneChange] = []
    func append(_ kind: ZoneChange.Kind, _ beacon: RangedBeacon, after previous: Proximity?) {
      let region = regions.first { $0.constraint.matches(beacon.beacon) }
      changes.append(
        ZoneChange(
          kind: kind, time: report.wallClockTime, region: region?.name, beacon: beacon,
          previous: previous))
    }
    let before = present
    present = [:]
    for beacon in report.beacons { present[beacon.beacon] = beacon }
    for var beacon in before.values.sorted(by: { $0.beacon < $1.beacon })
    where present[beacon.beacon] == nil {
      let previous = beacon.proximity
      beacon.proximity = .unknown
      beacon.estimate = nil
      beacon.rssi = nil
      append(.disappear, beacon, after: previous)
    }
    for beacon in report.beacons {
      if let known = before[beacon.beacon] {
        guard known.proximity != beacon.proximity else { continue }
        append(.zone, beacon, after: known.proximity)
      } else {
        append(.appear, beacon, after: nil)
      }
    }
    return changes
  }
}
