import Bytes
import Records
import Scanning
import ServiceCore
import Storage

/// The occupation of each region over time, as lines of blocks.
struct HistoryPlot {
  private struct Region {
    var start: WallClockTime?
    var stays: [(start: WallClockTime, end: WallClockTime)] = []
  }

  private let start: WallClockTime?
  private let end: WallClockTime
  private var regions: [String: Region] = [:]
  private var first: WallClockTime?

  /// Without a start, the plot begins with the first entry.
  init(from start: WallClockTime?, to end: WallClockTime) {
    self.start = start
    self.end = end
  }

  var hasRegions: Bool { !regions.isEmpty }

  /// Adds an entry. They must be in order, oldest first.
  mutating func add(_ entry: StoredEntry) {
    guard let name = entry.region else { return }
    let time = WallClockTime(microseconds: entry.time)
    var region = regions[name] ?? Region()
    first = first ?? time
    let record = JSONValue(record: entry)
    // If each beacon is reported, others may remain after an exit.
    let isOccupied =
      record["beacons"]?.asInt.map { $0 > 0 }
      ?? (entry.kind == "enter" || entry.kind == "state" && record["state"]?.asString == "inside")
    if isOccupied {
      region.start = region.start ?? time
    } else {
      // The entry may be older than the history.
      let begin = region.start ?? entry.dwell.map { time.advanced(by: -Int64(min($0, 1e9) * 1e9)) }
      if let begin, begin >= start ?? begin || time >= start ?? time {
        region.stays.append((begin, time))
      }
      region.start = nil
    }
    regions[name] = region
  }

  /// Returns a line for each region, the times, and a legend, or `nil` if no time is covered.
  func drawing(width: Int, zone: ClockZone) -> (lines: [String], legend: String)? {
    let starts = regions.values.lazy.compactMap { $0.stays.first?.start }
    guard let begin = start ?? [first, starts.min()].compactMap({ $0 }).min(), begin < end else {
      return nil
    }
    let longest = regions.keys.lazy.map(\.columns).max() ?? 0
    let nameWidth = min(longest, max(8, width / 4))
    let count = max(8, width - nameWidth - 1)
    let column = Double(end.nanoseconds(since: begin)) / Double(count)
    var lines: [String] = []
    for (name, region) in regions.sorted(by: { $0.key < $1.key }) {
      var shares = [Double](repeating: 0, count: count)
      let open = region.start.map { [($0, end)] } ?? []
      for (from, to) in region.stays + open {
        let places = [from, to].map {
          min(max(0, Double($0.nanoseconds(since: begin)) / column), Double(count))
        }
        let cells = places.map { min(Int($0), count - 1) }
        guard cells[0] <= cells[1] else { continue }
        for index in cells[0]...cells[1] {
          let part = min(places[1], Double(index + 1)) - max(places[0], Double(index))
          shares[index] += max(part, 0)
        }
      }
      let name = name.printable.cut(to: nameWidth)
      lines.append(
        name + String(repeating: " ", count: max(0, nameWidth - name.columns) + 1)
          + blocks(shares, full: 0.999))
    }
    let left = zone.text(begin, digits: 0)
    let right = zone.text(end, digits: 0)
    let indent = String(repeating: " ", count: nameWidth + 1)
    let gap = count - left.columns - right.columns
    if gap > 0 {
      lines.append(indent + left + String(repeating: " ", count: gap) + right)
    } else {
      lines += [left, right]
    }
    return (
      lines, "A column is \(timeSpan(column / 1e9)); a full block is occupied all the time."
    )
  }
}
