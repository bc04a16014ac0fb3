// Locations as an AsyncStream: the delegate feeds it, and its end stops the manager.
import CoreLocation

final class LocationFeed: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  private let manager: CLLocationManager
  private var continuation: AsyncThrowingStream<CLLocation, any Error>.Continuation?

  @MainActor
  init(manager: CLLocationManager = CLLocationManager()) {
    self.manager = manager
    super.init()
    manager.delegate = self
    manager.requestWhenInUseAuthorization()
  }

  @MainActor
  func locations() -> AsyncThrowingStream<CLLocation, any Error> {
    AsyncThrowingStream { continuation in
      self.continuation = continuation
      continuation.onTermination = { [weak self] _ in self?.manager.stopUpdatingLocation() }
      manager.startUpdatingLocation()
    }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    for location in locations { continuation?.yield(location) }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    if (error as? CLError)?.code == .locationUnknown { return }
    continuation?.finish(throwing: error)
  }
}

/// What a trip adds up to, off the main thread.
actor TripSum {
  private(set) var meters: CLLocationDistance = 0
  private(set) var count = 0
  private var last: CLLocation?

  func add(_ location: CLLocation) {
    if let last { meters += location.distance(from: last) }
    last = location
    count += 1
  }

  func follow(
    _ locations: AsyncThrowingStream<CLLocation, any Error>, until meters: CLLocationDistance
  ) async throws {
    for try await location in locations {
      add(location)
      if self.meters >= meters { break }
    }
  }
}
