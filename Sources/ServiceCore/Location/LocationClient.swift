package import Positioning

/// A client of a ``LocationService``: its updates, requests and headings, and those of its group.
package struct LocationClient: Sendable {
  package let service: LocationService
  package let client: ServiceClient

  /// Creates a view of a client for a service. Both must belong to the same manager.
  package init(_ client: ServiceClient, of service: LocationService) {
    precondition(client.manager === service.manager, "the client belongs to another manager")
    (self.client, self.service) = (client, service)
  }

  /// The events of the client, in order. The sequence ends with the source, or throws its failure.
  package var events: ClientEvents<LocationEvent> {
    client.events { [service] event in
      guard case .ended = event else { return false }
      if let failure = service.failure { throw failure }
      return true
    }
  }

  package func startUpdates(
    _ settings: UpdateSettings = UpdateSettings()
  ) throws(LocationServiceError) { try perform(.startUpdates(settings)) }

  package func stopUpdates() { send(.stopUpdates) }

  package func changeUpdates(_ settings: UpdateSettings) { send(.changeUpdates(settings)) }

  package var use: LocationUse {
    if case .use(let use)? = ask(.use) { use } else { LocationUse() }
  }

  /// Requests one fix, answered by ``LocationEvent/requestedFix(_:)``, a failure, or the client's
  /// updates. Starting updates or a deferral ends the request without an answer.
  package func requestFix(_ accuracy: AccuracyClass = .best) throws(LocationServiceError) {
    try perform(.requestFix(accuracy))
  }

  package func cancelRequest() { send(.cancelRequest) }

  /// Defers updates until the client has moved by a distance in meters, or for some seconds.
  package func allowDeferral(untilTraveled meters: Double, timeout seconds: Double) {
    send(.allowDeferral(untilTraveled: meters, timeout: seconds))
  }

  package func disallowDeferral() { send(.disallowDeferral) }

  /// Starts significant changes for the group. The client first receives the latest or next fix.
  package func startSignificantChanges() throws(LocationServiceError) {
    try perform(.startSignificantChanges)
  }

  package func stopSignificantChanges() { send(.stopSignificantChanges) }

  package func startVisits() throws(LocationServiceError) { try perform(.startVisits) }

  package func stopVisits() { send(.stopVisits) }

  /// Starts to monitor a circle for the group, in place of one with the same identifier. It keeps
  /// its state if its place and radius are the same.
  package func register(
    _ circle: MonitoredCircle, assuming state: GeofenceState? = nil
  ) throws(LocationServiceError) { try perform(.register(circle, assuming: state)) }

  package func unregister(_ identifier: String) { send(.unregister(identifier)) }

  /// The circles of the group, sorted by identifier.
  package var circles: [MonitoredCircle] {
    if case .circles(let circles)? = ask(.circles) { circles } else { [] }
  }

  package func circle(_ identifier: String) -> MonitoredCircle? {
    if case .circle(let circle)? = ask(.circle(identifier)) { circle } else { nil }
  }

  package func snapshot(ofCircle identifier: String) -> CircleSnapshot? {
    if case .snapshot(let snapshot)? = ask(.snapshot(identifier)) { snapshot } else { nil }
  }

  /// Requests a state, answered by ``LocationEvent/circleState(_:_:)`` or the circle's next event.
  package func requestState(of region: CircularRegion) { send(.requestState(region)) }

  /// Starts to report headings, at changes of some degrees or, with `nil`, at each reading, or
  /// changes the settings. Headings need no authorization.
  package func startHeadings(
    filter degrees: Double? = 1, orientation: HeadingOrientation = .portrait
  ) throws(LocationServiceError) {
    try perform(.startHeadings(filter: degrees, orientation))
  }

  package func stopHeadings() { send(.stopHeadings) }

  /// The latest heading, which needs no authorization, as on Apple's systems.
  package var latestHeading: Heading? {
    if case .heading(let heading)? = ask(.latestHeading) { heading } else { nil }
  }

  package func reportHealth() { send(.reportHealth) }

  private func perform(_ request: LocationCall) throws(LocationServiceError) {
    _ = try service.perform(request, for: client)
  }

  private func send(_ request: LocationCall) { _ = ask(request) }

  private func ask(_ request: LocationCall) -> LocationReply? {
    try? service.perform(request, for: client)
  }
}
