/// What a manager tells its app.
///
/// Every method is optional: each has a default implementation that does nothing. It can be called
/// as Swift on Apple's systems calls it, `delegate?.locationManager?(manager, didVisit: visit)`, and
/// without the second question mark.
///
/// Unlike Apple's protocol it does not ask for an `NSObject`: any class and any actor can conform.
///
/// Unlike Apple's, a method must be in the class that declares the conformance, in an extension of
/// it, or above it. A subclass can override a method that is there; one that it adds is not called.
///
/// Of an event that has an old and a new method, the new one is called if the delegate has it, else
/// the old one.
public protocol CLLocationManagerDelegate: AnyObject {
  /// The authorization or its accuracy changed; also called once after a manager was made.
  ///
  /// - Parameter manager: Who tells it.
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager)

  /// The authorization changed. Deprecated by Apple: called if
  /// ``locationManagerDidChangeAuthorization(_:)`` is not there.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - status: What it is now.
  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus)

  /// A service failed for now or for good.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - error: A ``CLError``.
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error)

  // MARK: Regions

  /// Monitoring of a region began.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - region: The region.
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion)

  /// Monitoring of a region failed.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - region: The region; `nil` if it is not known which.
  ///   - error: A ``CLError``.
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  )

  /// A region was entered.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - region: A region that equals the monitored one.
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion)

  /// A region was left.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - region: A region that equals the monitored one.
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion)

  /// The state of a region was asked for, or changed.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - state: Inside, outside, or not known.
  ///   - region: The region.
  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion)

  // MARK: Ranging

  /// The beacons that satisfy a constraint, once a second; the list may be empty.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - beacons: The closest first, those of unknown proximity last.
  ///   - beaconConstraint: The constraint that is ranged.
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint)

  /// Ranging of a constraint failed.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - beaconConstraint: The constraint.
  ///   - error: A ``CLError``.
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error)

  /// The beacons of a region, once a second. Deprecated by Apple: called if
  /// ``locationManager(_:didRange:satisfying:)`` is not there.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - beacons: The closest first, those of unknown proximity last.
  ///   - region: The region that is ranged.
  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion)

  /// Ranging of a region failed. Deprecated by Apple: called if
  /// ``locationManager(_:didFailRangingFor:error:)`` is not there.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - region: The region.
  ///   - error: A ``CLError``.
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error)

  // MARK: Locations, headings, visits

  /// New locations; no service here finds any yet.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - locations: At least one, the newest last.
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation])

  /// A new location. Deprecated by Apple: called if
  /// ``locationManager(_:didUpdateLocations:)`` is not there.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - newLocation: The new location.
  ///   - oldLocation: The one before.
  func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation,
    from oldLocation: CLLocation)

  /// Location updates pause by themselves.
  ///
  /// - Parameter manager: Who tells it.
  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager)

  /// Location updates go on.
  ///
  /// - Parameter manager: Who tells it.
  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager)

  /// Updates are no longer deferred.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - error: Why; `nil` if distance or time were reached.
  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?)

  /// A new heading; no service here finds any yet.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - newHeading: The heading.
  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading)

  /// Decides whether the user is asked to calibrate the compass.
  ///
  /// - Parameter manager: Who asks.
  /// - Returns: Whether he is; by default not.
  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool

  /// A visit began or ended; no service here finds any yet.
  ///
  /// - Parameters:
  ///   - manager: Who tells it.
  ///   - visit: The visit.
  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit)
}

// Without the Objective-C runtime nobody can be asked whether he has a method. So the defaults of
// those that come in two spellings tell the manager that they were reached.
extension CLLocationManagerDelegate {
  /// Does nothing.
  public func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    manager.passOver()
  }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) {
    manager.passOver()
  }

  /// Does nothing.
  public func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didStartMonitoringFor region: CLRegion
  ) {}

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?,
    withError error: any Error
  ) {}

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
  ) {
    manager.passOver()
  }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) {
    manager.passOver()
  }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) {
    manager.passOver()
  }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error
  ) {
    manager.passOver()
  }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
  ) {
    manager.passOver()
  }

  /// Does nothing.
  public func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation,
    from oldLocation: CLLocation
  ) {
    manager.passOver()
  }

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

  /// Answers no.
  public func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool {
    false
  }

  /// Does nothing.
  public func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {}
}
