// One delegate that tells many, with the question mark of optional methods everywhere.
import CoreLocation

class Multiplexer: NSObject, CLLocationManagerDelegate {
  private var children = [Weak]()
  private struct Weak { weak var value: CLLocationManagerDelegate? }

  func add(_ child: CLLocationManagerDelegate) { children.append(Weak(value: child)) }
  private func each(_ body: (CLLocationManagerDelegate) -> Void) {
    children.compactMap { $0.value }.forEach(body)
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    each { $0.locationManagerDidChangeAuthorization?(manager) }
  }
  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) {
    each { $0.locationManager?(manager, didChangeAuthorization: status) }
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    each { $0.locationManager?(manager, didFailWithError: error) }
  }
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    each { $0.locationManager?(manager, didUpdateLocations: locations) }
  }
  func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation,
    from oldLocation: CLLocation
  ) {
    each { $0.locationManager?(manager, didUpdateTo: newLocation, from: oldLocation) }
  }
  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    each { $0.locationManager?(manager, didUpdateHeading: newHeading) }
  }
  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool {
    return children.contains {
      $0.value?.locationManagerShouldDisplayHeadingCalibration?(manager) ?? false
    }
  }
  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    each { $0.locationManager?(manager, didDetermineState: state, for: region) }
  }
  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) {
    each { $0.locationManager?(manager, didRangeBeacons: beacons, in: region) }
  }
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: Error
  ) {
    each { $0.locationManager?(manager, rangingBeaconsDidFailFor: region, withError: error) }
  }
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    each { $0.locationManager?(manager, didRange: beacons, satisfying: beaconConstraint) }
  }
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: Error
  ) {
    each { $0.locationManager?(manager, didFailRangingFor: beaconConstraint, error: error) }
  }
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    each { $0.locationManager?(manager, didEnterRegion: region) }
  }
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    each { $0.locationManager?(manager, didExitRegion: region) }
  }
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: Error
  ) {
    each { $0.locationManager?(manager, monitoringDidFailFor: region, withError: error) }
  }
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    each { $0.locationManager?(manager, didStartMonitoringFor: region) }
  }
  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {
    each { $0.locationManagerDidPauseLocationUpdates?(manager) }
  }
  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {
    each { $0.locationManagerDidResumeLocationUpdates?(manager) }
  }
  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: Error?
  ) {
    each { $0.locationManager?(manager, didFinishDeferredUpdatesWithError: error) }
  }
  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    each { $0.locationManager?(manager, didVisit: visit) }
  }
}

/// The same calls as newer sources write them, without the question mark.
func callPlainly(_ delegate: CLLocationManagerDelegate?, _ manager: CLLocationManager) {
  delegate?.locationManager(manager, didUpdateLocations: [])
  delegate?.locationManager(manager, didVisit: CLVisit())
  delegate?.locationManagerDidChangeAuthorization(manager)
  delegate?.locationManagerDidPauseLocationUpdates(manager)
  _ = delegate?.locationManagerShouldDisplayHeadingCalibration(manager)
  if delegate?.locationManagerDidChangeAuthorization != nil { print("has it") }
  guard let delegate = delegate else { return }
  delegate.locationManager(manager, didFailWithError: CLError(.network))
  delegate.locationManager!(manager, didFailWithError: CLError(.network))
  delegate.locationManagerDidResumeLocationUpdates!(manager)
  _ = delegate.locationManager?(manager, didExitRegion: CLRegion())
}
