import Advertising
import Ranging
import Records
import Scanning
import ServiceCore

/// `range` as a plain table at the end: the beacons, how near they came, and through which zones.
final class VisitRangeWriter: ResultWriter {
  private struct Visit: Sendable {
    let beacon: BeaconIdentity
    var first: WallClockTime
    var last: WallClockTime
    var sightings = 0
    var nearest: (distance: Double, time: WallClockTime)?
    var zones: [(zone: Proximity, time: WallClockTime)] = []

    mutating func update(_ beacon: RangedBeacon, at received: WallClockTime) {
      last = received
      sightings += beacon.sightings
      if beacon.proximity != .unknown, beacon.proximity != zones.last?.zone {
        zones.append((beacon.proximity, received))
        // Bounded, whatever a beacon does: the first and the last changes are kept.
        if zones.count > 64 { zones.remove(at: 8) }
      }
      if let distance = beacon.estimate?.distance, distance < nearest?.distance ?? .infinity {
        nearest = (distance, received)
      }
    }
  }

  private let output: StandardOutput
  private let regions: [NamedRegion]
  private var visits = BeaconTable<Visit>(capacity: 4096)

  /// Zone changes that are shown of one beacon; the middle ones are counted.
  private static let maximumZones = 8

  init(output: StandardOutput, regions: [NamedRegion]) {
    (self.output, self.regions) = (output, regions)
  }

  func write(_ report: RangingReport) throws {
    let offset = report.wallClockOffset
    for beacon in report.beacons where beacon.sightings > 0 {
      let received = beacon.lastReceived.wallClockTime(offset)
      visits.update(beacon.beacon, at: beacon.lastReceived) {
        Visit(
          beacon: beacon.beacon, first: beacon.firstReceived.wallClockTime(offset), last: received)
      } update: { visit in
        visit.update(beacon, at: received)
      }
    }
  }

  func end(_ summary: ScanSummary) throws {
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
      // A region has one UUID, and its name or the line above has it.
      let table = Table(Array(Self.columns.dropFirst(region == nil ? 0 : 1)))
      try output.write(lines: table.lines(rows))
    }
    if summary.evictions > 0 {
      try output.write("\(summary.evictions) beacons made room for others and are not all shown\n")
    }
  }

  private static let columns: [Column<Visit>] =
    RecordType(nil, Field.identity { $0.beacon }).columns + [
      Column("SIGHTINGS", .right) { String($0.sightings) }, Column("FROM") { $0.first.clock },
      Column("TO") { $0.last.clock },
      Column("NEAREST", .right) { fixed($0.nearest?.distance, 1, "m") },
      Column("AT") { $0.nearest?.time.clock }, Column("ZONES") { zones($0) },
    ]

  private static func zones(_ visit: Visit) -> String {
    let changes = visit.zones.map { "\($0.zone.name) \($0.time.clock.prefix(8))" }
    guard changes.count > maximumZones else { return changes.joined(separator: " → ") }
    let shown = changes.prefix(maximumZones / 2) + ["…"] + changes.suffix(maximumZones / 2)
    return shown.joined(separator: " → ")
  }
}
