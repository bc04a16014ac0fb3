// The manager behind a protocol, so that tests can inject their own.
import CoreLocation

protocol LocationManaging: AnyObject {
  var delegate: CLLocationManagerDelegate? { get set }
  var authorizationStatus: CLAuthorizationStatus { get }
  var monitoredRegions: Set<CLRegion> { get }
  var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> { get }
  var maximumRegionMonitoringDistance: CLLocationDistance { get }
  var location: CLLocation? { get }
  var desiredAccuracy: CLLocationAccuracy { get set }
  var allowsBackgroundLocationUpdates: Bool { get set }
  static func authorizationStatus() -> CLAuthorizationStatus
  static func locationServicesEnabled() -> Bool
  static func isMonitoringAvailable(for regionClass: Swift.AnyClass) -> Bool
  static func isRangingAvailable() -> Bool
  func requestAlwaysAuthorization()
  func requestWhenInUseAuthorization()
  func startMonitoring(for region: CLRegion)
  func stopMonitoring(for region: CLRegion)
  func requestState(for region: CLRegion)
  func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint)
  func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint)
  func startRangingBeacons(in region: CLBeaconRegion)
  func startUpdatingLocation()
  func requestLocation()
}

extension CLLocationManager: LocationManaging {}

final class InjectedManager: LocationManaging {
  weak var delegate: CLLocationManagerDelegate?
  var authorizationStatus: CLAuthorizationStatus = .authorizedAlways
  var monitoredRegions: Set<CLRegion> = []
  var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> = []
  var maximumRegionMonitoringDistance: CLLocationDistance = -1
  var location: CLLocation?
  var desiredAccuracy = kCLLocationAccuracyHundredMeters
  var allowsBackgroundLocationUpdates = false
  static func authorizationStatus() -> CLAuthorizationStatus { .authorizedAlways }
  static func locationServicesEnabled() -> Bool { true }
  static func isMonitoringAvailable(for regionClass: Swift.AnyClass) -> Bool { true }
  static func isRangingAvailable() -> Bool { true }
  func requestAlwaysAuthorization() {}
  func requestWhenInUseAuthorization() {}
  func startMonitoring(for region: CLRegion) { monitoredRegions.update(with: region) }
  func stopMonitoring(for region: CLRegion) { monitoredRegions.remove(region) }
  func requestState(for region: CLRegion) {
    delegate?.locationManager?(CLLocationManager(), didDetermineState: .unknown, for: region)
  }
  func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    rangedBeaconConstraints.insert(constraint)
  }
  func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    rangedBeaconConstraints.remove(constraint)
  }
  func startRangingBeacons(in region: CLBeaconRegion) {}
  func startUpdatingLocation() {}
  func requestLocation() {}
}

class GeofenceService: NSObject, CLLocationManagerDelegate {
  private let locationManager: LocationManaging
  private let type: LocationManaging.Type
  private(set) var states = [String: CLRegionState]()

  init(locationManager: LocationManaging = CLLocationManager()) {
    self.locationManager = locationManager
    self.type = Swift.type(of: locationManager)
    super.init()
    locationManager.delegate = self
    self.locationManager.desiredAccuracy = kCLLocationAccuracyThreeKilometers
  }

  func watch(_ regions: [CLRegion]) {
    guard type.locationServicesEnabled(), type.isMonitoringAvailable(for: CLBeaconRegion.self)
    else { return }
    regions.forEach { locationManager.startMonitoring(for: $0) }
    locationManager.monitoredRegions.subtracting(regions).forEach(locationManager.stopMonitoring)
    regions.forEach(locationManager.requestState(for:))
  }

  var isAllowed: Bool { locationManager.authorizationStatus == .authorizedAlways }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    states[region.identifier] = state
  }
}
