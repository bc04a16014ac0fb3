// `requestLocation` as an asynchronous function of the main actor.
import CoreLocation

@MainActor
final class CurrentLocation: NSObject {
  enum Failure: Error { case denied, busy }

  private(set) var answers = 0
  private let manager: CLLocationManager
  private var continuation: CheckedContinuation<CLLocation, any Error>?
  private var permission: CheckedContinuation<CLAuthorizationStatus, Never>?

  init(manager: CLLocationManager = CLLocationManager()) {
    self.manager = manager
    super.init()
    manager.delegate = self
    manager.desiredAccuracy = kCLLocationAccuracyHundredMeters
  }

  var current: CLLocation {
    get async throws {
      guard continuation == nil else { throw Failure.busy }
      if manager.authorizationStatus == .notDetermined {
        _ = await withCheckedContinuation { continuation in
          permission = continuation
          manager.requestWhenInUseAuthorization()
        }
      }
      guard [.authorizedAlways, .authorizedWhenInUse].contains(manager.authorizationStatus) else {
        throw Failure.denied
      }
      return try await withCheckedThrowingContinuation { continuation in
        self.continuation = continuation
        manager.requestLocation()
      }
    }
  }

  private func finish(_ result: Result<CLLocation, any Error>) {
    answers += 1
    continuation?.resume(with: result)
    continuation = nil
  }
}

extension CurrentLocation: CLLocationManagerDelegate {
  nonisolated func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    let status = manager.authorizationStatus
    guard status != .notDetermined else { return }
    MainActor.assumeIsolated {
      permission?.resume(returning: status)
      permission = nil
    }
  }

  nonisolated func locationManager(
    _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
  ) {
    guard let location = locations.first else { return }
    MainActor.assumeIsolated { finish(.success(location)) }
  }

  nonisolated func locationManager(
    _ manager: CLLocationManager, didFailWithError error: any Error
  ) {
    MainActor.assumeIsolated { finish(.failure(error)) }
  }
}
