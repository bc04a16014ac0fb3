// Where the car stands: when updates pause, a circle around it says when it leaves.
import CoreLocation

final class ParkedCar: NSObject, CLLocationManagerDelegate {
  private(set) var diary: [String] = []
  private(set) var place: CLLocation?
  private let manager: CLLocationManager
  private var last: CLLocation?

  init(manager: CLLocationManager = CLLocationManager()) {
    self.manager = manager
    super.init()
    manager.delegate = self
    manager.activityType = .automotiveNavigation
    manager.pausesLocationUpdatesAutomatically = true
    manager.desiredAccuracy = kCLLocationAccuracyNearestTenMeters
    manager.requestAlwaysAuthorization()
    manager.startUpdatingLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    last = locations.last
  }

  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {
    diary.append("paused")
    guard let last = last ?? manager.location else { return }
    place = last
    let circle = CLCircularRegion(center: last.coordinate, radius: 150, identifier: "car")
    circle.notifyOnEntry = false
    manager.startMonitoring(for: circle)
  }

  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {
    diary.append("resumed")
  }

  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    manager.requestState(for: region)
  }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    if state == .inside, !diary.contains("inside") { diary.append("inside") }
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    diary.append("left")
    manager.stopMonitoring(for: region)
    manager.startUpdatingLocation()
  }
}
