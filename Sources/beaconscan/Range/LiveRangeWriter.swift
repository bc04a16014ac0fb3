import Advertising
import Frontends
import Ranging
import Records
import Scanning
import ServiceCore

final class LiveRangeWriter: ResultWriter {
  private let regions: [NamedRegion]
  private let beacon: RecordType<RangedBeacon>
  private let zone: ClockZone
  private let screen: LiveScreen
  private var sparklines: [BeaconIdentity: Sparkline] = [:]
  private var report: RangingReport?
  private var trouble: String?
  /// What takes the place of the screen at the end.
  private let visits: VisitRangeWriter

  init(
    output: StandardOutput, regions: [NamedRegion], beacon: RecordType<RangedBeacon>,
    showsSides: Bool = false
  ) {
    self.regions = regions
    self.beacon = beacon
    zone = output.zone
    screen = LiveScreen(output)
    visits = VisitRangeWriter(output: output, regions: regions, showsSides: showsSides)
  }

  func write(_ report: RangingReport) throws {
    let present = Set(report.beacons.map(\.beacon))
    sparklines = sparklines.filter { present.contains($0.key) }
    for beacon in report.beacons {
      sparklines[beacon.beacon, default: Sparkline()].add(beacon.rssi)
    }
    self.report = report
    try visits.write(report)
    try draw()
  }

  func end(_ summary: ScanSummary) throws {
    try screen.clear()
    try visits.end(summary, height: TerminalSize.current.map { $0.rows - 1 })
  }

  var isScreen: Bool { true }

  func write(trouble: String?, at time: WallClockTime) throws {
    self.trouble = trouble
    try draw()
  }

  private func draw() throws {
    let (report, regions, trouble, zone) = (report, regions, trouble, zone)
    let (sparklines, hints) = (sparklines, screen.hints)
    let columns =
      // The title of a region contains its UUID.
      beacon.columns.dropFirst(regions.isEmpty ? 0 : 1)
      + [Column("SIGNAL", priority: .detail) { sparklines[$0.beacon]?.text ?? "" }]
    try screen.draw { size, order in
      var lines = trouble?.wrapped(to: size.columns) ?? []
      guard let report else { return lines }
      lines.append(
        .title(
          counted(report.beacons.count, "beacon"), at: report.wallClockTime, zone, hints,
          width: size.columns))
      let beacons = (order ?? .distance).sorted(report.beacons)
      let table = Table(Array(columns), zone, width: size.columns)
      guard !regions.isEmpty else {
        return lines + table.lines(beacons, height: size.rows - lines.count)
      }
      for (number, region) in regions.enumerated() {
        let left = regions.count - number
        let room = size.rows - lines.count
        // A region needs a title, a header and a row, and others need a line that counts them.
        guard room >= (left > 1 ? 4 : 3) else {
          return lines + (room > 0 ? ["… \(left) more region\(left == 1 ? "" : "s")"] : [])
        }
        let rows = beacons.filter { region.constraint.matches($0.beacon) }
        lines.append(region.title.printable.cut(to: size.columns))
        lines += table.lines(rows, height: max(3, room / left) - 1)
      }
      return lines
    }
  }
}

extension RowOrder {
  /// Returns beacons in this order. They are given closest first.
  fileprivate func sorted(_ beacons: [RangedBeacon]) -> [RangedBeacon] {
    switch self {
    case .distance: beacons
    case .name: beacons.sorted { $0.beacon < $1.beacon }
    case .last: beacons.sorted { $0.lastReceived > $1.lastReceived }
    case .rssi: beacons.sorted { $0.smoothed ?? -200 > $1.smoothed ?? -200 }
    case .count: beacons.sorted { $0.sightings > $1.sightings }
    }
  }
}
