/// The methods that receive the events of a manager.
///
/// Every method is optional: each has a default implementation that does nothing. Every error is a ``CLError``. A
/// method can be called as on Apple's systems, `delegate?.locationManager?(manager, didVisit: visit)`, and without
/// the second question mark.
///
/// Unlike Apple's protocol it does not require an `NSObject`: any class and any actor can conform.
///
/// Unlike with Apple's protocol, a method must be in the class that declares the conformance, in an extension of
/// it, or in a superclass. A subclass can override such a method. A method that the subclass adds is not called; a
/// debug build reports it when the delegate is set.
///
/// For an event that has two methods, the newer one is called if the delegate implements it, and the former one
/// otherwise.
public protocol CLLocationManagerDelegate: AnyObject {
  /// Reports a change of the authorization or its accuracy. It is also called once after a manager was created.
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)

  /// Reports a change of the authorization. Deprecated by Apple: it is called where the delegate
  /// does not have ``locationManagerDidChangeAuthorization(_:)``.
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

  /// Reports that a region, which equals the monitored one, was entered.
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion)

  /// Reports that a region, which equals the monitored one, was left.
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion)

  /// Reports the state of a region, when it was requested or has changed.
  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion)

  // MARK: Ranging

  /// Reports the beacons that satisfy a constraint, once a second: the closest first, those of unknown proximity
  /// last. The list may be empty.
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint)

  /// Reports that ranging of a constraint failed.
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error)

  /// Reports the beacons of a region, once a second, in the same order. Deprecated by Apple: it is called where the delegate
  /// does not have ``locationManager(_:didRange:satisfying:)``.
  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion)

  /// Reports that ranging of a region failed. Deprecated by Apple: it is called where the delegate
  /// does not have ``locationManager(_:didFailRangingFor:error:)``.
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error)

  // MARK: Locations, headings, visits

  /// Reports new locations, at least one, the newest last.
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])

  /// Reports a new location. Deprecated by Apple: it is called if ``locationManager(_:didUpdateLocations:)`` is not
  /// implemented.
  func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation,
    from oldLocation: CLLocation)

  /// Reports that location updates have paused automatically.
  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager)

  /// Reports that location updates have resumed.
  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager)

  /// Reports that updates are no longer deferred, with the reason; `nil` if the distance or the time was reached.
  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?)

  /// Reports a new heading.
  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading)

  /// Returns whether the display for calibrating the compass may be shown; `false` by default. It is called once for each
  /// start of heading updates, when the compass is first found to be inaccurate. With `true`, a sentence that describes
  /// what to do is logged; nothing is shown.
  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool

  /// Reports that a visit began or ended.
  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit)
}

// Without the Objective-C runtime an object cannot be asked whether it has a method. The default implementations of
// methods with two spellings therefore record that they were called.
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
