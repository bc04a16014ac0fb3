internal import Bytes
package import Positioning
package import Scanning

/// The location service of a ``ServiceManager``: locations, visits, circles and headings.
///
/// Circles, visits and significant changes belong to a client's group and outlive the process.
/// Receivers and daemons are off without demand.
package final class LocationService: Sendable {
  package static let name = "location"

  package let source: (any LocationSource)?
  package let manager: ServiceManager

  let host: ServiceHost<LocationMachine>

  /// Adds the service to a manager. Without a source, every request fails.
  package init(_ manager: ServiceManager, source: (any LocationSource)?) {
    (self.manager, self.source) = (manager, source)
    host = ServiceHost(
      LocationMachine(isRecorded: source?.isRecorded ?? false),
      source: source?.erased, manager: manager)
  }

  /// Adds the service to a manager, with the source of another manager's service.
  package init(_ manager: ServiceManager, sharing other: LocationService) {
    self.manager = manager
    source = other.source
    host = ServiceHost(
      LocationMachine(isRecorded: other.source?.isRecorded ?? false),
      sharing: other.host.shared, manager: manager)
  }

  /// The state of the service in this process, for another one.
  package var status: LocationStatus {
    var status = LocationStatus()
    status.source = SourceStatus(host)
    status.source.availability = availability
    status.source.isWanted = isWanted
    status.source.wallClockOffset = wallClockOffset
    status.hasCompass = hasCompass
    status.health = health
    status.fault = fault
    status.latestFix = latestFix
    return status
  }

  /// The state of the service in the daemon, if there is one.
  private var remote: LocationStatus? { manager.daemon?.locationStatus }

  /// Throws if no request can succeed. A daemon that does not run may start.
  func check() throws(LocationServiceError) {
    guard source != nil else { throw isRefused ? .denied : .unavailable(Self.noSource) }
    if let reason = host.unavailability { throw .unavailable(reason) }
  }

  private var isRefused: Bool { host.read { $0.isRefused } }

  /// Throws if the application is refused. Its requests are kept for a later permission.
  func checkPermission() throws(LocationServiceError) {
    if isRefused { throw .denied }
  }

  package static let noSource =
    "nothing finds locations on this system; start gpsd or GeoClue, or configure a position"

  package static let noCompass =
    "nothing finds headings on this system; connect a compass and start iio-sensor-proxy"

  /// Throws if no circle with this identifier can be registered.
  package func check(_ identifier: String) throws(LocationServiceError) {
    try check()
    try checkPermission()
    try LocationServiceError.check(identifier)
  }

  /// Returns the identifier of the circle that is stored under another one; `nil` for others.
  package static func circle(ofStored identifier: String) -> String? {
    identifier.rest(after: LocationCircles.storedPrefix)
  }

  /// The latest fix, if there is one and the application is authorized.
  package var latestFix: Fix? {
    if let remote { return remote.latestFix }
    return host.read { $0.latestFix }
  }

  package var health: LocationHealth? {
    if let remote { return remote.health }
    return host.read { $0.health }
  }

  /// The source's name for people; `nil` without a source.
  package var sourceName: String? {
    if let remote { return remote.source.source }
    return source?.name
  }

  package var isRecorded: Bool { remote?.source.isRecorded ?? host.isRecorded }

  package var hasCompass: Bool { remote?.hasCompass ?? source?.hasCompass ?? false }

  /// The availability of the source: by its state or, while it rests, by a check at most half a
  /// minute ago. Unknown counts as available.
  package var availability: ScannerAvailability {
    if let remote { return remote.source.availability }
    if let end = host.end { return .unavailable(end) }
    host.updateAvailability()
    return source == nil ? .unavailable(Self.noSource) : host.latestAvailability
  }

  /// The reason why nothing is found now, or `nil`. The latest state may be old: it is not a fault
  /// if the source can be used now, unless it refused the application.
  package var fault: LocationHealth? {
    if let remote { return remote.fault }
    guard let health, health.condition.isFault else { return nil }
    return health.condition == .denied || availability != .available ? health : nil
  }

  /// Whether circles, visits or significant changes are registered, which outlive the clients.
  package var hasRegistrations: Bool {
    manager.restore()
    return host.read { $0.hasRegistrations }
  }

  /// The groups that have circles, visits or significant changes in this process.
  package var groups: Set<ClientGroup> { host.read { $0.registeredGroups } }

  /// The number of circles that are registered in this process.
  package var circleCount: Int { host.read { $0.circles.registeredCount } }

  package var isWanted: Bool { remote?.source.isWanted ?? host.read { $0.demand != nil } }

  package var end: String? {
    if let remote { return remote.source.end }
    return host.end
  }

  package var failure: (any Error)? {
    if let remote { return remote.source.failure.map { RemoteFailure(description: $0) } }
    return host.failure
  }

  package func afterOutput(_ body: @escaping @Sendable () -> Void) {
    if let daemon = manager.daemon { return daemon.afterOutput(.location, body) }
    host.afterOutput(body)
  }

  package func deliveriesFinished() async {
    if let daemon = manager.daemon { return await daemon.deliveriesFinished(.location) }
    await host.deliveriesFinished()
  }

  package var wallClockOffset: WallClockOffset {
    remote?.source.wallClockOffset ?? host.read { $0.wallClockOffset }
  }
}
