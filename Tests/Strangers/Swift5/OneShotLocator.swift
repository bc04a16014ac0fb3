// One location for everybody who asks, by completion handlers.
import CoreLocation

final class OneShotLocator: NSObject, CLLocationManagerDelegate {
  typealias Completion = (Result<CLLocation, Error>) -> Void

  private(set) var calls = 0
  private let manager: CLLocationManager
  private var waiting: [Completion] = []

  init(
    manager: CLLocationManager = CLLocationManager(),
    accuracy: CLLocationAccuracy = kCLLocationAccuracyHundredMeters
  ) {
    self.manager = manager
    super.init()
    manager.delegate = self
    manager.desiredAccuracy = accuracy
    manager.requestWhenInUseAuthorization()
  }

  func locate(_ completion: @escaping Completion) {
    waiting.append(completion)
    if waiting.count == 1 { manager.requestLocation() }
  }

  private func finish(_ result: Result<CLLocation, Error>) {
    calls += 1
    let completions = waiting
    waiting.removeAll()
    completions.forEach { $0(result) }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    if let best = locations.min(by: { $0.horizontalAccuracy < $1.horizontalAccuracy }) {
      finish(.success(best))
    }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    finish(.failure(error))
  }
}

/// The way of before there was `requestLocation`: start, take the first, stop, and let go.
final class FirstLocation: NSObject, CLLocationManagerDelegate {
  private var manager: CLLocationManager?
  private var completion: ((CLLocation) -> Void)?
  private(set) var calls = 0

  func find(with manager: CLLocationManager, _ completion: @escaping (CLLocation) -> Void) {
    self.completion = completion
    self.manager = manager
    manager.delegate = self
    manager.requestAlwaysAuthorization()
    manager.startUpdatingLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    calls += 1
    manager.stopUpdatingLocation()
    manager.delegate = nil
    self.manager = nil
    completion?(locations[0])
    completion = nil
  }
}
