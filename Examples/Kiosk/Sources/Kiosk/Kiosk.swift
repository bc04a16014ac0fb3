import CoreLocation

/// Shows the visitor with the beacon a screen that depends on their distance.
final class Kiosk: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()
  private let visitor = CLBeaconRegion(
    uuid: UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0") ?? UUID(),
    major: 1, minor: 100, identifier: "visitor")
  private var proximity = CLProximity.unknown

  func open() {
    show("slides")
    manager.delegate = self
    manager.requestAlwaysAuthorization()
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    switch manager.authorizationStatus {
    case .authorizedAlways, .authorizedWhenInUse: manager.startMonitoring(for: visitor)
    case .denied, .restricted: write("This kiosk is not authorized to use location services.")
    case .notDetermined: break
    @unknown default: break
    }
  }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    let constraint = visitor.beaconIdentityConstraint
    switch state {
    case .inside:
      // The distance matters only while the visitor is there. At other times the radio works less.
      manager.startRangingBeacons(satisfying: constraint)
    case .outside, .unknown:
      manager.stopRangingBeacons(satisfying: constraint)
      if proximity != .unknown { show("slides") }
      proximity = .unknown
    }
  }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying constraint: CLBeaconIdentityConstraint
  ) {
    // A beacon that was not received for a moment has unknown proximity: then nothing changes.
    guard let beacon = beacons.first, ![proximity, .unknown].contains(beacon.proximity) else {
      return
    }
    proximity = beacon.proximity
    switch proximity {
    case .immediate: show("their order", beacon)
    case .near: show("a greeting", beacon)
    case .far: show("the way to the kiosk", beacon)
    case .unknown: break
    }
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: Error
  ) {
    write("This kiosk cannot monitor its region: \(error.localizedDescription)")
  }

  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor constraint: CLBeaconIdentityConstraint,
    error: Error
  ) {
    write("This kiosk cannot range beacons: \(error.localizedDescription)")
  }

  private func show(_ screen: String, _ beacon: CLBeacon? = nil) {
    let time = beacon.map { " at \($0.timestamp.formatted(.iso8601))" } ?? ""
    write("Screen: \(screen)\(time)")
  }

  private func write(_ line: String) {
    print(line)
    // A pipe or a journal would otherwise receive the lines only when a buffer is full.
    fflush(nil)
  }
}
