// A long hike that wakes up now and then: locations are deferred, again and again.
import CoreLocation

final class DeferredWorkout: NSObject, CLLocationManagerDelegate {
  private(set) var batches = [Int]()
  private(set) var locations = [CLLocation]()
  private(set) var ends = [CLError.Code?]()
  private(set) var requests = 0
  private var isDeferring = false
  private let manager: CLLocationManager

  init(manager: CLLocationManager = CLLocationManager()) {
    self.manager = manager
    super.init()
    manager.delegate = self
    manager.activityType = .fitness
    manager.desiredAccuracy = kCLLocationAccuracyBest
    manager.distanceFilter = kCLDistanceFilterNone
    manager.pausesLocationUpdatesAutomatically = false
    manager.requestAlwaysAuthorization()
    manager.startUpdatingLocation()
  }

  func finish() { manager.stopUpdatingLocation() }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    batches.append(locations.count)
    self.locations.append(contentsOf: locations)
    if !isDeferring {
      isDeferring = true
      requests += 1
      manager.allowDeferredLocationUpdates(untilTraveled: 500, timeout: 10 * 60)
    }
  }

  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: Error?
  ) {
    isDeferring = false
    ends.append((error as? CLError)?.code)
  }
}
