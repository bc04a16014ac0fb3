// A compass: true north if it is known, turned as the device is held.
import CoreLocation

final class CompassRose: NSObject, CLLocationManagerDelegate {
  private(set) var readings: [(degrees: CLLocationDirection, isTrue: Bool)] = []
  private(set) var questions = 0
  private let manager: CLLocationManager

  init(manager: CLLocationManager = CLLocationManager()) {
    self.manager = manager
    super.init()
    manager.delegate = self
    manager.headingFilter = 5
    manager.requestWhenInUseAuthorization()
  }

  func show(withLocation: Bool) {
    if withLocation { manager.startUpdatingLocation() }
    manager.startUpdatingHeading()
  }

  func rotate(to orientation: CLDeviceOrientation) { manager.headingOrientation = orientation }

  static func name(_ degrees: CLLocationDirection) -> String {
    let names = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]
    return names[Int((degrees / 45).rounded()) % 8]
  }

  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    guard newHeading.headingAccuracy >= 0 else { return }
    let isTrue = newHeading.trueHeading >= 0
    readings.append((isTrue ? newHeading.trueHeading : newHeading.magneticHeading, isTrue))
  }

  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool {
    questions += 1
    guard let heading = manager.heading else { return true }
    return heading.headingAccuracy < 0 || heading.headingAccuracy > 25
  }
}
