// An actor that is its own delegate.
import CoreLocation

actor BeaconActor: CLLocationManagerDelegate {
  private let locationManager: CLLocationManager
  private(set) var inside: Set<String> = []
  private(set) var latest: [RangedBeacon] = []

  init(locationManager: CLLocationManager = CLLocationManager()) {
    self.locationManager = locationManager
  }

  func start(_ regions: [CLBeaconRegion]) {
    locationManager.delegate = self
    for region in regions { locationManager.startMonitoring(for: region) }
  }

  func range(_ uuid: UUID) {
    let constraint = CLBeaconIdentityConstraint(uuid: uuid, major: 1)
    if !locationManager.rangedBeaconConstraints.contains(constraint) {
      locationManager.startRangingBeacons(satisfying: constraint)
    }
  }

  nonisolated func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    let name = region.identifier
    Task { await entered(name) }
  }

  nonisolated func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    Task { await left(region.identifier) }
  }

  nonisolated func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    let values = beacons.map { RangedBeacon($0) }
    Task { await self.ranged(values) }
  }

  private func entered(_ name: String) { inside.insert(name) }
  private func left(_ name: String) { inside.remove(name) }
  private func ranged(_ beacons: [RangedBeacon]) { latest = beacons }
}
