import Advertising
import Frontends
import Ranging
import Records
import Scanning
import ServiceCore

/// Finds what changes between the reports of `range`: the beacons that appear, come into another zone and disappear.
struct ZoneChanges {
  /// The beacons of the latest report: as many as are ranged at most.
  private var present: [BeaconIdentity: RangedBeacon] = [:]
  private let regions: [NamedRegion]

  init(regions: [NamedRegion]) { self.regions = regions }

  /// Returns what a report changes: the beacons that disappeared, by identity, then the others, closest first.
  mutating func update(_ report: RangingReport) -> [ZoneChange] {
    var changes: [ZoneChange] = []
    func append(_ kind: ZoneChange.Kind, _ beacon: RangedBeacon, after previous: Proximity?) {
      let region = regions.first { $0.constraint.matches(beacon.beacon) }
      changes.append(
        ZoneChange(
          kind, time: report.wallClockTime, region: region?.name, beacon: beacon,
          previous: previous))
    }
    let before = present
    present = [:]
    for beacon in report.beacons { present[beacon.beacon] = beacon }
    for var beacon in before.values.sorted(by: { $0.beacon < $1.beacon })
    where present[beacon.beacon] == nil {
      let previous = beacon.proximity
      (beacon.proximity, beacon.estimate, beacon.rssi) = (.unknown, nil, nil)
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
