import Positioning
import Scanning

struct CompassState {
  private var filters: [ClientIdentifier: HeadingFilter] = [:]
  private var latest: [ClientIdentifier: Heading] = [:]
  private var hasReportedExpiry = false

  var isNeeded: Bool { !filters.isEmpty }

  func isNeeded(by client: ClientIdentifier) -> Bool { filters[client] != nil }

  func latestHeading(of client: ClientIdentifier) -> Heading? { latest[client] }

  /// Starts headings, or changes their filter in degrees (`nil` for each reading) and orientation.
  mutating func start(
    filter: Double?, _ orientation: HeadingOrientation, for client: ClientIdentifier
  ) {
    var heading = filters[client] ?? HeadingFilter()
    heading.filter = filter
    heading.set(orientation)
    filters[client] = heading
  }

  mutating func stop(for client: ClientIdentifier) { filters[client] = nil }

  mutating func remove(_ client: ClientIdentifier) {
    filters[client] = nil
    latest[client] = nil
  }

  /// Receives a reading. The fix determines true north. Returns the clients' headings in order, and
  /// once the report that the magnetic model has expired, which is still used.
  mutating func receive(
    _ reading: CompassReading, at fix: Fix?
  ) -> (headings: [(ClientIdentifier, Heading)], expiry: LocationHealth?) {
    let field = fix.map {
      MagneticModel.field(
        at: $0.place, height: $0.ellipsoidalAltitude ?? $0.altitude ?? 0, time: reading.timestamp)
    }
    let north = field.flatMap { NorthDifference($0) }
    var headings: [(ClientIdentifier, Heading)] = []
    for client in filters.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard let heading = filters[client]?.receive(reading, north: north) else { continue }
      latest[client] = heading
      headings.append((client, heading))
    }
    guard field?.isExpired == true, !hasReportedExpiry else { return (headings, nil) }
    hasReportedExpiry = true
    let expiry = LocationHealth(
      .receiving, of: .headings, at: reading.time, sentence: MagneticModel.expiry)
    return (headings, expiry)
  }
}
