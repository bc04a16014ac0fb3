import Foundation
import Logging
import Positioning
import Scanning
import ServiceCore
import Synchronization

// Locations, circles, visits and headings: the manager's requests, and the calls of its delegate.
extension CLLocationManager {
  // MARK: Requests

  private var updateSettings: UpdateSettings {
    var settings = UpdateSettings()
    settings.accuracy = AccuracyClass(desiredAccuracy: desiredAccuracy)
    settings.distanceFilter = distanceFilter > 0 ? distanceFilter : nil
    settings.activity = ActivityType(rawValue: activityType.rawValue) ?? .other
    settings.pausesAutomatically = pausesLocationUpdatesAutomatically
    return settings
  }

  func startUpdates() {
    // A request for one fix ends without an answer.
    awaitsFix.store(false, ordering: .relaxed)
    start(services.locations, isWanted: { $0.use.updates != nil }) {
      () throws(LocationServiceError) in
      try locations.startUpdates(updateSettings)
    }
  }

  func changeUpdates() { locations.changeUpdates(updateSettings) }

  func requestFix() {
    awaitsFix.store(true, ordering: .relaxed)
    start(services.locations, isWanted: \.use.isRequesting) { () throws(LocationServiceError) in
      try locations.requestFix(updateSettings.accuracy)
    } report: { manager, failure in
      manager.cancelRequest()
      manager.deliverFailure(failure)
    }
  }

  func cancelRequest() {
    awaitsFix.store(false, ordering: .relaxed)
    locations.cancelRequest()
  }

  func startHeadings() {
    hasAskedForCalibration.store(false, ordering: .relaxed)
    // The fault is one of locations; a compass is another receiver.
    start(
      services.locations, failure: .headingFailure, isWanted: { _ in false }, updateHeadings)
  }

  func changeHeadings() {
    if locations.use.headings { try? updateHeadings() }
  }

  private func updateHeadings() throws(LocationServiceError) {
    try locations.startHeadings(
      filter: headingFilter > 0 ? headingFilter : nil,
      orientation: HeadingOrientation(rawValue: headingOrientation.rawValue) ?? .unknown)
  }

  // MARK: Circles

  /// Starts to monitor a circle, or reports why it cannot.
  func monitorCircle(_ region: CLRegion) {
    let circle: MonitoredCircle
    do throws(CLError) {
      circle = try MonitoredCircle(region)
    } catch {
      useCurrentThread()
      return callDelegate(after: services.locations) { $0.deliverFailure(of: region, error) }
    }
    start(
      services.locations, failure: .regionMonitoringFailure, denial: .regionMonitoringDenied,
      isWanted: { $0.isMonitored(circle.region) }
    ) { () throws(LocationServiceError) in
      try locations.register(circle)
      stopMonitoring(beacons: region.identifier)
    } report: { manager, failure in
      manager.deliverFailure(of: region, failure)
    }
  }

  /// Determines a circle's state, even if it is not monitored, and delivers it.
  func findState(ofCircle region: CLRegion) {
    guard let circle = try? MonitoredCircle(region) else {
      return callDelegate(after: services.locations) { $0.deliver(.unknown, for: region) }
    }
    locations.requestState(of: circle.region)
  }

  /// Stops monitoring the beacon region with the identifier, if there is one.
  func stopMonitoring(beacons identifier: String) {
    guard beacons.region(identifier) != nil else { return }
    beacons.unregister(identifier)
  }

  /// Stops monitoring the circle with the identifier, if there is one.
  func stopMonitoring(circle identifier: String) {
    guard locations.circle(identifier) != nil else { return }
    locations.unregister(identifier)
  }

  private func isMonitored(_ circle: CircularRegion) -> Bool {
    locations.circle(circle.identifier)?.region == circle
  }

  // MARK: Delivery

  var use: LocationUse { locations.use }

  /// Calls the delegate for an event, unless its service was stopped in the meantime.
  func deliver(_ event: LocationEvent, _ delivery: ServiceDelivery) {
    /// Returns whether a request awaits its only answer, and records that it got one.
    func isAwaited() -> Bool { awaitsFix.exchange(false, ordering: .relaxed) }
    switch event {
    case .health: break
    case .fixes(let fixes):
      if use.updates != nil { deliver(fixes.filter { $0 != significantFix.withLock(\.self) }) }
    case .requestedFix(let fix): if isAwaited() { deliver([fix]) }
    case .requestTimedOut:
      guard isAwaited() else { return }
      deliverFailure(CLError(.locationUnknown, "no location was found in the time of a request"))
    case .paused:
      if use.updates != nil { delegate?.locationManagerDidPauseLocationUpdates(self) }
    case .resumed:
      if use.updates != nil { delegate?.locationManagerDidResumeLocationUpdates(self) }
    case .requestFailed(let health):
      if isAwaited() { deliverFailure(CLError(.denied, health.sentence)) }
    case .deferralFinished(let error, let held):
      deliver(held)
      delegate?.locationManager(
        self, didFinishDeferredUpdatesWithError: error.map { CLError(CLError.Code($0))._nsError })
    case .significantChange(let fix):
      // Updates deliver this fix too, earlier or later. It is not news after a newer one.
      let use = self.use
      let latest = latestLocation.withLock { $0?.timestamp }
      guard use.significantChanges,
        use.updates == nil || latest.map({ $0 < Date(fix.timestamp) }) ?? true
      else { return }
      if use.updates != nil { significantFix.withLock { $0 = fix } }
      deliver([fix])
    case .visit(let visit):
      if use.visits { delegate?.locationManager(self, didVisit: CLVisit(visit)) }
    case .circle(let event):
      guard isMonitored(event.circle.region) else { return }
      let change = event.transition.change
      deliver(
        change.isCrossing ? change == .enter : nil, CLRegionState(change.state),
        for: CLCircularRegion(event.circle), delivery)
    case .circleState(let circle, let state):
      deliver(CLRegionState(state), for: CLCircularRegion(MonitoredCircle(circle)))
    case .registered(let circle):
      delegate?.locationManager(self, didStartMonitoringFor: CLCircularRegion(circle))
    case .heading(let heading): if use.headings { deliver(heading) }
    case .refused: failAll(isRefusal: true, nil)
    case .ended(let sentence, let isFailure):
      if isFailure { failAll(isRefusal: false, sentence) }
    }
  }

