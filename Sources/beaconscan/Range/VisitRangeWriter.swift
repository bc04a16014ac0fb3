import Advertising
import CoreLocation
import Ranging
import Scanning

/// `range` as a plain table at the end: who came, how near, and through which zones.
final class VisitRangeWriter: RangeWriter {
  private struct Visit {
    var first: WallClockTime
    var last: WallClockTime
    var sightings = 0
    var nearest: Double?
    var nearestTime: WallClockTime?
    var zones: [(zone: Proximity, time: WallClockTime)] = []

    mutating func note(_ beacon: RangedBeacon, at heard: WallClockTime) {
      last = heard
      sightings += beacon.sightings
      if beacon.proximity != .unknown, beacon.proximity != zones.last?.zone {
        zones.append((beacon.proximity, heard))
        // Bounded, whatever a beacon does: the first and the last changes are kept.
        if zones.count > 64 { zones.remove(at: 8) }
      }
      if let distance = beacon.estimate?.distance, distance < nearest ?? .infinity {
        nearest = distance
        nearestTime = heard
      }
    }
  }

  private let output: StandardOutput
  private let regions: [NamedRegion]
  private var visits = BeaconTable<Visit>(capacity: 4096)

  /// Zone changes that are shown of one beacon; the middle ones are counted.
  private static let mostZones = 8

  init(output: StandardOutput, regions: [NamedRegion]) {
    self.output = output
    self.regions = regions
  }

  func write(_ report: RangingReport, offset: WallClockOffset) throws {
    for beacon in report.beacons where beacon.sightings > 0 {
      let heard = beacon.lastReceived.wallClockTime(offset)
      visits.update(beacon.beacon, at: beacon.lastReceived) {
        Visit(first: beacon.firstReceived.wallClockTime(offset), last: heard)
      } update: { visit in
        visit.note(beacon, at: heard)
      }
    }
  }

  func end(counts: ScanCounts, beacons: Int, evictions: Int) throws {
    let named: [NamedRegion?] = regions.isEmpty ? [nil] : regions
    for region in named {
      let entries = visits.entries.filter { entry in
        region?.constraint.matches(entry.beacon) ?? true
      }.sorted { ($0.state.nearest ?? .infinity) < ($1.state.nearest ?? .infinity) }
      if let region { try output.write("\(region.title)\n") }
      guard !entries.isEmpty else {
        try output.write("no beacon was heard\n")
        continue
      }
      // A region has one UUID, and its name or the line above says it.
      var table = Table(
        (region == nil ? [("UUID", Table.Alignment.left)] : []) + [
          ("MAJOR", .right), ("MINOR", .right), ("HEARD", .right), ("FROM", .left),
          ("TO", .left), ("NEAREST", .right), ("AT", .left), ("ZONES", .left),
        ])
      for entry in entries {
        let visit = entry.state
        table.add(
          (region == nil ? [entry.beacon.uuid.description] : []) + [
            String(entry.beacon.major), String(entry.beacon.minor),
            String(visit.sightings), visit.first.clock, visit.last.clock,
            visit.nearest.map { "\(fixed($0, 1)) m" } ?? "–",
            visit.nearestTime?.clock ?? "–", zones(visit),
          ])
      }
      for line in table.lines { try output.write(line + "\n") }
    }
    if evictions > 0 {
      try output.write("\(evictions) beacons made room for others and are not all shown\n")
    }
  }

  private func zones(_ visit: Visit) -> String {
    let changes = visit.zones.map { "\($0.zone.name) \($0.time.clock.prefix(8))" }
    guard changes.count > Self.mostZones else { return changes.joined(separator: " → ") }
    let shown = changes.prefix(Self.mostZones / 2) + ["…"] + changes.suffix(Self.mostZones / 2)
    return shown.joined(separator: " → ")
  }
}
