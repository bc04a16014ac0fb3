// Closures instead of a delegate; everything lazy.
import CoreLocation

final class ClosureScanner: NSObject {
  typealias Handler = (Result<[CLBeacon], Error>) -> Void

  private lazy var locationManager: CLLocationManager = {
    let manager = CLLocationManager()
    manager.delegate = self
    manager.activityType = .other
    manager.allowsBackgroundLocationUpdates = false
    return manager
  }()
  private let queue = DispatchQueue(label: "scanner")
  private var handlers: [CLBeaconIdentityConstraint: Handler] = [:]
  var authorized: ((Bool) -> Void)?

  func scan(_ uuid: UUID, major: UInt16? = nil, minor: UInt16? = nil, then: @escaping Handler) {
    let constraint: CLBeaconIdentityConstraint
    switch (major, minor) {
    case (let major?, let minor?):
      constraint = .init(uuid: uuid, major: major, minor: minor)
    case (let major?, nil):
      constraint = .init(uuid: uuid, major: major)
    default:
      constraint = .init(uuid: uuid)
    }
    queue.sync { handlers[constraint] = then }
    locationManager.startRangingBeacons(satisfying: constraint)
  }

  func stop() {
    locationManager.rangedBeaconConstraints.forEach(
      locationManager.stopRangingBeacons(satisfying:))
    handlers.removeAll()
  }
}

// MARK: - CLLocationManagerDelegate

extension ClosureScanner: CLLocationManagerDelegate {
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    switch manager.authorizationStatus {
    case .authorizedAlways, .authorizedWhenInUse: authorized?(true)
    case .denied, .restricted: authorized?(false)
    case .notDetermined: manager.requestWhenInUseAuthorization()
    @unknown default: break
    }
  }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    let sorted = beacons.sorted { $0.accuracy < $1.accuracy }
    DispatchQueue.main.async { [weak self] in
      self?.handlers[beaconConstraint]?(.success(sorted))
    }
    assert(manager === locationManager)
  }

  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: Error
  ) {
    handlers[beaconConstraint]?(.failure(error))
  }
}
