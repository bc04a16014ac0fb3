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
  package var latestFix: Fix? { host.read { $0.latestFix } }

  package var health: LocationHealth? { host.read { $0.health } }

  /// The availability of the source: by its state or, while it rests, by a check at most half a
  /// minute ago. Unknown counts as available.
  package var availability: ScannerAvailability {
    if let end = host.end { return .unavailable(end) }
    host.updateAvailability()
    return source == nil ? .unavailable(Self.noSource) : host.latestAvailability
  }

  /// The reason why nothing is found now, or `nil`. The latest state may be old: it is not a fault
  /// if the source can be used now, unless it refused the application.
  package var fault: LocationHealth? {
    guard let health, health.condition.isFault else { return nil }
    return health.condition == .denied || availability != .available ? health : nil
  }

  package var isWanted: Bool { host.read { $0.demand != nil } }

  package var end: String? { host.end }

  package var failure: (any Error)? { host.failure }

  package func afterOutput(_ body: @escaping @Sendable () -> Void) { host.afterOutput(body) }

  package func deliveriesFinished() async { await host.deliveriesFinished() }

  package var wallClockOffset: WallClockOffset { host.read { $0.wallClockOffset } }
}
