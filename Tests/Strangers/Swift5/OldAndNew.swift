// Delegates of the old spelling only, the new one only, both, and none.
import CoreLocation

class OldOnly: NSObject, CLLocationManagerDelegate {
  var told = [String]()
  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) { told.append("didRangeBeacons:in") }
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: Error
  ) { told.append("rangingBeaconsDidFailFor") }
  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) { told.append("didChangeAuthorization") }
  func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation,
    from oldLocation: CLLocation
  ) { told.append("didUpdateTo:from") }
}

class NewOnly: NSObject, CLLocationManagerDelegate {
  var told = [String]()
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) { told.append("didRange:satisfying") }
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: Error
  ) { told.append("didFailRangingFor") }
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    told.append("didChangeAuthorization()")
  }
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    told.append("didUpdateLocations")
  }
}

/// Both, as in apps that still run on old systems.
class Both: NSObject, CLLocationManagerDelegate {
  var told = [String]()
  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) { told.append("didRangeBeacons:in") }
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) { told.append("didRange:satisfying") }
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: Error
  ) { told.append("rangingBeaconsDidFailFor") }
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: Error
  ) { told.append("didFailRangingFor") }
  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) { told.append("didChangeAuthorization") }
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    told.append("didChangeAuthorization()")
  }
  func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation,
    from oldLocation: CLLocation
  ) { told.append("didUpdateTo:from") }
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    told.append("didUpdateLocations")
  }
}

class Neither: NSObject, CLLocationManagerDelegate {}

/// Overrides what the class above it has; nothing of that is optional any more.
class Overriding: OldOnly {
  override func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) { told.append("override") }
}
