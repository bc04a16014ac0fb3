import Advertising
import Frontends
import Ranging
import Records
import Scanning
import ServiceCore

/// `range` as a table at the end, with each beacon's nearest distance, zones and sides.
final class VisitRangeWriter: ResultWriter {
  private struct Visit: Sendable {
    let beacon: BeaconIdentity
    var first: WallClockTime
    var last: WallClockTime
    var sightings = 0
    var nearest: (distance: Double, time: WallClockTime)?
    var zones = Changes()
    var sides = Changes()

    /// Zones and sides change with the report, as in `--on-change`.
    mutating func update(
      _ beacon: RangedBeacon, at received: WallClockTime, in report: WallClockTime
    ) {
      last = received
      sightings += beacon.sightings
      if beacon.proximity != .unknown { zones.add(beacon.proximity.name, at: report) }
      if let side = beacon.side { sides.add(side.rawValue, at: report) }
      if let distance = beacon.estimate?.distance, distance < nearest?.distance ?? .infinity {
        nearest = (distance, received)
      }
    }
  }

  private struct Changes: Sendable {
    private var names: [(name: String, time: WallClockTime)] = []

    private static let maximumShown = 8

    mutating func add(_ name: String, at time: WallClockTime) {
      guard name != names.last?.name else { return }
      names.append((name, time))
      // The first and the last changes are kept, in bounded memory.
      if names.count > 64 { names.remove(at: 8) }
    }

    func text(_ zone: ClockZone) -> String {
      let changes = names.map { "\($0.name) \(zone.clock($0.time))" }
      guard changes.count > Self.maximumShown else { return changes.joined(separator: " → ") }
      let half = Self.maximumShown / 2
      return (changes.prefix(half) + ["…"] + changes.suffix(half)).joined(separator: " → ")
    }
  }

  private let output: StandardOutput
  private let regions: [NamedRegion]
  private let columns: [Column<Visit>]
  private var visits = BeaconTable<Visit>(capacity: 4096)

  init(output: StandardOutput, regions: [NamedRegion], showsSides: Bool) {
    self.output = output
    self.regions = regions
    let zone = output.zone
    columns =
      Self.columns + [
        Column("AT", priority: .detail) { $0.nearest.map { zone.clock($0.time) } },
        Column("ZONES", priority: .main, fit: .cut(to: 12)) { $0.zones.text(zone) },
      ]
      + (showsSides ? [Column("SIDES", fit: .cut(to: 12)) { $0.sides.text(zone) }] : [])
  }

  func write(_ report: RangingReport) throws {
    let offset = report.wallClockOffset
    for beacon in report.beacons where beacon.sightings > 0 {
      let received = beacon.lastReceived.wallClockTime(offset)
      visits.update(beacon.beacon, at: beacon.lastReceived) {
        Visit(
          beacon: beacon.beacon, first: beacon.firstReceived.wallClockTime(offset), last: received)
      } update: { visit in
        visit.update(beacon, at: received, in: report.wallClockTime)
      }
    }
  }

  func end(_ summary: ScanSummary) throws { try end(summary, height: nil) }

  /// Writes the table, or those rows of each region that fit a height.
  func end(_ summary: ScanSummary, height: Int?) throws {
    let named: [NamedRegion?] = regions.isEmpty ? [nil] : regions
    for region in named {
      let rows = visits.entries.map(\.state).filter {
        region?.constraint.matches($0.beacon) ?? true
      }.sorted { ($0.nearest?.distance ?? .infinity) < ($1.nearest?.distance ?? .infinity) }
      if let region { try output.write("\(region.title)\n") }
      guard !rows.isEmpty else {
        try output.write("no beacon was received\n")
        continue
      }
      // The name or the line above contains the region's UUID.
      let table = output.table(Array(columns.dropFirst(region == nil ? 0 : 1)))
      try output.write(lines: height.map { table.lines(rows, height: $0) } ?? table.lines(rows))
    }
    if summary.evictions > 0 {
      try output.write(
        "\(counted(summary.evictions, "beacon")) made room for others; not all are shown\n")
    }
  }

  private static let columns: [Column<Visit>] =
    RecordType(nil, Field.identity { $0.beacon }).columns + [
      Column("SIGHTINGS", .right) { String($0.sightings) },
      Column("FROM", priority: .detail, time: \.first),
      Column("TO", priority: .detail, time: \.last),
      Column("NEAREST", .right, priority: .main) { fixed($0.nearest?.distance, 1, "m") },
    ]
}
