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
    later("CLMonitor.CircularGeographicCondition") { stage in
      let circle = CLMonitor.CircularGeographicCondition(center: stage.circle.center, radius: 100)
      await monitor(stage).add(circle, identifier: "circle")
      let event = await monitor(stage).record(for: "circle")?.lastEvent
      #expect(event?.state == .unmonitored && event?.conditionUnsupported == true)
    }
  }

  mutating func useLocations() {
    later("significantLocationChangeMonitoringAvailable()") { _ in
      #expect(!CLLocationManager.significantLocationChangeMonitoringAvailable())
    }
    later("maximumRegionMonitoringDistance") {
      #expect($0.manager.maximumRegionMonitoringDistance == -1)
    }
    later("CLCircularRegion", tells: "monitoringDidFailFor 5", "didDetermineState") {
      #expect(!CLLocationManager.isMonitoringAvailable(for: CLCircularRegion.self))
      $0.manager.startMonitoring(for: $0.circle)
      $0.manager.requestState(for: $0.circle)
    }
    later("startUpdatingLocation()", tells: "didFailWithError 0") {
      $0.manager.startUpdatingLocation()
    }
    later("stopUpdatingLocation()") { $0.manager.stopUpdatingLocation() }
    later("requestLocation()", tells: "didFailWithError 0") { $0.manager.requestLocation() }
    later("locationManager(_:didUpdateLocations:)", tells: "didUpdateLocations") {
      $0.delegate.locationManager($0.manager, didUpdateLocations: [CLLocation()])
    }
    later("CLLocationUpdate") { _ in _ = \CLLocationUpdate.locationUnavailable }
    later("CLLocationUpdate.liveUpdates(_:)") { _ in
      // Only an iteration starts anything.
      _ = CLLocationUpdate.liveUpdates(.fitness)
    }
    later("locationManager(_:didUpdateTo:from:)", tells: "didUpdateTo") {
      $0.delegate.locationManager($0.manager, didUpdateTo: CLLocation(), from: CLLocation())
    }
    later("location") { #expect($0.manager.location == nil) }
    use("CLLocation") { _ in _ = CLLocation(latitude: 1, longitude: 2) }
    use("CLLocationCoordinate2D") { _ in _ = CLLocationCoordinate2D(latitude: 1, longitude: 2) }
    later("desiredAccuracy") {
      #expect($0.manager.desiredAccuracy == kCLLocationAccuracyBest)
      $0.manager.desiredAccuracy = 10
      #expect($0.manager.desiredAccuracy == 10)
    }
    later("kCLLocationAccuracyBest") { _ in _ = kCLLocationAccuracyBest }
    later("kCLLocationAccuracyBestForNavigation") { _ in _ = kCLLocationAccuracyBestForNavigation }
    later("kCLLocationAccuracyNearestTenMeters") { _ in _ = kCLLocationAccuracyNearestTenMeters }
    later("kCLLocationAccuracyHundredMeters") { _ in _ = kCLLocationAccuracyHundredMeters }
    later("kCLLocationAccuracyKilometer") { _ in _ = kCLLocationAccuracyKilometer }
    later("kCLLocationAccuracyThreeKilometers") { _ in _ = kCLLocationAccuracyThreeKilometers }
    later("distanceFilter") {
      #expect($0.manager.distanceFilter == kCLDistanceFilterNone)
      $0.manager.distanceFilter = 10
      #expect($0.manager.distanceFilter == 10)
    }
    later("kCLDistanceFilterNone") { _ in _ = kCLDistanceFilterNone }
    later("activityType") {
      #expect($0.manager.activityType == .other)
      $0.manager.activityType = .fitness
      #expect($0.manager.activityType == .fitness)
    }
    later("CLActivityType") { _ in _ = CLActivityType.fitness }
    later("pausesLocationUpdatesAutomatically") {
      #expect($0.manager.pausesLocationUpdatesAutomatically)
      $0.manager.pausesLocationUpdatesAutomatically = false
      #expect(!$0.manager.pausesLocationUpdatesAutomatically)
    }
    later("locationManagerDidPauseLocationUpdates(_:)", tells: "didPause") {
      $0.delegate.locationManagerDidPauseLocationUpdates($0.manager)
    }
    later("locationManagerDidResumeLocationUpdates(_:)", tells: "didResume") {
      $0.delegate.locationManagerDidResumeLocationUpdates($0.manager)
    }
    later("allowsBackgroundLocationUpdates") {
      #expect(!$0.manager.allowsBackgroundLocationUpdates)
      $0.manager.allowsBackgroundLocationUpdates = true
      #expect($0.manager.allowsBackgroundLocationUpdates)
    }
    later("startMonitoringSignificantLocationChanges()", tells: "didFailWithError 0") {
      $0.manager.startMonitoringSignificantLocationChanges()
    }
    later("stopMonitoringSignificantLocationChanges()") {
      $0.manager.stopMonitoringSignificantLocationChanges()
    }
    later("locationManager(_:didFinishDeferredUpdatesWithError:)", tells: "didFinishDeferred 15") {
      $0.delegate.locationManager(
        $0.manager, didFinishDeferredUpdatesWithError: CLError(.deferredCanceled))
    }
    later("CLError.deferredCanceled") { _ in _ = CLError.deferredCanceled }
    later("startMonitoringVisits()", tells: "didFailWithError 0") {
      $0.manager.startMonitoringVisits()
    }
    later("stopMonitoringVisits()") { $0.manager.stopMonitoringVisits() }
    later("locationManager(_:didVisit:)", tells: "didVisit") {
      $0.delegate.locationManager($0.manager, didVisit: CLVisit())
    }
    use("CLVisit") { _ in _ = CLVisit() }
  }

  mutating func useHeadings() {
    later("headingAvailable()") { _ in #expect(!CLLocationManager.headingAvailable()) }
    later("startUpdatingHeading()", tells: "didFailWithError 3") {
      $0.manager.startUpdatingHeading()
    }
    later("stopUpdatingHeading()") { $0.manager.stopUpdatingHeading() }
    later("locationManager(_:didUpdateHeading:)", tells: "didUpdateHeading") {
      $0.delegate.locationManager($0.manager, didUpdateHeading: CLHeading())
    }
    later("heading") { #expect($0.manager.heading == nil) }
    use("CLHeading") { _ in _ = CLHeading() }
    later("headingFilter") {
      #expect($0.manager.headingFilter == 1)
      $0.manager.headingFilter = kCLHeadingFilterNone
      #expect($0.manager.headingFilter == -1)
    }
    later("kCLHeadingFilterNone") { _ in _ = kCLHeadingFilterNone }
    later("headingOrientation") {
      #expect($0.manager.headingOrientation == .portrait)
      $0.manager.headingOrientation = .landscapeLeft
      $0.manager.headingOrientation = .faceUp
      #expect($0.manager.headingOrientation == .landscapeLeft)
    }
    later("CLDeviceOrientation") { _ in _ = CLDeviceOrientation.portrait }
    never("locationManagerShouldDisplayHeadingCalibration(_:)", tells: "shouldDisplay") {
      _ = $0.delegate.locationManagerShouldDisplayHeadingCalibration($0.manager)
    }
    never("dismissHeadingCalibrationDisplay()") { $0.manager.dismissHeadingCalibrationDisplay() }
  }
}
