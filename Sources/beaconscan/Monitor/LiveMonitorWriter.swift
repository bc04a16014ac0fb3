import Advertising
import CoreLocation
import Ranging
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

  private static let mostEvents = 10

  init(
    output: StandardOutput, regions: [NamedRegion], services: LocationServices, line: EventLine
  ) {
    self.regions = regions
    self.services = services
    self.line = line
    screen = LiveScreen(output)
  }

  var showsBeacons: Bool { true }

  func write(_ event: MonitorEvent) throws {
    events.append(line.text(event))
    if events.count > Self.mostEvents { events.removeFirst() }
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

  private func draw(at moment: MonotonicTime, offset: WallClockOffset) throws {
    var table = Table([
      ("REGION", .left), ("STATE", .left), ("SINCE", .left), ("BEACONS", .right),
      ("NEAREST", .left), ("DISTANCE", .right), ("RSSI", .right), ("EXIT IN", .right),
    ])
    var inside = 0
    for region in regions {
      let status = services.status(ofRegion: region.name)
      inside += status?.state == .inside ? 1 : 0
      let nearest = report?.report.beacons.first {
        region.constraint.matches($0.beacon) && $0.proximity != .unknown
      }
      table.add([
        region.name, status?.state.name ?? "–",
        status?.since.map { String($0.wallClockTime(offset).dayAndClock.dropLast(4)) } ?? "–",
        status.map { String($0.beacons) } ?? "–",
        nearest.map { "\($0.beacon.major):\($0.beacon.minor)" } ?? "–",
        nearest?.estimate.map { "\(fixed($0.distance, 1)) m" } ?? "–",
        nearest?.rssi.map { "\($0) dBm" } ?? "–",
        status?.exit.map { "\(fixed(max(0, $0.seconds(since: moment)), 1)) s" } ?? "–",
      ])
    }
    let time = moment.wallClockTime(offset).dayAndClock
    let title = "\(time)  inside \(inside) of \(regions.count) regions"
    var lines = [title] + (trouble.map { [$0] } ?? []) + table.lines
    // Events keep their place at the end, whatever the number of regions.
    let rows = TerminalSize.current.rows
    let room = max(3, rows - 3 - events.count)
    if lines.count > room {
      let hidden = lines.count - (room - 1)
      lines = lines.prefix(room - 1) + ["and \(hidden) regions more"]
    }
    if !events.isEmpty { lines += [""] + events }
    let first = lines.count - events.count
    try screen.draw(lines) { number, text in number < first ? text : line.coloured(text) }
  }
}
