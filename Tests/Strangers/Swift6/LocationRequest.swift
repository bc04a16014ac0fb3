// One location with async/await, as in every tutorial.
import CoreLocation

final class LocationRequest: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  private let manager: CLLocationManager
  private var locationContinuation: CheckedContinuation<CLLocationCoordinate2D?, any Error>?

  init(manager: CLLocationManager = .init()) {
    self.manager = manager
    super.init()
    manager.delegate = self
  }

  func requestLocation() async throws -> CLLocationCoordinate2D? {
    try await withCheckedThrowingContinuation { continuation in
      locationContinuation = continuation
      manager.requestLocation()
    }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    locationContinuation?.resume(returning: locations.first?.coordinate)
    locationContinuation = nil
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    locationContinuation?.resume(throwing: error)
    locationContinuation = nil
  }
}
