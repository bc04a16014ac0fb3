import CoreLocation

extension MemberUses {
  mutating func useManager() {
    use("init()") { _ in
      // Not called: it would be a manager of the process's own services.
      let make: () -> CLLocationManager = { CLLocationManager() }
      _ = make
    }
    use("delegate") { $0.manager.delegate = $0.manager.delegate }
    use("authorizationStatus") { _ = $0.manager.authorizationStatus }
    use("CLAuthorizationStatus.notDetermined") { _ in _ = CLAuthorizationStatus.notDetermined }
    use("CLAuthorizationStatus.restricted") { _ in _ = CLAuthorizationStatus.restricted }
    use("CLAuthorizationStatus.denied") { _ in _ = CLAuthorizationStatus.denied }
    use("CLAuthorizationStatus.authorizedAlways") { _ in
      _ = CLAuthorizationStatus.authorizedAlways
    }
    use("CLAuthorizationStatus.authorizedWhenInUse") { _ in
      _ = CLAuthorizationStatus.authorizedWhenInUse
    }
    use("requestWhenInUseAuthorization()") { $0.manager.requestWhenInUseAuthorization() }
    use("requestAlwaysAuthorization()") { $0.manager.requestAlwaysAuthorization() }
    use("locationManagerDidChangeAuthorization(_:)") {
      $0.delegate.locationManagerDidChangeAuthorization($0.manager)
    }
    use("locationManager(_:didChangeAuthorization:)") {
      $0.delegate.locationManager($0.manager, didChangeAuthorization: .denied)
    }
    use("accuracyAuthorization") { _ = $0.manager.accuracyAuthorization }
    use("requestTemporaryFullAccuracyAuthorization(withPurposeKey:)") { stage in
      let request: (String) -> Void = stage.manager
        .requestTemporaryFullAccuracyAuthorization(withPurposeKey:)
      request("navigation")
    }
    use("requestTemporaryFullAccuracyAuthorization(withPurposeKey:completion:)") {
      $0.manager.requestTemporaryFullAccuracyAuthorization(
        withPurposeKey: "navigation", completion: nil)
    }
    use("CLServiceSession(authorization:)") { _ in
      // Not called, like the other sessions: it would be a session of the process's own services.
      let make = { CLServiceSession(authorization: .whenInUse) }
      _ = make
    }
    use("CLServiceSession(authorization:fullAccuracyPurposeKey:)") { _ in
      let make = { CLServiceSession(authorization: .always, fullAccuracyPurposeKey: "navigation") }
      _ = make
    }
    use("CLServiceSession.diagnostics") { _ in _ = \CLServiceSession.diagnostics }
    use("CLServiceSession.invalidate()") { _ in
      let end = { (session: CLServiceSession) in session.invalidate() }
      _ = end
    }
    use("CLBackgroundActivitySession") { _ in
      let make = { CLBackgroundActivitySession() }
      _ = make
    }
    use("CLBackgroundActivitySession.diagnostics") { _ in
      _ = \CLBackgroundActivitySession.diagnostics
    }
    use("CLBackgroundActivitySession.invalidate()") { _ in
      let end = { (session: CLBackgroundActivitySession) in session.invalidate() }
      _ = end
    }
    use("CLAccuracyAuthorization") { _ in _ = CLAccuracyAuthorization.fullAccuracy }
    use("locationServicesEnabled()") { _ in _ = CLLocationManager.locationServicesEnabled() }
    use("isMonitoringAvailable(for:)") { _ in
      _ = CLLocationManager.isMonitoringAvailable(for: CLBeaconRegion.self)
    }
    use("isRangingAvailable()") { _ in _ = CLLocationManager.isRangingAvailable() }
    use("locationManager(_:didFailWithError:)") {
      $0.delegate.locationManager($0.manager, didFailWithError: CLError(.network))
    }
  }

