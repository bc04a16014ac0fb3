package import Positioning

/// A client of a ``LocationService``: its updates, requests and headings, and what its group monitors.
package struct LocationClient: Sendable {
  /// The service.
  package let service: LocationService
  /// The client, of which other services may have views as well.
  package let client: ServiceClient

  private typealias Output = ServiceOutput<LocationMachine>

  private var host: ServiceHost<LocationMachine> { service.host }
  private var identifier: ClientIdentifier { client.identifier }

  /// Creates the view that a service has of a client.
  ///
  /// - Precondition: The client and the service belong to one manager.
  package init(_ client: ServiceClient, of service: LocationService) {
    precondition(client.manager === service.manager, "the client belongs to another manager")
    (self.client, self.service) = (client, service)
  }

  /// The events of the client, in order. The sequence ends with the source, or throws what ended it.
  package var events: ClientEvents<LocationEvent> {
    client.events { [host] event in
      guard case .ended = event else { return false }
      if let failure = host.failure { throw failure }
      return true
    }
  }

  private func update(_ body: (inout LocationMachine, inout Output) -> Void) {
    _ = host.update(for: client, body)
  }

  // MARK: Locations

  /// Starts location updates, or changes their settings.
  package func startUpdates(
    _ settings: UpdateSettings = UpdateSettings()
  ) throws(LocationServiceError) {
    try service.check()
    update { $0.startUpdates(settings, for: identifier, into: &$1) }
    try service.checkPermission()
  }

  /// Stops location updates.
  package func stopUpdates() { modify { $0.stop() } }

  /// Changes the settings of the updates, if there are any.
  package func changeUpdates(_ settings: UpdateSettings) { modify { $0.change(settings) } }

  private func modify(_ change: (inout ClientUpdates) -> [LocationEvent]) {
    update { $0.modify(identifier, into: &$1, change) }
  }

  /// What the client and its group use now.
  package var use: LocationUse {
    host.read { [identifier, client] in $0.use(of: identifier, in: client.group) }
  }

  /// Requests one fix: the answer is ``LocationEvent/requestedFix(_:)``,
  /// ``LocationEvent/requestTimedOut``, ``LocationEvent/requestFailed(_:)``, or the same fix of the
  /// client's updates. It ends without an answer where the client starts updates or a deferral.
  package func requestFix(_ accuracy: AccuracyClass = .best) throws(LocationServiceError) {
    try service.check()
    try service.checkPermission()
    update { $0.requestFix(accuracy, for: identifier, into: &$1) }
  }

  /// Takes a request for one fix back.
  package func cancelRequest() { update { machine, _ in machine.cancelRequest(for: identifier) } }

  /// Holds updates back until the client has moved some meters, or for some seconds.
  package func allowDeferral(untilTraveled meters: Double, timeout seconds: Double) {
    update {
      $0.allowDeferral(untilTraveled: meters, timeout: seconds, for: identifier, into: &$1)
    }
  }

  /// Ends a deferral.
  package func disallowDeferral() { modify { $0.disallowDeferral() } }

  // MARK: Significant changes and visits

  /// Starts to report significant changes of the place to the group. The client receives the latest
  /// fix at first, or the next one where there is none.
  package func startSignificantChanges() throws(LocationServiceError) {
    try start { $0.startSignificantChanges(in: client.group, for: identifier, into: &$1) }
  }

  /// Stops reporting significant changes to the group.
  package func stopSignificantChanges() {
    service.manager.restore()
    update { $0.stopSignificantChanges(in: client.group, into: &$1) }
  }

  /// Starts to report visits to the group.
  package func startVisits() throws(LocationServiceError) {
    try start { $0.startVisits(in: client.group, into: &$1) }
  }

  /// Stops reporting visits to the group.
  package func stopVisits() {
    service.manager.restore()
    update { $0.stopVisits(in: client.group, into: &$1) }
  }

  private func start(
    _ body: (inout LocationMachine, inout Output) -> Void
  ) throws(LocationServiceError) {
    service.manager.restore()
    try service.check()
    update(body)
    try service.checkPermission()
  }

  // MARK: Circles

  /// Starts to monitor a circle for the group. A circle with the same identifier is replaced; one
  /// that is monitored already with the same place and radius keeps its state.
  package func register(
    _ circle: MonitoredCircle, assuming state: GeofenceState? = nil
  ) throws(LocationServiceError) {
    service.manager.restore()
    try service.check(circle.region.identifier)
    let failure = host.update(for: client) { machine, output -> GeofenceError? in
      do throws(GeofenceError) {
        try machine.circles.register(
          circle, in: client.group, assuming: state, for: identifier, into: &output)
        return nil
      } catch {
        return error
      }
    }
    if let failure = failure ?? nil { throw .circle(circle.region.identifier, failure) }
  }

  /// Stops monitoring a circle of the group.
  package func unregister(_ identifier: String) {
    service.manager.restore()
    update { $0.circles.unregister(identifier, in: client.group, into: &$1) }
  }

  /// The circles of the group, sorted by their identifiers.
  package var circles: [MonitoredCircle] {
    service.manager.restore()
    return host.read { [client] in $0.circles.registered(in: client.group) }
  }

  /// Returns what is known now of a circle of the group; `nil` if there is no such circle.
  package func snapshot(ofCircle identifier: String) -> CircleSnapshot? {
    host.read { $0.circles.snapshot(of: identifier, in: client.group) }
  }

  /// Requests the state of a circle, registered or not; the answer is
  /// ``LocationEvent/circleState(_:_:)``, or the circle's next event.
  package func requestState(of region: CircularRegion) {
    let hasSource = service.source != nil
    update {
      $0.requestState(
        of: region, in: client.group, for: identifier, hasSource: hasSource, into: &$1)
    }
  }

  // MARK: Headings

  /// Starts to report headings, or changes how: each change of some degrees, or with `nil` each
  /// reading. They need no authorization.
  package func startHeadings(
    filter degrees: Double? = 1, orientation: HeadingOrientation = .portrait
  ) throws(LocationServiceError) {
    try service.check()
    guard service.source?.mayHaveCompass == true else {
      throw .unavailable(LocationService.noCompass)
    }
    update { machine, _ in machine.compass.start(filter: degrees, orientation, for: identifier) }
  }

  /// Stops reporting headings.
  package func stopHeadings() { update { machine, _ in machine.compass.stop(for: identifier) } }

  /// The client's latest heading; `nil` if there was none.
  package var latestHeading: Heading? {
    host.read { [identifier] in $0.latestHeading(of: identifier) }
  }

  /// Reports the latest state of the source to the client, as an event.
  package func reportHealth() {
    update { machine, output in
      // A client that does not receive yet begins here, so that no change is missed or repeated.
      client.beginReceiving()
      machine.reportHealth(to: identifier, into: &output)
    }
  }
}
