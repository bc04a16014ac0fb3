// The conformance stands in a base class, and the methods in its subclasses.
import CoreLocation

class BaseListener: NSObject, CLLocationManagerDelegate {
  var told = [String]()
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    told.append("base entered")
  }
}

class AddingListener: BaseListener {
  override func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    told.append("entered")
  }
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying constraint: CLBeaconIdentityConstraint
  ) {
    told.append("ranged")
  }
}
