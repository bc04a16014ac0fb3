// For calls as in Objective-C, `delegate?.locationManager?(…)`, the name before the question mark
// is an optional property whose value can be called. It is disfavored: methods, and a delegate's
// own property of that name, take precedence.

extension CLLocationManagerDelegate {
  /// The methods named `locationManager`, for calls with a question mark; never `nil`.
  @_disfavoredOverload
  public var locationManager: CLOptionalDelegateMethods? {
    CLOptionalDelegateMethods(delegate: self)
  }

  /// The method of that name, for calls with a question mark; never `nil`.
  @_disfavoredOverload
  public var locationManagerDidChangeAuthorization: ((CLLocationManager) -> Void)? {
    { self.locationManagerDidChangeAuthorization($0) }
  }

  /// The method of that name, for calls with a question mark; never `nil`.
  @_disfavoredOverload
  public var locationManagerDidPauseLocationUpdates: ((CLLocationManager) -> Void)? {
    { self.locationManagerDidPauseLocationUpdates($0) }
  }

  /// The method of that name, for calls with a question mark; never `nil`.
  @_disfavoredOverload
  public var locationManagerDidResumeLocationUpdates: ((CLLocationManager) -> Void)? {
    { self.locationManagerDidResumeLocationUpdates($0) }
  }

  /// The method of that name, for calls with a question mark; never `nil`.
  @_disfavoredOverload
  public var locationManagerShouldDisplayHeadingCalibration: ((CLLocationManager) -> Bool)? {
    { self.locationManagerShouldDisplayHeadingCalibration($0) }
  }
}

/// The methods named `locationManager` of a delegate, for `delegate?.locationManager?(manager, …)`.
public struct CLOptionalDelegateMethods {
  let delegate: any CLLocationManagerDelegate

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didChangeAuthorization:)``.
  public func callAsFunction(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) { delegate.locationManager(manager, didChangeAuthorization: status) }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didFailWithError:)``.
  public func callAsFunction(_ manager: CLLocationManager, didFailWithError error: any Error) {
    delegate.locationManager(manager, didFailWithError: error)
  }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didStartMonitoringFor:)``.
  public func callAsFunction(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    delegate.locationManager(manager, didStartMonitoringFor: region)
  }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:monitoringDidFailFor:withError:)``.
  public func callAsFunction(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?,
    withError error: any Error
  ) { delegate.locationManager(manager, monitoringDidFailFor: region, withError: error) }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didEnterRegion:)``.
  public func callAsFunction(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    delegate.locationManager(manager, didEnterRegion: region)
  }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didExitRegion:)``.
  public func callAsFunction(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    delegate.locationManager(manager, didExitRegion: region)
  }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didDetermineState:for:)``.
  public func callAsFunction(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) { delegate.locationManager(manager, didDetermineState: state, for: region) }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didRange:satisfying:)``.
  public func callAsFunction(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) { delegate.locationManager(manager, didRange: beacons, satisfying: beaconConstraint) }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didFailRangingFor:error:)``.
  public func callAsFunction(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) { delegate.locationManager(manager, didFailRangingFor: beaconConstraint, error: error) }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didRangeBeacons:in:)``.
  public func callAsFunction(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) { delegate.locationManager(manager, didRangeBeacons: beacons, in: region) }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:rangingBeaconsDidFailFor:withError:)``.
  public func callAsFunction(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error
  ) { delegate.locationManager(manager, rangingBeaconsDidFailFor: region, withError: error) }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didUpdateLocations:)``.
  public func callAsFunction(
    _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
  ) { delegate.locationManager(manager, didUpdateLocations: locations) }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didUpdateTo:from:)``.
  public func callAsFunction(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation,
    from oldLocation: CLLocation
  ) { delegate.locationManager(manager, didUpdateTo: newLocation, from: oldLocation) }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didFinishDeferredUpdatesWithError:)``.
  public func callAsFunction(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) { delegate.locationManager(manager, didFinishDeferredUpdatesWithError: error) }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didUpdateHeading:)``.
  public func callAsFunction(
    _ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading
  ) { delegate.locationManager(manager, didUpdateHeading: newHeading) }

  /// Calls ``CLLocationManagerDelegate/locationManager(_:didVisit:)``.
  public func callAsFunction(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    delegate.locationManager(manager, didVisit: visit)
  }
}
