// Locations, headings, visits: the rest of the manager, in the ways of old.
import CoreLocation

open class Navigator: NSObject, CLLocationManagerDelegate {
  public let manager = CLLocationManager()
  public var onHeading: ((CLLocationDirection) -> Void)?
  private var best: CLLocation?
  private let places = [CLLocation(latitude: 52.5, longitude: 13.4)]

  public override init() {
    super.init()
    manager.delegate = self
    manager.desiredAccuracy = kCLLocationAccuracyBestForNavigation
    manager.distanceFilter = 10.0
    manager.headingFilter = kCLHeadingFilterNone
    manager.headingOrientation = .landscapeLeft
    manager.activityType = .automotiveNavigation
    manager.showsBackgroundLocationIndicator = true
    manager.purpose = "Finding the way"
  }

  open func start() {
    if CLLocationManager.locationServicesEnabled() { manager.startUpdatingLocation() }
    if CLLocationManager.headingAvailable() { manager.startUpdatingHeading() }
    if CLLocationManager.significantLocationChangeMonitoringAvailable() {
      manager.startMonitoringSignificantLocationChanges()
    }
    if CLLocationManager.deferredLocationUpdatesAvailable() {
      manager.allowDeferredLocationUpdates(
        untilTraveled: CLLocationDistanceMax, timeout: CLTimeIntervalMax)
    }
    manager.startMonitoringVisits()
    if CLLocationManager.regionMonitoringAvailable(), CLLocationManager.regionMonitoringEnabled() {
      let old = CLRegion(
        circularRegionWithCenter: CLLocationCoordinate2DMake(1, 2), radius: 100, identifier: "old")
      manager.startMonitoring(for: old, desiredAccuracy: kCLLocationAccuracyHundredMeters)
      print(old.center.latitude, old.radius, old.contains(kCLLocationCoordinate2DInvalid))
    }
    manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "Route") { error in
      if let error = error { print(error.localizedDescription) }
    }
    manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "Route")
    print(manager.locationServicesEnabled, manager.headingAvailable)
  }

  open func locationManager(
    _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
  ) {
    guard let location = locations.last, location.horizontalAccuracy >= 0 else { return }
    if abs(location.timestamp.timeIntervalSinceNow) > 15 { return }
    if best == nil || best!.horizontalAccuracy > location.horizontalAccuracy { best = location }
    let nearest = places.min { $0.distance(from: location) < $1.distance(from: location) }
    print(nearest?.getDistanceFrom(location) ?? 0, location.floor?.level ?? 0)
    if location.sourceInformation?.isSimulatedBySoftware == true { return }
    let copy = CLLocation(
      coordinate: location.coordinate, altitude: location.altitude,
      horizontalAccuracy: location.horizontalAccuracy,
      verticalAccuracy: location.verticalAccuracy, course: location.course,
      speed: location.speed, timestamp: location.timestamp)
    best = copy.copy() as? CLLocation
  }

  public func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation,
    from oldLocation: CLLocation
  ) {
    best = newLocation
  }

  public func locationManager(
    _ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading
  ) {
    guard newHeading.headingAccuracy >= 0 else { return }
    let heading = newHeading.trueHeading > 0 ? newHeading.trueHeading : newHeading.magneticHeading
    onHeading?(heading)
    print((newHeading.x * newHeading.x + newHeading.y + newHeading.z).squareRoot())
  }

  public func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool {
    return true
  }

  public func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    if visit.departureDate == .distantFuture { print("arrived", visit.arrivalDate) }
    print(
      CLLocation(
        latitude: visit.coordinate.latitude, longitude: visit.coordinate.longitude))
  }
  public func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {}
  public func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {}
  public func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: Error?
  ) {
    if error != nil { manager.disallowDeferredLocationUpdates() }
  }
}
