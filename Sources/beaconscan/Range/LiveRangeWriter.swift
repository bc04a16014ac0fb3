import Advertising
import Ranging
import Records
import Scanning
import ServiceCore

/// `range` on a terminal: a table that is redrawn in place.
final class LiveRangeWriter: ResultWriter {
  private let regions: [NamedRegion]
  private let beacon: RecordType<RangedBeacon>
  private var sparklines: [BeaconIdentity: Sparkline] = [:]
  private var screen: LiveScreen
  private var lines: [String] = []
  private var trouble: String?

  init(output: StandardOutput, regions: [NamedRegion], beacon: RecordType<RangedBeacon>) {
    (self.regions, self.beacon) = (regions, beacon)
    screen = LiveScreen(output)
  }

  func write(_ report: RangingReport) throws {
    let present = Set(report.beacons.map(\.beacon))
    sparklines = sparklines.filter { present.contains($0.key) }
    for beacon in report.beacons {
      sparklines[beacon.beacon, default: Sparkline()].add(beacon.rssi)
    }
    lines = ["\(report.wallClockTime)  \(report.beacons.count) beacons"]
    if regions.isEmpty { lines += table(report.beacons) }
    for region in regions {
      lines.append(region.title)
      lines += table(report.beacons.filter { region.constraint.matches($0.beacon) })
    }
    try draw()
  }

  var isScreen: Bool { true }

  func write(trouble: String?, at time: WallClockTime) throws {
    self.trouble = trouble
    try draw()
  }

  private func draw() throws {
    try screen.draw((trouble.map { [$0] } ?? []) + lines)
  }

  private func table(_ beacons: [RangedBeacon]) -> [String] {
    let sparklines = sparklines
    // A region has one UUID, and the line above has it.
    return Table(
      beacon.columns.dropFirst(regions.isEmpty ? 0 : 1)
        + [Column("SIGNAL") { sparklines[$0.beacon]?.text ?? "" }]
    ).lines(beacons)
  }
}
