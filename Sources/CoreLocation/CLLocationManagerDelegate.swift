/// The methods that receive the events of a manager.
///
/// Every method is optional: each has a default implementation that does nothing. Every error is a
/// ``CLError``. A call may use the second question mark that Apple's systems need. Of two methods
/// for one event, the older one is called only if the delegate does not implement the newer one.
///
/// Any class and any actor can conform, without `NSObject`. A method must be in the class that
/// declares the conformance, in an extension of it, or in a superclass; a method that only a
/// subclass adds is not called.
public protocol CLLocationManagerDelegate: AnyObject {
  /// Reports the authorization of a new manager, and every change of it or of its accuracy.
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)

  /// Reports a change of the authorization, to delegates without the newer
  /// ``locationManagerDidChangeAuthorization(_:)``.
  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus)

  /// Reports that a service failed, for now or permanently.
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)

  // MARK: Regions

  /// Reports that monitoring of a region started.
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion)

  /// Reports that monitoring of a region failed; the region is `nil` if it is not known.
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  )

  /// Reports that a region equal to the monitored one was entered.
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion)

  /// Reports that a region equal to the monitored one was left.
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion)

  /// Reports the state of a region, when it was requested or has changed.
  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion)

  // MARK: Ranging

  /// Reports the beacons that satisfy a constraint, once a second: the closest first, those of
  /// unknown proximity last.
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint)

  /// Reports that ranging of a constraint failed.
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error)

  /// Reports the beacons of a region in the same way, to delegates without the newer
  /// ``locationManager(_:didRange:satisfying:)``.
  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion)

  /// Reports that ranging of a region failed, to delegates without the newer
  /// ``locationManager(_:didFailRangingFor:error:)``.
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error)

  // MARK: Locations, headings, visits

  /// Reports new locations, at least one, the newest last.
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])

  /// Reports a new location, to delegates without the newer
  /// ``locationManager(_:didUpdateLocations:)``.
  func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation,
    from oldLocation: CLLocation)

  /// Reports that location updates have paused automatically.
  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager)

  /// Reports that location updates have resumed.
  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager)

  /// Reports that updates are no longer deferred; the error is `nil` if the limit was reached.
  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?)

  /// Reports a new heading.
  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading)

  /// Returns whether instructions for calibrating the compass may be logged; `false` by default. It
  /// is called once for each start of heading updates, when the compass first proves inaccurate.
  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool

  /// Reports that a visit began or ended.
  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit)
}

// An object cannot be asked whether it has a method, so some defaults record their calls.
extension CLLocationManagerDelegate {
  /// Does nothing.
  public func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    manager.passOver()
  }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) { manager.passOver() }

  /// Does nothing.
  public func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    manager.passOver()
  }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didStartMonitoringFor region: CLRegion
  ) {}

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?,
    withError error: any Error
  ) { manager.passOver() }

  /// Does nothing.
  public func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {}

  /// Does nothing.
  public func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {}

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {}

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) { manager.passOver() }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) { manager.passOver() }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) { manager.passOver() }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error
  ) { manager.passOver() }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
  ) { manager.passOver() }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation,
    from oldLocation: CLLocation
  ) { manager.passOver() }

  /// Does nothing.
  public func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {}

  /// Does nothing.
  public func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {}

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) {}

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading
  ) {}

  /// Returns `false`.
  public func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool {
    false
  }

  /// Does nothing.
  public func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {}
}
