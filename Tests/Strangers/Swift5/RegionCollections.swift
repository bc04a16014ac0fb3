// Regions and constraints as members of sets and as keys.
import CoreLocation

struct RegionBook {
  var states: [CLRegion: CLRegionState] = [:]
  var beacons: [CLBeaconIdentityConstraint: [CLBeacon]] = [:]
  var watched = Set<CLBeaconRegion>()
  var ranged: Set<CLBeaconIdentityConstraint> = []

  mutating func add(_ region: CLBeaconRegion) {
    watched.insert(region)
    states[region] = .unknown
    ranged.insert(region.beaconIdentityConstraint)
    beacons[region.beaconIdentityConstraint, default: []] += []
  }

  func isWatched(_ region: CLRegion) -> Bool {
    guard let region = region as? CLBeaconRegion else { return false }
    return watched.contains(region) || watched.contains { $0.identifier == region.identifier }
  }
}

extension Sequence where Element == CLRegion {
  var beaconRegions: [CLBeaconRegion] { return compactMap { $0 as? CLBeaconRegion } }
  func region(named name: String) -> CLRegion? { return first { $0.identifier == name } }
}

func beaconRegions(of manager: CLLocationManager) -> Set<CLBeaconRegion> {
  return Set(manager.monitoredRegions.beaconRegions)
}

func sameRegion(_ a: CLRegion, _ b: CLRegion) -> Bool { return a == b || a.isEqual(b) }
func sameBeacons(_ a: CLBeaconIdentityConstraint, _ b: CLBeaconIdentityConstraint) -> Bool {
  return a == b && a.hash == b.hash && a.hashValue == b.hashValue
}

func copied(_ region: CLRegion) -> CLRegion { return region.copy() as! CLRegion }
