import Advertising
import Ranging
import Records
import Regions
import Scanning
import ServiceCore

/// `monitor` on a terminal: the regions as a table that is redrawn in place, and the last events.
final class LiveMonitorWriter: ResultWriter {
  private let regions: [NamedRegion]
  private let session: BeaconSession
  private let line: EventLine
  private var screen: LiveScreen
  private var report: RangingReport?
  private var events: [String] = []
  private var trouble: String?

  private static let maximumEvents = 10

  /// One region at a moment.
  private struct Row {
    var name: String
    var snapshot: RegionSnapshot?
    var nearest: RangedBeacon?
    var time: MonotonicTime
  }

  private static let table = Table<Row>([
    Column("REGION") { $0.name }, Column("STATE") { $0.snapshot?.status.state.name },
    Column("SINCE") { row in
      row.snapshot?.since.map { String($0.dayAndClock.dropLast(4)) }
    },
    Column("BEACONS", .right) { row in row.snapshot.map { String($0.status.beacons) } },
    Column("NEAREST") { row in row.nearest.map { "\($0.beacon.major):\($0.beacon.minor)" } },
    Column("DISTANCE", .right) { fixed($0.nearest?.estimate?.distance, 1, "m") },
    Column("RSSI", .right) { row in row.nearest?.rssi.map { "\($0) dBm" } },
    Column("EXIT IN", .right) { row in
      fixed(row.snapshot?.status.exit.map { max(0, $0.seconds(since: row.time)) }, 1, "s")
    },
  ])

  init(output: StandardOutput, regions: [NamedRegion], session: BeaconSession, line: EventLine) {
    (self.regions, self.session, self.line) = (regions, session, line)
    screen = LiveScreen(output)
  }

  var isScreen: Bool { true }

  func write(_ event: MonitorEvent) throws {
    // The table has the states at the start.
    guard event.reason.rule != .request else { return }
    events.append(line.table.line(event))
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

  private func draw(at time: WallClockTime) throws {
    let offset = session.beacons.wallClockOffset
    let rows = regions.map { region in
      Row(
        name: region.name,
        snapshot: session.beacons.snapshot(ofRegion: region.name, for: session.client),
        nearest: report?.beacons.first {
          region.constraint.matches($0.beacon) && $0.proximity != .unknown
        }, time: time.monotonicTime(offset))
    }
    let inside = rows.count { $0.snapshot?.status.state == .inside }
    let title = "\(time.dayAndClock)  inside \(inside) of \(regions.count) regions"
    var lines = [title] + (trouble.map { [$0] } ?? []) + Self.table.lines(rows)
    // Events keep their place at the end, whatever the number of regions.
    let room = max(3, terminalSize().rows - 3 - events.count)
    if lines.count > room {
      let hidden = lines.count - (room - 1)
      lines = lines.prefix(room - 1) + ["and \(hidden) regions more"]
    }
    if !events.isEmpty { lines += [""] + events }
    let first = lines.count - events.count
    try screen.draw(lines) { number, text in number < first ? text : line.colored(text) }
  }
}
