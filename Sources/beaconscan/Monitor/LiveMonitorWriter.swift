import Advertising
import Frontends
import Positioning
import Ranging
import Records
import Regions
import Scanning
import ServiceCore

/// `monitor` on a terminal: a table of regions, redrawn in place, and the last events.
final class LiveMonitorWriter: ResultWriter {
  private let regions: [NamedRegion]
  private let circles: [CircularRegion]
  private let session: BeaconSession?
  private let location: LocationFeed?
  private let line: EventLine
  private let output: StandardOutput
  /// The rules of regions without rules of their own, if the table is that of the rules.
  private let explained: RegionRules?
  private let zone: ClockZone
  private let hasColor: Bool
  private let screen: LiveScreen
  private var report: RangingReport?
  private var events: [MonitorEvent] = []
  private var trouble: String?
  private var time: WallClockTime?
  private var isOver = false

  private static let maximumEvents = 10

  fileprivate struct Row: Sendable {
    var name: String
    var state: RegionState?
    var since: WallClockTime?
    var beacons: Int?
    var nearest: RangedBeacon?
    /// Meters to the nearest beacon, or to the center of a circle.
    var distance: Double?
    /// Seconds until the exit.
    var exit: Double?
    /// A circle has a distance alone.
    var isCircle = false

    func ofBeacons(_ text: String?) -> String? { isCircle ? "" : text }
  }

  private static let columns: [Column<Row>] = [
    Column("REGION", priority: .key, fit: .cut(to: 8)) { $0.name },
    Column("STATE", priority: .key) { $0.state?.name },
    Column("SINCE", priority: .detail, digits: 0, time: \.since),
    Column("BEACONS", .right, priority: .detail) { row in
      row.ofBeacons(row.beacons.map { "\($0)" })
    },
    Column("NEAREST") { row in row.isCircle ? "center" : row.nearest?.beacon.shortName },
    Column("DISTANCE", .right, priority: .main) { fixed($0.distance, 1, "m") },
    Column("RSSI", .right) { row in row.ofBeacons(row.nearest?.rssi.map { "\($0) dBm" }) },
    Column("EXIT IN", .right) { row in row.ofBeacons(fixed(row.exit, 1, "s")) },
  ]

  init(
    output: StandardOutput, regions: [NamedRegion], circles: [CircularRegion] = [],
    session: BeaconSession?, location: LocationFeed? = nil, line: EventLine,
    explaining explained: RegionRules? = nil
  ) {
    self.regions = regions
    self.circles = circles
    self.line = line
    self.output = output
    self.explained = explained
    self.session = session
    self.location = location
    zone = output.zone
    hasColor = output.hasColor
    screen = LiveScreen(output)
  }

  var isScreen: Bool { true }

  func write(_ event: MonitorEvent) throws {
    // The table shows the states at the start.
    guard !event.isAtStart else { return }
    events.append(event)
    if events.count > Self.maximumEvents { events.removeFirst() }
    try draw(at: event.time)
  }

  func write(_ report: RangingReport) throws {
    self.report = report
    try draw(at: report.wallClockTime)
  }

  func write(trouble: String?, at time: WallClockTime) throws {
    self.trouble = trouble
    try draw(at: time)
  }

  /// Draws the table without the keys, which end with the run, and adds what it does not show.
  func write(_ approaches: [Approach]) throws {
    isOver = true
    if let time { try draw(at: time) }
    if explained == nil { try output.write(sentencesOf: approaches) }
  }

  private func beaconRows(at time: WallClockTime) -> [Row] {
    guard let session else { return [] }
    let now = time.monotonicTime(session.beacons.wallClockOffset)
    return regions.map { region in
      let snapshot = session.client.snapshot(ofRegion: region.name)
      let nearest = report?.beacons.first {
        region.constraint.matches($0.beacon) && $0.proximity != .unknown
      }
      return Row(
        name: region.name, state: snapshot?.status.state, since: snapshot?.since,
        beacons: snapshot?.status.beacons, nearest: nearest, distance: nearest?.estimate?.distance,
        exit: snapshot?.status.exit.map { max(0, $0.seconds(since: now)) })
    }
  }

  private func circleRows() -> [Row] {
    guard let location else { return [] }
    let place = location.service.latestFix?.place
    return circles.map { circle in
      let snapshot = location.client.snapshot(ofCircle: circle.identifier)
      return Row(
        name: circle.identifier, state: snapshot.map { RegionState($0.state) },
        since: snapshot?.since, distance: place.map(circle.center.distance), isCircle: true)
    }
  }

  private func draw(at time: WallClockTime) throws {
    self.time = time
    let rows = beaconRows(at: time) + circleRows()
    let inside = rows.count { $0.state == .inside }
    let text = "inside \(inside) of \(counted(rows.count, "region"))"
    let rules = explained.map { standard in
      Dictionary(
        regions.map { region in
          (region.name, session?.approach(to: region.name, standard, at: time)?.rows ?? [])
        }, uniquingKeysWith: { first, _ in first })
    }
    let (columns, events, trouble) = (line.columns, events, trouble)
    let (zone, hints, hasColor) = (zone, isOver ? [] : screen.hints, hasColor)
    try screen.draw { size, order in
      let title = String.title(text, at: time, zone, hints, width: size.columns)
      let top = [title] + (trouble?.wrapped(to: size.columns) ?? [])
      // Recent events always keep their place at the end.
      let shown = events.suffix(max(0, (size.rows - top.count) / 2 - 1))
      let table = Table(columns, zone, width: size.columns, hasColor: hasColor)
      let height = size.rows - top.count - (shown.isEmpty ? 0 : shown.count + 1)
      let sorted = order?.sorted(rows) ?? rows
      let lines =
        rules.map { rules in
          Table(RuleRow.columns, zone, width: size.columns)
            .lines(sorted.flatMap { rules[$0.name] ?? [] }, height: height)
        } ?? Table(Self.columns, zone, width: size.columns).lines(sorted, height: height)
      return top + lines
        + (shown.isEmpty ? [] : [""] + shown.map { table.line($0) + (table.isCut ? "  …" : "") })
    }
  }
}

extension RowOrder {
  /// Returns the regions in this order: of their nearest beacons, names, counts or latest changes.
  fileprivate func sorted(_ rows: [LiveMonitorWriter.Row]) -> [LiveMonitorWriter.Row] {
    switch self {
    case .distance, .rssi:
      rows.sorted { $0.distance ?? .infinity < $1.distance ?? .infinity }
    case .name: rows.sorted { $0.name < $1.name }
    case .count: rows.sorted { $0.beacons ?? 0 > $1.beacons ?? 0 }
    case .last: rows.sorted { $0.since?.nanoseconds ?? .min > $1.since?.nanoseconds ?? .min }
    }
  }
}
