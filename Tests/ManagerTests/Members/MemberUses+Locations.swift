import CoreLocation
import Testing

extension MemberUses {
  mutating func useMonitors() {
    use("CLMonitor(_:)") { _ in
      // Not called: it would be a monitor of the process's own services.
      let make: (String) async -> CLMonitor = { name in await CLMonitor(name) }
      _ = make
    }
    let uuid = UUID()
    func monitor(_ stage: Stage) -> CLMonitor { CLMonitor("monitor", services: stage.services) }
    let condition = CLMonitor.BeaconIdentityCondition(uuid: uuid)
    use("CLMonitor.add(_:identifier:)") { stage in
      await monitor(stage).add(condition, identifier: "a")
    }
    use("CLMonitor.add(_:identifier:assuming:)") { stage in
      await monitor(stage).add(condition, identifier: "b", assuming: .unsatisfied)
    }
    use("CLMonitor.record(for:)") { stage in
      #expect(await monitor(stage).record(for: "b")?.lastEvent.state == .unsatisfied)
    }
    use("CLMonitor.identifiers") { stage in
      #expect(await monitor(stage).identifiers == ["a", "b"])
    }
    use("CLMonitor.remove(_:)") { stage in await monitor(stage).remove("a") }
    use("CLMonitor.events") { stage in _ = await monitor(stage).events }
    use("CLMonitor.BeaconIdentityCondition") { _ in
      _ = CLMonitor.BeaconIdentityCondition(uuid: uuid, major: 1, minor: 2)
    }
    use("CLMonitor.Event") { _ in _ = \CLMonitor.Event.state }
    use("CLMonitor.CircularGeographicCondition") { stage in
      let circle = CLMonitor.CircularGeographicCondition(center: stage.circle.center, radius: 100)
      await monitor(stage).add(circle, identifier: "circle")
      let event = await monitor(stage).record(for: "circle")?.lastEvent
      #expect(event?.conditionUnsupported == false)
    }
  }

