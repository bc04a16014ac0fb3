// The model of a screen: observable, on the main actor, with a delegate that is not isolated.
import CoreLocation

@Observable
@MainActor
final class TrackerModel: NSObject {
  enum Phase: Equatable { case idle, tracking, finished }

  private(set) var phase = Phase.idle
  private(set) var path: [CLLocationCoordinate2D] = []
  private(set) var message: String?
  private(set) var isAuthorized = false
  @ObservationIgnored private let manager: CLLocationManager
  @ObservationIgnored private let target: CLCircularRegion

  init(target: CLCircularRegion, manager: CLLocationManager = CLLocationManager()) {
    self.target = target
    self.manager = manager
    super.init()
    manager.delegate = self
  }

  func start() {
    guard phase == .idle else { return }
    phase = .tracking
    manager.requestWhenInUseAuthorization()
    manager.startUpdatingLocation()
  }

  private func receive(_ locations: [CLLocation]) {
    path += locations.map(\.coordinate)
    guard let last = path.last, target.contains(last) else { return }
    manager.stopUpdatingLocation()
    phase = .finished
  }
}

extension TrackerModel: CLLocationManagerDelegate {
  nonisolated func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    let status = manager.authorizationStatus
    Task { @MainActor in
      isAuthorized = status == .authorizedAlways || status == .authorizedWhenInUse
    }
  }

  nonisolated func locationManager(
    _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
  ) {
    MainActor.assumeIsolated { receive(locations) }
  }

  nonisolated func locationManager(
    _ manager: CLLocationManager, didFailWithError error: any Error
  ) {
    let text = error.localizedDescription
    Task { @MainActor in message = text }
  }
}
