// Protocols, generics, any, some, typed throws.
import CoreLocation

protocol BeaconRanging: AnyObject, Sendable {
  var delegate: (any CLLocationManagerDelegate)? { get set }
  var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> { get }
  func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint)
  func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint)
}

extension CLLocationManager: BeaconRanging {}

enum RangingFailure: Error, Equatable {
  case notAllowed
  case unavailable
  case other(code: Int)

  init(_ error: any Error) {
    switch error {
    case CLError.denied, CLError.regionMonitoringDenied: self = .notAllowed
    case let error as CLError where error.code == .rangingUnavailable: self = .unavailable
    case let error as CLError: self = .other(code: error.code.rawValue)
    default: self = .other(code: (error as NSError).code)
    }
  }
}

final class Ranging<Manager: BeaconRanging>: NSObject, CLLocationManagerDelegate {
  let manager: Manager
  var onBeacons: (@Sendable ([CLBeacon]) -> Void)?
  var failure: RangingFailure?

  init(_ manager: Manager) {
    self.manager = manager
    super.init()
    manager.delegate = self
  }

  func toggle(_ constraint: CLBeaconIdentityConstraint) throws(RangingFailure) {
    guard CLLocationManager.isRangingAvailable() else { throw .unavailable }
    if manager.rangedBeaconConstraints.contains(constraint) {
      manager.stopRangingBeacons(satisfying: constraint)
    } else {
      manager.startRangingBeacons(satisfying: constraint)
    }
  }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying constraint: CLBeaconIdentityConstraint
  ) {
    onBeacons?(beacons)
  }

  func locationManager(
    _: CLLocationManager, didFailRangingFor _: CLBeaconIdentityConstraint, error: any Error
  ) {
    failure = RangingFailure(error)
  }
}

func makeRanging(_ manager: some BeaconRanging) -> any CLLocationManagerDelegate {
  Ranging(manager)
}
