package import Positioning
package import Scanning

/// The location service of a ``ServiceManager``: locations, visits, circles and headings.
///
/// Each client has its own updates; circles, visits and significant changes belong to the client's
/// group and outlive the process. Receivers and daemons work no harder than the demand: they are
/// off while no client needs anything.
package final class LocationService: Sendable {
  /// The name under which registrations are stored.
  package static let name = "location"

  /// The source of fixes and compass readings; `nil` where there is none.
  package let source: (any LocationSource)?
  /// The manager that the service belongs to.
  package let manager: ServiceManager

  private let host: ServiceHost<LocationMachine>

  /// Adds the service to a manager. Without a source, every request fails.
  package init(_ manager: ServiceManager, source: (any LocationSource)?) {
    (self.manager, self.source) = (manager, source)
    host = ServiceHost(
      LocationMachine(isRecorded: source?.isRecorded ?? false),
      source: source?.erased, manager: manager)
  }

  /// Returns the events of a client, in order. The sequence ends with the source, or throws what
  /// ended it.
  package func events(for client: ClientIdentifier) -> ClientEvents<LocationEvent> {
    manager.events(of: client) { [host] event in
      guard case .ended = event else { return false }
      if let failure = host.failure { throw failure }
      return true
    }
  }

  /// Throws where no request can be met. A daemon that does not run is not a reason: the request
  /// waits for it, and the source's state shows what is the matter.
  private func check() throws(LocationServiceError) {
    guard let source else { throw isRefused ? .denied : .unavailable(Self.noSource) }
    if !source.isRecorded, let end = host.end { throw .unavailable(end) }
    if source.isRecorded, case .unavailable(let reason) = host.availability {
      throw .unavailable(reason)
    }
  }

  private var isRefused: Bool { host.read { $0.isRefused } }

  /// Throws where the application is refused. What it started is kept: a permission that comes later brings it.
  private func checkPermission() throws(LocationServiceError) {
    if isRefused { throw .denied }
  }

  /// The reason of failure where no source was given.
  package static let noSource =
    "nothing finds locations on this system; start gpsd or GeoClue, or configure a position"

  /// The reason of failure where the source has no compass.
  package static let noCompass =
    "nothing finds headings on this system; connect a compass and start iio-sensor-proxy"

  // MARK: Locations

  /// Starts location updates of a client, or changes their settings.
  package func startUpdates(
    _ settings: UpdateSettings = UpdateSettings(), for client: ClientIdentifier
  ) throws(LocationServiceError) {
    try check()
    host.update { machine, output in
      machine.startUpdates(settings, for: client, into: &output)
    }
    try checkPermission()
  }

  /// Stops location updates of a client.
  package func stopUpdates(for client: ClientIdentifier) {
    host.update { machine, output in machine.modify(client, into: &output) { $0.stop() } }
  }

  /// Changes the settings of a client's updates, if there are any.
  package func changeUpdates(_ settings: UpdateSettings, for client: ClientIdentifier) {
    host.update { machine, output in
      machine.modify(client, into: &output) { $0.change(settings) }
    }
  }

  /// Returns what a client and its group use now.
  package func use(of client: ClientIdentifier) -> LocationUse {
    guard let group = manager.client(client)?.group else { return LocationUse() }
    return host.read { $0.use(of: client, in: group) }
  }

  /// Requests one fix: the answer is ``LocationEvent/requestedFix(_:)``,
  /// ``LocationEvent/requestTimedOut``, ``LocationEvent/requestFailed(_:)``, or the same fix of the
  /// client's updates. It ends without an answer where the client starts updates or a deferral.
  package func requestFix(
    _ accuracy: AccuracyClass = .best, for client: ClientIdentifier
  ) throws(LocationServiceError) {
    try check()
    try checkPermission()
    host.update { machine, output in
      machine.requestFix(accuracy, for: client, into: &output)
    }
  }

  /// Takes a request for one fix back.
  package func cancelRequest(for client: ClientIdentifier) {
    host.update { machine, _ in machine.cancelRequest(for: client) }
  }

  /// Holds a client's updates back until it has moved some meters, or for some seconds.
  package func allowDeferral(
    untilTraveled meters: Double, timeout seconds: Double, for client: ClientIdentifier
  ) {
    host.update { machine, output in
      machine.allowDeferral(
        untilTraveled: meters, timeout: seconds, for: client, into: &output)
    }
  }

  /// Ends a client's deferral.
  package func disallowDeferral(for client: ClientIdentifier) {
    host.update { machine, output in
      machine.modify(client, into: &output) { $0.disallowDeferral() }
    }
  }

  /// The latest fix; `nil` if there was none, or the application is not authorized.
  package var latestFix: Fix? { host.read { $0.latestFix } }

  // MARK: Significant changes and visits

  /// Starts to report significant changes of the place to a client's group. The client receives the
  /// latest fix at first, or the next one where there is none.
  package func startSignificantChanges(
    for client: ClientIdentifier
  ) throws(LocationServiceError) {
    try change(for: client) { $0.startSignificantChanges(in: $1, for: client, into: &$2) }
  }

  /// Stops reporting significant changes to a client's group.
  package func stopSignificantChanges(for client: ClientIdentifier) {
    manager.restore()
    guard let group = manager.client(client)?.group else { return }
    host.update { machine, output in
      machine.stopSignificantChanges(in: group, into: &output)
    }
  }

  /// Starts to report visits to a client's group.
  package func startVisits(for client: ClientIdentifier) throws(LocationServiceError) {
    try change(for: client) { $0.startVisits(in: $1, into: &$2) }
  }

  /// Stops reporting visits to a client's group.
  package func stopVisits(for client: ClientIdentifier) {
    manager.restore()
    guard let group = manager.client(client)?.group else { return }
    host.update { machine, output in machine.stopVisits(in: group, into: &output) }
  }

  private func change(
    for client: ClientIdentifier,
    _ body: (inout LocationMachine, ClientGroup, inout ServiceOutput<LocationMachine>) -> Void
  ) throws(LocationServiceError) {
    manager.restore()
    try check()
    guard let group = manager.client(client)?.group else { return }
    host.update { machine, output in body(&machine, group, &output) }
    try checkPermission()
  }

  // MARK: Circles

  /// Starts to monitor a circle for a client's group. A circle with the same identifier is
  /// replaced; one that is monitored already with the same place and radius keeps its state.
  package func register(
    _ circle: MonitoredCircle, assuming state: GeofenceState? = nil, for client: ClientIdentifier
  ) throws(LocationServiceError) {
    manager.restore()
    try check(circle.region.identifier)
    guard let group = manager.client(client)?.group else { return }
    let failure = host.update { machine, output -> GeofenceError? in
      do throws(GeofenceError) {
        try machine.circles.register(circle, in: group, assuming: state, for: client, into: &output)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw .circle(circle.region.identifier, failure) }
  }

  /// Throws where no circle of an identifier can be registered.
  package func check(_ identifier: String) throws(LocationServiceError) {
    try check()
    try checkPermission()
    let bytes = identifier.utf8.count
    guard bytes <= BeaconService.maximumIdentifierBytes else {
      throw .identifierTooLong(bytes: bytes)
    }
  }

  /// Stops monitoring a circle of a client's group.
  package func unregister(_ identifier: String, for client: ClientIdentifier) {
    manager.restore()
    guard let group = manager.client(client)?.group else { return }
    host.update { machine, output in
      machine.circles.unregister(identifier, in: group, into: &output)
    }
  }

  /// Returns the name of the circle that the store has under an identifier; `nil` where that is
  /// not a circle's.
  package static func circle(ofStored identifier: String) -> String? {
    LocationCircles.identifier(ofStored: identifier)
  }

  /// Returns the circles of a client's group, sorted by their identifiers.
  package func circles(of client: ClientIdentifier) -> [MonitoredCircle] {
    manager.restore()
    guard let group = manager.client(client)?.group else { return [] }
    return host.read { $0.circles.registered(in: group) }
  }

  /// Returns what is known now of a circle of a client's group; `nil` if there is no such circle.
  package func snapshot(
    ofCircle identifier: String, for client: ClientIdentifier
  ) -> CircleSnapshot? {
    guard let group = manager.client(client)?.group else { return nil }
    return host.read { $0.circles.snapshot(of: identifier, in: group) }
  }

  /// Requests the state of a circle, registered or not; the answer is
  /// ``LocationEvent/circleState(_:_:)``, or the circle's next event.
  package func requestState(of region: CircularRegion, for client: ClientIdentifier) {
    guard let group = manager.client(client)?.group else { return }
    let hasSource = source != nil
    host.update { machine, output in
      machine.requestState(
        of: region, in: group, for: client, hasSource: hasSource, into: &output)
    }
  }

  // MARK: Headings

  /// Starts to report headings to a client, or changes how: each change of some degrees, or with
  /// `nil` each reading. They need no authorization.
  package func startHeadings(
    filter degrees: Double? = 1, orientation: HeadingOrientation = .portrait,
    for client: ClientIdentifier
  ) throws(LocationServiceError) {
    try check()
    guard source?.mayHaveCompass == true else { throw .unavailable(Self.noCompass) }
    host.update { machine, _ in
      machine.compass.start(filter: degrees, orientation, for: client)
    }
  }

  /// Stops reporting headings to a client.
  package func stopHeadings(for client: ClientIdentifier) {
    host.update { machine, _ in machine.compass.stop(for: client) }
  }

  /// Returns a client's latest heading; `nil` if there was none.
  package func latestHeading(of client: ClientIdentifier) -> Heading? {
    host.read { $0.latestHeading(of: client) }
  }

  // MARK: State

  /// The latest state of the source; `nil` before it is known.
  package var health: LocationHealth? { host.read { $0.health } }

  /// Indicates whether the source can be used, as far as is known: by its state, or while it rests
  /// by an answer of half a minute ago at most, which is found out in the background. What is not
  /// known yet is available.
  package var availability: ScannerAvailability {
    if let end = host.end { return .unavailable(end) }
    host.updateAvailability()
    return source == nil ? .unavailable(Self.noSource) : host.latestAvailability
  }

  /// The reason that nothing is found now; `nil` while something may be. The latest state may be of
  /// long ago: a source that can be used by now has no fault, unless it refused the application.
  package var fault: LocationHealth? {
    guard let health, health.condition.isFault else { return nil }
    return health.condition == .denied || availability != .available ? health : nil
  }

  /// Reports the latest state of the source to a client, as an event.
  package func reportHealth(to client: ClientIdentifier) {
    host.update { [manager] machine, output in
      // A client that does not receive yet begins here, so that no change is missed or repeated.
      manager.beginReceiving(client)
      machine.reportHealth(to: client, into: &output)
    }
  }

  /// Indicates whether a client needs the source now.
  package var isWanted: Bool { host.read { $0.demand != nil } }

  /// The reason that the source will not deliver any more, for people; `nil` while it will.
  package var end: String? { host.end }

  /// The error with which the source ended.
  package var failure: (any Error)? { host.failure }

  /// Calls a function when the events of earlier requests are on their way.
  package func afterOutput(_ body: @escaping @Sendable () -> Void) { host.afterOutput(body) }

  /// Waits until clients have dealt with everything that a recording delivered.
  package func deliveriesFinished() async { await host.deliveriesFinished() }

  /// The distance from the source's time to wall-clock time.
  package var wallClockOffset: WallClockOffset { host.read { $0.wallClockOffset } }
}