  mutating func useLocations() {
    use("significantLocationChangeMonitoringAvailable()") { _ in
      _ = CLLocationManager.significantLocationChangeMonitoringAvailable()
    }
    use("maximumRegionMonitoringDistance") {
      #expect($0.manager.maximumRegionMonitoringDistance == 2_000_000)
    }
    use("CLCircularRegion") {
      _ = CLLocationManager.isMonitoringAvailable(for: CLCircularRegion.self)
      $0.manager.startMonitoring(for: $0.circle)
      $0.manager.requestState(for: $0.circle)
    }
    use("startUpdatingLocation()") {
      $0.manager.startUpdatingLocation()
    }
    use("stopUpdatingLocation()") { $0.manager.stopUpdatingLocation() }
    use("requestLocation()") { $0.manager.requestLocation() }
    use("locationManager(_:didUpdateLocations:)") {
      $0.delegate.locationManager($0.manager, didUpdateLocations: [CLLocation()])
    }
    use("CLLocationUpdate") { _ in _ = \CLLocationUpdate.locationUnavailable }
    use("CLLocationUpdate.liveUpdates(_:)") { _ in
      // Only an iteration starts anything.
      _ = CLLocationUpdate.liveUpdates(.fitness)
    }
    use("locationManager(_:didUpdateTo:from:)") {
      $0.delegate.locationManager($0.manager, didUpdateTo: CLLocation(), from: CLLocation())
    }
    use("location") { _ = $0.manager.location }
    use("CLLocation") { _ in _ = CLLocation(latitude: 1, longitude: 2) }
    use("CLLocationCoordinate2D") { _ in _ = CLLocationCoordinate2D(latitude: 1, longitude: 2) }
    use("desiredAccuracy") {
      #expect($0.manager.desiredAccuracy == kCLLocationAccuracyBest)
      $0.manager.desiredAccuracy = 10
      #expect($0.manager.desiredAccuracy == 10)
    }
    use("kCLLocationAccuracyBest") { _ in _ = kCLLocationAccuracyBest }
    use("kCLLocationAccuracyBestForNavigation") { _ in _ = kCLLocationAccuracyBestForNavigation }
    use("kCLLocationAccuracyNearestTenMeters") { _ in _ = kCLLocationAccuracyNearestTenMeters }
    use("kCLLocationAccuracyHundredMeters") { _ in _ = kCLLocationAccuracyHundredMeters }
    use("kCLLocationAccuracyKilometer") { _ in _ = kCLLocationAccuracyKilometer }
    use("kCLLocationAccuracyThreeKilometers") { _ in _ = kCLLocationAccuracyThreeKilometers }
    use("distanceFilter") {
      #expect($0.manager.distanceFilter == kCLDistanceFilterNone)
      $0.manager.distanceFilter = 10
      #expect($0.manager.distanceFilter == 10)
    }
    use("kCLDistanceFilterNone") { _ in _ = kCLDistanceFilterNone }
    use("activityType") {
      #expect($0.manager.activityType == .other)
      $0.manager.activityType = .fitness
      #expect($0.manager.activityType == .fitness)
    }
    use("CLActivityType") { _ in _ = CLActivityType.fitness }
    use("pausesLocationUpdatesAutomatically") {
      #expect($0.manager.pausesLocationUpdatesAutomatically)
      $0.manager.pausesLocationUpdatesAutomatically = false
      #expect(!$0.manager.pausesLocationUpdatesAutomatically)
    }
    use("locationManagerDidPauseLocationUpdates(_:)") {
      $0.delegate.locationManagerDidPauseLocationUpdates($0.manager)
    }
    use("locationManagerDidResumeLocationUpdates(_:)") {
      $0.delegate.locationManagerDidResumeLocationUpdates($0.manager)
    }
    use("allowsBackgroundLocationUpdates") {
      #expect(!$0.manager.allowsBackgroundLocationUpdates)
      $0.manager.allowsBackgroundLocationUpdates = true
      #expect($0.manager.allowsBackgroundLocationUpdates)
    }
    use("startMonitoringSignificantLocationChanges()") {
      $0.manager.startMonitoringSignificantLocationChanges()
    }
    use("stopMonitoringSignificantLocationChanges()") {
      $0.manager.stopMonitoringSignificantLocationChanges()
    }
    use("locationManager(_:didFinishDeferredUpdatesWithError:)") {
      $0.delegate.locationManager(
        $0.manager, didFinishDeferredUpdatesWithError: CLError(.deferredCanceled))
    }
    use("CLError.deferredCanceled") { _ in _ = CLError.deferredCanceled }
    use("startMonitoringVisits()") {
      $0.manager.startMonitoringVisits()
    }
    use("stopMonitoringVisits()") { $0.manager.stopMonitoringVisits() }
    use("locationManager(_:didVisit:)") {
      $0.delegate.locationManager($0.manager, didVisit: CLVisit())
    }
    use("CLVisit") { _ in _ = CLVisit() }
  }

  mutating func useHeadings() {
    use("headingAvailable()") { _ in _ = CLLocationManager.headingAvailable() }
    use("startUpdatingHeading()") {
      $0.manager.startUpdatingHeading()
    }
    use("stopUpdatingHeading()") { $0.manager.stopUpdatingHeading() }
    use("locationManager(_:didUpdateHeading:)") {
      $0.delegate.locationManager($0.manager, didUpdateHeading: CLHeading())
    }
    use("heading") { _ = $0.manager.heading }
    use("CLHeading") { _ in _ = CLHeading() }
    use("headingFilter") {
      #expect($0.manager.headingFilter == 1)
      $0.manager.headingFilter = kCLHeadingFilterNone
      #expect($0.manager.headingFilter == -1)
    }
    use("kCLHeadingFilterNone") { _ in _ = kCLHeadingFilterNone }
    use("headingOrientation") {
      #expect($0.manager.headingOrientation == .portrait)
      $0.manager.headingOrientation = .landscapeLeft
      $0.manager.headingOrientation = .faceUp
      #expect($0.manager.headingOrientation == .landscapeLeft)
    }
    use("CLDeviceOrientation") { _ in _ = CLDeviceOrientation.portrait }
    use("locationManagerShouldDisplayHeadingCalibration(_:)") {
      _ = $0.delegate.locationManagerShouldDisplayHeadingCalibration($0.manager)
    }
    never("dismissHeadingCalibrationDisplay()") { $0.manager.dismissHeadingCalibrationDisplay() }
  }
}
