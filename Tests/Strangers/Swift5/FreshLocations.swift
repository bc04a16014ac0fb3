// What is too old, too coarse or impossible is no location.
import CoreLocation

extension CLLocation {
  func isUsable(
    after previous: CLLocation?, now: Date, maximumAge: TimeInterval = 15,
    accuracy: CLLocationAccuracy = 50, speed limit: CLLocationSpeed = 60
  ) -> Bool {
    guard CLLocationCoordinate2DIsValid(coordinate), horizontalAccuracy >= 0 else { return false }
    guard horizontalAccuracy <= accuracy else { return false }
    guard abs(now.timeIntervalSince(timestamp)) <= maximumAge else { return false }
    guard let previous = previous else { return true }
    let seconds = timestamp.timeIntervalSince(previous.timestamp)
    return seconds > 0 && distance(from: previous) / seconds <= limit
  }
}

final class FreshLocations: NSObject, CLLocationManagerDelegate {
  private(set) var accepted = [CLLocation]()
  private(set) var refused = 0
  private let manager: CLLocationManager
  private let now: () -> Date

  init(manager: CLLocationManager = CLLocationManager(), now: @escaping () -> Date = Date.init) {
    self.manager = manager
    self.now = now
    super.init()
    manager.delegate = self
    manager.desiredAccuracy = kCLLocationAccuracyBestForNavigation
    manager.requestAlwaysAuthorization()
    manager.startUpdatingLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    for location in locations {
      if location.isUsable(after: accepted.last, now: now()) {
        accepted.append(location)
      } else {
        refused += 1
      }
    }
  }
}
