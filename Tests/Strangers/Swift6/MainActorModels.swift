// Main-actor view models: @preconcurrency, nonisolated, isolated conformances, assumeIsolated.
import CoreLocation

@MainActor
class PreconcurrencyModel: NSObject, @preconcurrency CLLocationManagerDelegate {
  private let locationManager = CLLocationManager()
  var beacons: [CLBeacon] = []
  var status: CLAuthorizationStatus?
  var error: (any Error)?

  override init() {
    super.init()
    locationManager.delegate = self
    status = locationManager.authorizationStatus
  }

  func start(_ region: CLBeaconRegion) {
    locationManager.startMonitoring(for: region)
    locationManager.startRangingBeacons(satisfying: region.beaconIdentityConstraint)
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    status = manager.authorizationStatus
  }
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    self.beacons = beacons
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    self.error = error
  }
}

@MainActor
final class NonisolatedModel: NSObject {
  private let locationManager: CLLocationManager
  private(set) var nearest: Int?
  private(set) var state: CLRegionState = .unknown

  init(locationManager: CLLocationManager) {
    self.locationManager = locationManager
    super.init()
    self.locationManager.delegate = self
  }
}

extension NonisolatedModel: CLLocationManagerDelegate {
  nonisolated func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    let major = beacons.first?.major.intValue
    Task { @MainActor in self.nearest = major }
  }
  nonisolated func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    MainActor.assumeIsolated { self.state = state }
  }
  nonisolated func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    DispatchQueue.main.async { [weak self] in
      self?.locationManager.requestAlwaysAuthorization()
    }
  }
}

@MainActor
final class IsolatedModel: NSObject, @MainActor CLLocationManagerDelegate {
  lazy var locationManager: CLLocationManager = {
    let manager = CLLocationManager()
    manager.delegate = self
    return manager
  }()
  var inside = false
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    inside = true
    locationManager.requestState(for: region)
  }
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    inside = false
  }
}

@MainActor
final class TestedModel {
  var model = PreconcurrencyModel()
  func fail(_ manager: CLLocationManager) {
    let delegate: (any CLLocationManagerDelegate)? = model
    delegate?.locationManager?(manager, didFailWithError: CLError(.denied))
    delegate?.locationManager(manager, didFailWithError: CLError(.denied))
    delegate?.locationManagerDidChangeAuthorization?(manager)
    model.locationManager(manager, didFailWithError: CLError(.network))
  }
}