  private func deliver(_ fixes: [Fix]) {
    let isSimulated = services.locations.isRecorded
    let locations = fixes.map { CLLocation($0, isSimulated: isSimulated) }
    guard let newest = locations.last else { return }
    let previous = latestLocation.withLock { latest in
      defer { latest = newest }
      return latest
    }
    callFirst([
      { $0.locationManager(self, didUpdateLocations: locations) },
      { delegate in
        var old = previous
        for location in locations {
          // The first location has none before it, and the argument is not optional.
          delegate.locationManager(self, didUpdateTo: location, from: old ?? location)
          old = location
        }
      },
    ])
  }

  private func deliver(_ heading: Heading) {
    if heading.needsCalibration, !hasAskedForCalibration.exchange(true, ordering: .relaxed),
      delegate?.locationManagerShouldDisplayHeadingCalibration(self) == true
    {
      services.configuration.logger.notice(
        "the compass is inaccurate: take it away from metal and turn it around each of its axes")
    }
    delegate?.locationManager(self, didUpdateHeading: CLHeading(heading))
  }

  // MARK: Failures

  /// Reports the reason that no location or heading is found.
  func deliverFault(_ health: LocationHealth) {
    switch health.subject {
    case .locations: failAll(isRefusal: health.isRefusal, health.sentence)
    case .headings:
      if use.headings { deliverFailure(CLError(.headingFailure, health.sentence)) }
    }
  }

  /// Reports one failure of all uses of fixes, and the failure of each circle.
  private func failAll(isRefusal: Bool, _ sentence: String?) {
    func error(_ code: CLError.Code) -> CLError {
      sentence.map { CLError(code, $0) } ?? CLError(code)
    }
    let needsFixes = use.needsFixes
    let isAwaited = awaitsFix.exchange(false, ordering: .relaxed)
    locations.cancelRequest()
    if needsFixes || isAwaited { deliverFailure(error(isRefusal ? .denied : .locationUnknown)) }
    let code = isRefusal ? CLError.Code.regionMonitoringDenied : .regionMonitoringFailure
    for circle in locations.circles {
      deliverFailure(of: CLCircularRegion(circle), error(code))
    }
  }
}

extension Heading {
  /// Whether the compass or its field is inaccurate; the earth's field has 22 to 67 microteslas.
  fileprivate var needsCalibration: Bool {
    if let accuracy, accuracy > CLHeading.unknownAccuracy { return true }
    guard let field else { return false }
    return !(20...70).contains((field * field).sum().squareRoot())
  }
}

extension CLLocationCoordinate2D {
  init(_ place: Coordinate) { self.init(latitude: place.latitude, longitude: place.longitude) }
}

extension MonitoredCircle {
  /// Creates the circle of a region. Throws an error if the region is not a valid circle.
  init(_ region: CLRegion) throws(CLError) {
    let (center, radius) =
      (region as? CLCircularRegion).map { ($0.center, $0.radius) } ?? region.circle
    guard region is CLCircularRegion || radius >= 0 else {
      throw CLError(
        .regionMonitoringFailure,
        "region '\(region.identifier)' has neither beacons nor a circle; use CLBeaconRegion or CLCircularRegion"
      )
    }
    guard CLLocationCoordinate2DIsValid(center),
      let place = Coordinate(latitude: center.latitude, longitude: center.longitude)
    else {
      throw CLError(
        .regionMonitoringFailure,
        "the center of region '\(region.identifier)' must lie within 90 degrees of latitude and 180 of longitude"
      )
    }
    do throws(GeofenceError) {
      self.init(
        try CircularRegion(identifier: region.identifier, center: place, radius: radius))
    } catch {
      throw CLError(.regionMonitoringFailure, "region '\(region.identifier)': \(error)")
    }
    notifiesOnEntry = region.notifyOnEntry
    notifiesOnExit = region.notifyOnExit
  }
}

extension CLCircularRegion {
  convenience init(_ circle: MonitoredCircle) {
    self.init(
      center: CLLocationCoordinate2D(circle.region.center), radius: circle.region.radius,
      identifier: circle.region.identifier)
    notifyOnEntry = circle.notifiesOnEntry
    notifyOnExit = circle.notifiesOnExit
  }
}

extension CLError.Code {
  init(_ error: DeferredUpdatesError) {
    self =
      switch error {
      case .failed: .deferredFailed
      case .notUpdatingLocation: .deferredNotUpdatingLocation
      case .accuracyTooLow: .deferredAccuracyTooLow
      case .distanceFiltered: .deferredDistanceFiltered
      case .canceled: .deferredCanceled
      }
  }
}
