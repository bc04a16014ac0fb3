// A test double that subclasses the manager: overrides properties, class methods, initialisers.
import CoreLocation

class FakeManager: CLLocationManager {
  static var fakeStatus: CLAuthorizationStatus = .notDetermined
  static var servicesOn = true

  var started = [CLRegion]()
  var ranged: Set<CLBeaconIdentityConstraint> = []
  var oldRanged: Set<CLRegion> = []
  private(set) var calls: [String] = []
  private var _location: CLLocation?
  weak var fakeDelegate: CLLocationManagerDelegate?

  override init() {
    calls.append("init")
    super.init()
  }

  convenience init(location: CLLocation) {
    self.init()
    _location = location
  }

  override var delegate: CLLocationManagerDelegate? {
    get { return fakeDelegate }
    set { fakeDelegate = newValue }
  }

  override class func authorizationStatus() -> CLAuthorizationStatus { return fakeStatus }
  override class func locationServicesEnabled() -> Bool { return servicesOn }
  override class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
    return regionClass == CLBeaconRegion.self
  }
  override class func isRangingAvailable() -> Bool { return true }
  override class func headingAvailable() -> Bool { return true }
  override class func significantLocationChangeMonitoringAvailable() -> Bool { return false }
  override class func deferredLocationUpdatesAvailable() -> Bool { return false }

  override var authorizationStatus: CLAuthorizationStatus { return FakeManager.fakeStatus }
  override var accuracyAuthorization: CLAccuracyAuthorization { .reducedAccuracy }
  override var location: CLLocation? { return _location }
  override var heading: CLHeading? { nil }
  override var monitoredRegions: Set<CLRegion> { return Set(started) }
  override var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> { return ranged }
  override var rangedRegions: Set<CLRegion> { return oldRanged }
  override var maximumRegionMonitoringDistance: CLLocationDistance { return 400 }
  override var isAuthorizedForWidgetUpdates: Bool { false }

  override var desiredAccuracy: CLLocationAccuracy {
    didSet { calls.append("accuracy \(desiredAccuracy)") }
  }
  override var distanceFilter: CLLocationDistance {
    willSet { calls.append("filter \(newValue)") }
  }

  override func requestWhenInUseAuthorization() {
    FakeManager.fakeStatus = .authorizedWhenInUse
    delegate?.locationManager?(self, didChangeAuthorization: .authorizedWhenInUse)
    delegate?.locationManagerDidChangeAuthorization?(self)
  }

  override func requestAlwaysAuthorization() {
    FakeManager.fakeStatus = .authorizedAlways
    if let delegate = delegate {
      delegate.locationManagerDidChangeAuthorization?(self)
    }
  }

  override func startUpdatingLocation() {
    calls.append("startUpdatingLocation")
    guard let location = location else {
      let error = NSError(
        domain: kCLErrorDomain, code: CLError.locationUnknown.rawValue, userInfo: nil)
      self.delegate?.locationManager?(self, didFailWithError: error)
      return
    }
    delegate?.locationManager?(self, didUpdateLocations: [location])
  }

  override func stopUpdatingLocation() { calls.append("stopUpdatingLocation") }
  override func requestLocation() { startUpdatingLocation() }

  override func startMonitoring(for region: CLRegion) {
    started.append(region)
    delegate?.locationManager?(self, didStartMonitoringFor: region)
    delegate?.locationManager?(self, didDetermineState: .inside, for: region)
  }

  override func stopMonitoring(for region: CLRegion) {
    started.removeAll { $0.identifier == region.identifier }
  }

  override func requestState(for region: CLRegion) {
    DispatchQueue.main.async { [weak self] in
      guard let self = self else { return }
      self.delegate?.locationManager?(self, didDetermineState: .outside, for: region)
    }
  }

  override func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    ranged.insert(constraint)
  }
  override func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    ranged.remove(constraint)
  }
  override func startRangingBeacons(in region: CLBeaconRegion) { oldRanged.insert(region) }
  override func stopRangingBeacons(in region: CLBeaconRegion) { oldRanged.remove(region) }

  override func startUpdatingHeading() {}
  override func stopUpdatingHeading() {}
  override func startMonitoringVisits() {}
  override func stopMonitoringVisits() {}
  override func startMonitoringSignificantLocationChanges() {}
  override func stopMonitoringSignificantLocationChanges() {}
  override func allowDeferredLocationUpdates(
    untilTraveled distance: CLLocationDistance, timeout: TimeInterval
  ) {}
  override func disallowDeferredLocationUpdates() {}
  override func dismissHeadingCalibrationDisplay() {}
  override func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, completion: ((Error?) -> Void)? = nil
  ) {
    completion?(nil)
  }

  func simulate(beacons: [CLBeacon], for constraint: CLBeaconIdentityConstraint) {
    delegate?.locationManager?(self, didRange: beacons, satisfying: constraint)
  }
  func simulate(beacons: [CLBeacon], in region: CLBeaconRegion) {
    delegate?.locationManager?(self, didRangeBeacons: beacons, in: region)
  }
  func simulateEnter(_ region: CLRegion) {
    delegate?.locationManager?(self, didEnterRegion: region)
  }
  func simulateExit(_ region: CLRegion) {
    delegate!.locationManager!(self, didExitRegion: region)
  }
  func simulateFailure(_ region: CLRegion?, _ code: CLError.Code) {
    delegate?.locationManager?(self, monitoringDidFailFor: region, withError: CLError(code))
  }
}

/// One that overrides nothing and adds nothing: it inherits the initialiser.
final class IdleManager: CLLocationManager {}
