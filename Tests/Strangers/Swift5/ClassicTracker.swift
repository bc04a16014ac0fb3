// A tracker of 2011, never touched since: one location and the one before it.
import CoreLocation

class ClassicTracker: NSObject, CLLocationManagerDelegate {
  var total: CLLocationDistance = 0
  var updates = 0
  var statuses: [CLAuthorizationStatus] = []
  let manager: CLLocationManager

  init(manager: CLLocationManager) {
    self.manager = manager
    super.init()
    self.manager.delegate = self
    self.manager.purpose = "To measure your way"
    self.manager.distanceFilter = 25
  }

  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) {
    statuses.append(status)
    if status == .notDetermined { manager.requestAlwaysAuthorization() }
    if status == .authorizedAlways { manager.startUpdatingLocation() }
  }

  func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation,
    from oldLocation: CLLocation
  ) {
    updates += 1
    total += newLocation.getDistanceFrom(oldLocation)
  }
}
