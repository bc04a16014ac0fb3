package import Positioning

/// A client of a ``LocationService``: its updates, requests and headings, and those of its group.
package struct LocationClient: Sendable {
  package let service: LocationService
  package let client: ServiceClient

  private typealias Output = ServiceOutput<LocationMachine>

  private var host: ServiceHost<LocationMachine> { service.host }
  private var identifier: ClientIdentifier { client.identifier }

  /// Creates a view of a client for a service. Both must belong to the same manager.
  package init(_ client: ServiceClient, of service: LocationService) {
    precondition(client.manager === service.manager, "the client belongs to another manager")
    (self.client, self.service) = (client, service)
  }

  /// The events of the client, in order. The sequence ends with the source, or throws its failure.
  package var events: ClientEvents<LocationEvent> {
    client.events { [host] event in
      guard case .ended = event else { return false }
      if let failure = host.failure { throw failure }
      return true
    }
  }

  private func update(_ body: (inout LocationMachine, inout Output) -> Void) {
    host.update(for: client, body)
  }

  package func startUpdates(
    _ settings: UpdateSettings = UpdateSettings()
  ) throws(LocationServiceError) {
    try service.check()
    update { $0.startUpdates(settings, for: identifier, into: &$1) }
    try service.checkPermission()
  }

  package func stopUpdates() { modify { $0.stop() } }

  package func changeUpdates(_ settings: UpdateSettings) { modify { $0.change(settings) } }

  private func modify(_ change: (inout ClientUpdates) -> [LocationEvent]) {
    update { $0.modify(identifier, into: &$1, change) }
  }

  package var use: LocationUse {
    host.read { [identifier, client] in $0.use(of: identifier, in: client.group) }
  }

  /// Requests one fix, answered by ``LocationEvent/requestedFix(_:)``, a failure, or the client's
  /// updates. Starting updates or a deferral ends the request without an answer.
  package func requestFix(_ accuracy: AccuracyClass = .best) throws(LocationServiceError) {
    try service.check()
    try service.checkPermission()
    update { $0.requestFix(accuracy, for: identifier, into: &$1) }
  }

  package func cancelRequest() { update { machine, _ in machine.cancelRequest(for: identifier) } }

  /// Defers updates until the client has moved by a distance in meters, or for some seconds.
  package func allowDeferral(untilTraveled meters: Double, timeout seconds: Double) {
    update {
      $0.allowDeferral(untilTraveled: meters, timeout: seconds, for: identifier, into: &$1)
    }
  }

  package func disallowDeferral() { modify { $0.disallowDeferral() } }

  /// Starts significant changes for the group. The client first receives the latest or next fix.
  package func startSignificantChanges() throws(LocationServiceError) {
    try start { $0.startSignificantChanges(in: client.group, for: identifier, into: &$1) }
  }

  package func stopSignificantChanges() {
    service.manager.restore()
    update { $0.stopSignificantChanges(in: client.group, into: &$1) }
  }

  package func startVisits() throws(LocationServiceError) {
    try start { $0.startVisits(in: client.group, into: &$1) }
  }

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

  /// Starts to monitor a circle for the group, in place of one with the same identifier. It keeps
  /// its state if its place and radius are the same.
  package func register(
    _ circle: MonitoredCircle, assuming state: GeofenceState? = nil
  ) throws(LocationServiceError) {
    service.manager.restore()
    try service.check(circle.region.identifier)
    do throws(GeofenceError) {
      try host.update(for: client) { machine, output throws(GeofenceError) in
        try machine.circles.register(
          circle, in: client.group, assuming: state, for: identifier, into: &output)
      }
    } catch {
      throw .region(circle.region.identifier, error)
    }
  }

  package func unregister(_ identifier: String) {
    service.manager.restore()
    update { $0.circles.unregister(identifier, in: client.group, into: &$1) }
  }

  /// The circles of the group, sorted by identifier.
  package var circles: [MonitoredCircle] {
    service.manager.restore()
    return host.read { [client] in $0.circles.registered(in: client.group) }
  }

  package func snapshot(ofCircle identifier: String) -> CircleSnapshot? {
    host.read { $0.circles.snapshot(of: identifier, in: client.group) }
  }

  /// Requests a state, answered by ``LocationEvent/circleState(_:_:)`` or the circle's next event.
  package func requestState(of region: CircularRegion) {
    let hasSource = service.source != nil
    update {
      $0.requestState(
        of: region, in: client.group, for: identifier, hasSource: hasSource, into: &$1)
    }
  }

  /// Starts to report headings, at changes of some degrees or, with `nil`, at each reading, or
  /// changes the settings. Headings need no authorization.
  package func startHeadings(
    filter degrees: Double? = 1, orientation: HeadingOrientation = .portrait
  ) throws(LocationServiceError) {
    try service.check()
    guard service.source?.mayHaveCompass == true else {
      throw .unavailable(LocationService.noCompass)
    }
    update { machine, _ in machine.compass.start(filter: degrees, orientation, for: identifier) }
  }

  package func stopHeadings() { update { machine, _ in machine.compass.stop(for: identifier) } }

  /// The latest heading, which needs no authorization, as on Apple's systems.
  package var latestHeading: Heading? {
    host.read { [identifier] in $0.compass.latestHeading(of: identifier) }
  }

  package func reportHealth() {
    update { machine, output in
      // A client that does not receive yet starts here, so it neither misses nor repeats a change.
      client.beginReceiving()
      machine.reportHealth(to: identifier, into: &output)
    }
  }
}
