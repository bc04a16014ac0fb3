import Advertising
import CoreLocation
import Ranging
import Scanning

/// `range` on a terminal: a table that is redrawn in place.
final class LiveRangeWriter: RangeWriter {
  private let regions: [NamedRegion]
  private let showsRaw: Bool
  private var sparklines: [BeaconIdentity: Sparkline] = [:]
  private var screen: LiveScreen
  private var lines: [String] = []
  private var trouble: String?

  init(output: StandardOutput, regions: [NamedRegion], showsRaw: Bool) {
    self.regions = regions
    self.showsRaw = showsRaw
    screen = LiveScreen(output)
  }

  func write(_ report: RangingReport, offset: WallClockOffset) throws {
    let present = Set(report.beacons.map(\.beacon))
    sparklines = sparklines.filter { present.contains($0.key) }
    for beacon in report.beacons {
      sparklines[beacon.beacon, default: Sparkline()].add(beacon.rssi)
    }
    lines = ["\(report.time.wallClockTime(offset))  \(report.beacons.count) beacons"]
    if regions.isEmpty { lines += table(report.beacons) }
    for region in regions {
      lines.append(region.title)
      lines += table(report.beacons.filter { region.constraint.matches($0.beacon) })
    }
    try draw()
  }

  var showsHealth: Bool { true }

  func write(trouble: String?, at moment: MonotonicTime, offset: WallClockOffset) throws {
    self.trouble = trouble
    try draw()
  }

  private func draw() throws {
    try screen.draw((trouble.map { [$0] } ?? []) + lines)
  }

  private func table(_ beacons: [RangedBeacon]) -> [String] {
    // A region has one UUID, and the line above says it.
    var columns: [(String, Table.Alignment)] = regions.isEmpty ? [("UUID", .left)] : []
    columns += [
      ("MAJOR", .right), ("MINOR", .right), ("PROXIMITY", .left),
      ("DISTANCE", .right), ("±", .right), ("RSSI", .right),
    ]
    if showsRaw { columns += [("SMOOTHED", .right), ("RAW DISTANCE", .right)] }
    columns.append(("SIGNAL", .left))
    var table = Table(columns)
    for beacon in beacons {
      var row = regions.isEmpty ? [beacon.beacon.uuid.description] : []
      row += [
        String(beacon.beacon.major), String(beacon.beacon.minor),
        beacon.proximity.name,
        beacon.estimate.map { "\(fixed($0.distance, 1)) m" } ?? "–",
        beacon.estimate.map { "\(fixed($0.standardDeviation, 1)) m" } ?? "–",
        beacon.rssi.map { String($0) } ?? "–",
      ]
      if showsRaw {
        row += [
          beacon.smoothed.map { fixed($0, 1) } ?? "–",
          beacon.rawDistance.map { "\(fixed($0, 1)) m" } ?? "–",
        ]
      }
      row.append(sparklines[beacon.beacon]?.text ?? "")
      table.add(row)
    }
    return table.lines
  }
}
