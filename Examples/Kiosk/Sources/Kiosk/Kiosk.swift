import CoreLocation

/// Shows a screen to the visitor with the beacon: another one the nearer he comes.
final class Kiosk: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()
  private let visitor = CLBeaconRegion(
    uuid: UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0") ?? UUID(),
    major: 1, minor: 100, identifier: "the visitor")
  private var proximity = CLProximity.unknown

  func open() {
    print("the kiosk opens")
    manager.delegate = self
    manager.requestAlwaysAuthorization()
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    switch manager.authorizationStatus {
    case .authorizedAlways, .authorizedWhenInUse: manager.startMonitoring(for: visitor)
    case .denied, .restricted: print("the kiosk may not look for beacons")
    case .notDetermined: break
    @unknown default: break
    }
  }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    // How near he is matters only while he is there. Until then, the radio works less.
    switch state {
    case .inside: manager.startRangingBeacons(satisfying: visitor.beaconIdentityConstraint)
    case .outside, .unknown:
      manager.stopRangingBeacons(satisfying: visitor.beaconIdentityConstraint)
      proximity = .unknown
    }
  }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    print("\(region.identifier) is here")
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    print("\(region.identifier) has gone: the slide show")
  }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying constraint: CLBeaconIdentityConstraint
  ) {
    guard let beacon = beacons.first, beacon.proximity != proximity else { return }
    proximity = beacon.proximity
    switch proximity {
    case .immediate: show("his order, to be signed", for: beacon)
    case .near: show("his name and a greeting", for: beacon)
    case .far: show("the way to the kiosk", for: beacon)
    case .unknown: break
    }
  }

  private func show(_ screen: String, for beacon: CLBeacon) {
    print(beacon.timestamp.formatted(.iso8601), screen)
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: Error
  ) {
    print("cannot look for \(region?.identifier ?? "visitors"): \(error.localizedDescription)")
  }

  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor constraint: CLBeaconIdentityConstraint,
    error: Error
  ) {
    print("cannot tell how near he is: \(error.localizedDescription)")
  }
}