  mutating func useRegions() {
    use("startMonitoring(for:)") { $0.manager.startMonitoring(for: $0.region) }
    use("requestState(for:)") { $0.manager.requestState(for: $0.region) }
    use("monitoredRegions") { _ = $0.manager.monitoredRegions.contains($0.region) }
    use("stopMonitoring(for:)") { $0.manager.stopMonitoring(for: $0.region) }
    use("locationManager(_:didStartMonitoringFor:)") {
      $0.delegate.locationManager($0.manager, didStartMonitoringFor: $0.region)
    }
    use("locationManager(_:didEnterRegion:)") {
      $0.delegate.locationManager($0.manager, didEnterRegion: $0.region)
    }
    use("locationManager(_:didExitRegion:)") {
      $0.delegate.locationManager($0.manager, didExitRegion: $0.region)
    }
    use("locationManager(_:didDetermineState:for:)") {
      $0.delegate.locationManager($0.manager, didDetermineState: .inside, for: $0.region)
    }
    use("locationManager(_:monitoringDidFailFor:withError:)") {
      $0.delegate.locationManager(
        $0.manager, monitoringDidFailFor: $0.region, withError: CLError(.regionMonitoringFailure))
    }
    use("CLRegion") { _ = $0.region as CLRegion }
    use("CLRegion.identifier") { _ = $0.region.identifier }
    use("CLRegion.notifyOnEntry") { $0.region.notifyOnEntry = true }
    use("CLRegion.notifyOnExit") { $0.region.notifyOnExit = true }
    use("CLRegionState") { _ in _ = CLRegionState.inside }
    use("CLBeaconRegion") { _ in _ = CLBeaconRegion() }
    use("CLBeaconRegion(uuid:identifier:)") { _ in
      _ = CLBeaconRegion(uuid: UUID(), identifier: "r")
    }
    use("CLBeaconRegion(uuid:major:identifier:)") { _ in
      _ = CLBeaconRegion(uuid: UUID(), major: 1, identifier: "r")
    }
    use("CLBeaconRegion(uuid:major:minor:identifier:)") { _ in
      _ = CLBeaconRegion(uuid: UUID(), major: 1, minor: 2, identifier: "r")
    }
    use("CLBeaconRegion(beaconIdentityConstraint:identifier:)") {
      _ = CLBeaconRegion(beaconIdentityConstraint: $0.constraint, identifier: "r")
    }
    use("CLBeaconRegion.uuid") { _ = $0.region.uuid }
    use("CLBeaconRegion.major") { _ = $0.region.major?.intValue }
    use("CLBeaconRegion.minor") { _ = $0.region.minor?.intValue }
    use("CLBeaconRegion.beaconIdentityConstraint") { _ = $0.region.beaconIdentityConstraint }
    never("CLBeaconRegion.notifyEntryStateOnDisplay") {
      $0.region.notifyEntryStateOnDisplay = true
    }
    use("CLBeaconRegion.peripheralData(withMeasuredPower:)") {
      _ = $0.region.peripheralData(withMeasuredPower: -59)
    }
    use("CLError.regionMonitoringFailure") { _ in _ = CLError.regionMonitoringFailure }
    use("CLError.regionMonitoringDenied") { _ in _ = CLError.regionMonitoringDenied }
  }

  mutating func useRanging() {
    use("startRangingBeacons(satisfying:)") {
      $0.manager.startRangingBeacons(satisfying: $0.constraint)
    }
    use("rangedBeaconConstraints") { _ = $0.manager.rangedBeaconConstraints }
    use("stopRangingBeacons(satisfying:)") {
      $0.manager.stopRangingBeacons(satisfying: $0.constraint)
    }
    use("locationManager(_:didRange:satisfying:)") {
      $0.delegate.locationManager($0.manager, didRange: [CLBeacon()], satisfying: $0.constraint)
    }
    use("locationManager(_:didRangeBeacons:in:)") {
      $0.delegate.locationManager($0.manager, didRangeBeacons: [CLBeacon()], in: $0.region)
    }
    use("locationManager(_:didFailRangingFor:error:)") {
      $0.delegate.locationManager(
        $0.manager, didFailRangingFor: $0.constraint, error: CLError(.rangingFailure))
    }
    use("locationManager(_:rangingBeaconsDidFailFor:withError:)") {
      $0.delegate.locationManager(
        $0.manager, rangingBeaconsDidFailFor: $0.region, withError: CLError(.rangingFailure))
    }
    use("CLBeaconIdentityConstraint") { _ in
      _ = CLBeaconIdentityConstraint(uuid: UUID(), major: 1, minor: 2)
    }
    use("CLBeacon") { _ in _ = CLBeacon() }
    use("CLBeacon.uuid") { _ in _ = CLBeacon().uuid }
    use("CLBeacon.major") { _ in _ = CLBeacon().major.intValue }
    use("CLBeacon.minor") { _ in _ = CLBeacon().minor.intValue }
    use("CLBeacon.proximity") { _ in _ = CLBeacon().proximity }
    use("CLBeacon.accuracy") { _ in _ = CLBeacon().accuracy }
    use("CLBeacon.estimatedDistance") { _ in _ = CLBeacon().estimatedDistance }
    use("CLBeacon.estimatedDistanceRange") { _ in _ = CLBeacon().estimatedDistanceRange }
    use("CLBeacon.rssi") { _ in _ = CLBeacon().rssi }
    use("CLBeacon.timestamp") { _ in _ = CLBeacon().timestamp }
    use("CLProximity") { _ in _ = CLProximity.near }
    use("CLError.rangingUnavailable") { _ in _ = CLError.rangingUnavailable }
    use("CLError.rangingFailure") { _ in _ = CLError.rangingFailure }
  }
}
