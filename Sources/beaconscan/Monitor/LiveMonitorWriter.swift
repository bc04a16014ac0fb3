import Advertising
import CoreLocation
import Ranging
import Records
import Regions
import Scanning

/// `monitor` on a terminal: the regions as a table that is redrawn in place, and the last events.
final class LiveMonitorWriter: MonitorWriter {
  private let regions: [NamedRegion]
  private let services: LocationServices
  private let line: EventLine
  private var screen: LiveScreen
  private var report: (report: RangingReport, offset: WallClockOffset)?
  private var events: [String] = []
  private var trouble: String?

  private static let maximumEvents = 10

  /// One region at a moment.
  private struct Row {
    var name: String
    var status: RegionStatus?
    var nearest: RangedBeacon?
    var time: MonotonicTime
    var offset: WallClockOffset
  }

  private static let table = Table<Row>([
    Column("REGION") { $0.name }, Column("STATE") { $0.status?.state.name },
    Column("SINCE") { row in
      row.status?.since.map { String($0.wallClockTime(row.offset).dayAndClock.dropLast(4)) }
    },
    Column("BEACONS", .right) { row in row.status.map { String($0.beacons) } },
    Column("NEAREST") { row in row.nearest.map { "\($0.beacon.major):\($0.beacon.minor)" } },
    Column("DISTANCE", .right) { fixed($0.nearest?.estimate?.distance, 1, "m") },
    Column("RSSI", .right) { row in row.nearest?.rssi.map { "\($0) dBm" } },
    Column("EXIT IN", .right) { row in
      fixed(row.status?.exit.map { max(0, $0.seconds(since: row.time)) }, 1, "s")
    },
  ])

  init(
    output: StandardOutput, regions: [NamedRegion], services: LocationServices, line: EventLine
  ) {
    self.regions = regions
    self.services = services
    self.line = line
    screen = LiveScreen(output)
  }

  var showsBeacons: Bool { true }

  func write(_ event: RegionEvent) throws {
    events.append(line.table.line(event))
    if events.count > Self.maximumEvents { events.removeFirst() }
    try draw(at: event.time.monotonicTime(event.offset), offset: event.offset)
  }

  func write(_ report: RangingReport, offset: WallClockOffset) throws {
    self.report = (report, offset)
    try draw(at: report.time, offset: offset)
  }

  func write(trouble: String?, at moment: MonotonicTime, offset: WallClockOffset) throws {
    self.trouble = trouble
    try draw(at: moment, offset: offset)
  }

  func end(_ summary: ScanSummary) {}

  private func draw(at moment: MonotonicTime, offset: WallClockOffset) throws {
    let rows = regions.map { region in
      Row(
        name: region.name, status: services.status(ofRegion: region.name),
        nearest: report?.report.beacons.first {
          region.constraint.matches($0.beacon) && $0.proximity != .unknown
        }, time: moment, offset: offset)
    }
    let inside = rows.count { $0.status?.state == .inside }
    let time = moment.wallClockTime(offset).dayAndClock
    let title = "\(time)  inside \(inside) of \(regions.count) regions"
    var lines = [title] + (trouble.map { [$0] } ?? []) + Self.table.lines(rows)
    // Events keep their place at the end, whatever the number of regions.
    let room = max(3, TerminalSize.current.rows - 3 - events.count)
    if lines.count > room {
      let hidden = lines.count - (room - 1)
      lines = lines.prefix(room - 1) + ["and \(hidden) regions more"]
    }
    if !events.isEmpty { lines += [""] + events }
    let first = lines.count - events.count
    try screen.draw(lines) { number, text in number < first ? text : line.colored(text) }
  }
}
