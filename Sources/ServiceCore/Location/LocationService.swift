package import Positioning
package import Scanning

/// The location service of a ``ServiceManager``: locations, visits, circles and headings.
///
/// Each ``LocationClient`` has its own updates; circles, visits and significant changes belong to the client's
/// group and outlive the process. Receivers and daemons work no harder than the demand: they are
/// off while no client needs anything.
package final class LocationService: Sendable {
  /// The name under which registrations are stored.
  package static let name = "location"

  /// The source of fixes and compass readings; `nil` where there is none.
  package let source: (any LocationSource)?
  /// The manager that the service belongs to.
  package let manager: ServiceManager

  let host: ServiceHost<LocationMachine>

  /// Adds the service to a manager. Without a source, every request fails.
  package init(_ manager: ServiceManager, source: (any LocationSource)?) {
    (self.manager, self.source) = (manager, source)
    host = ServiceHost(
      LocationMachine(isRecorded: source?.isRecorded ?? false),
      source: source?.erased, manager: manager)
  }

  /// Throws where no request can be met. A daemon that does not run is not a reason: the request
  /// waits for it, and the source's state shows what is the matter.
  func check() throws(LocationServiceError) {
    guard let source else { throw isRefused ? .denied : .unavailable(Self.noSource) }
    if !source.isRecorded, let end = host.end { throw .unavailable(end) }
    if source.isRecorded, case .unavailable(let reason) = host.availability {
      throw .unavailable(reason)
    }
  }

  private var isRefused: Bool { host.read { $0.isRefused } }

  /// Throws where the application is refused. What it started is kept: a permission that comes later brings it.
  func checkPermission() throws(LocationServiceError) {
    if isRefused { throw .denied }
  }

  /// The reason of failure where no source was given.
  package static let noSource =
    "nothing finds locations on this system; start gpsd or GeoClue, or configure a position"

  /// The reason of failure where the source has no compass.
  package static let noCompass =
    "nothing finds headings on this system; connect a compass and start iio-sensor-proxy"

  /// Throws where no circle of an identifier can be registered.
  package func check(_ identifier: String) throws(LocationServiceError) {
    try check()
    try checkPermission()
    let bytes = identifier.utf8.count
    guard bytes <= BeaconService.maximumIdentifierBytes else {
      throw .identifierTooLong(bytes: bytes)
    }
  }

  /// Returns the name of the circle that the store has under an identifier; `nil` where that is
  /// not a circle's.
  package static func circle(ofStored identifier: String) -> String? {
    LocationCircles.identifier(ofStored: identifier)
  }

  // MARK: State

  /// The latest fix; `nil` if there was none, or the application is not authorized.
  package var latestFix: Fix? { host.read { $0.latestFix } }

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
