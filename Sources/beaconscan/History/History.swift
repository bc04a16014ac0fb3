import Advertising
import KioskService
import Records
import Scanning
import ServiceCore
import Storage
import SystemPackage

struct History {
  private let store: StoreReader

  /// Opens a file, by default that of the service on this machine.
  init(path: String?) throws { store = try StoreReader(path ?? StatePath.history().string) }

  var regionWidth: Int {
    get throws {
      try store.regions()
        .lazy.map(\.columns).max().map { min($0, 40) } ?? 6
    }
  }

  func forEachEntry(
    _ range: EntryQuery, kinds: Set<String> = EventFormat.historyKinds,
    _ body: (StoredEntry) throws -> Void
  ) throws {
    var query = range
    query.kinds = kinds
    try store.forEachEntry(query, body)
  }

  func stays(_ range: EntryQuery, in zone: ClockZone) throws -> [RegionStays] {
    var stays: [String: RegionStays] = [:]
    try forEachEntry(range, kinds: ["exit"]) { entry in
      guard let region = entry.region, let dwell = entry.dwell, dwell >= 0, dwell.isFinite else {
        return
      }
      let end = WallClockTime(microseconds: entry.time)
      stays[region, default: RegionStays(region: region)]
        .add(dwell, hours: zone.hours(of: dwell, until: end))
    }
    return stays.values.sorted { $0.region < $1.region }
  }

  func presence(_ range: EntryQuery) throws -> [HourlyPresence] {
    try store.presence(since: range.since, until: range.until)
      .compactMap { presence in
        BeaconIdentity(stored: presence.beacon).map {
          HourlyPresence(presence: presence, beacon: $0)
        }
      }
  }

  /// Returns the times of occupation up to `until`, `now` or the last entry, or `nil` for none.
  func plot(_ range: EntryQuery, now: WallClockTime?) throws -> HistoryPlot? {
    var newest: Int64?
    try forEachEntry(EntryQuery(limit: 1, leavesNewest: true)) { newest = $0.time }
    guard let end = range.until ?? now?.microseconds ?? newest else { return nil }
    var plot = HistoryPlot(
      from: range.since.map { WallClockTime(microseconds: $0) },
      to: WallClockTime(microseconds: end))
    // Earlier entries define the states at the start.
    let all = EntryQuery(until: range.until, region: range.region)
    try forEachEntry(all, kinds: ["enter", "exit", "state"]) { plot.add($0) }
    return plot.hasRegions ? plot : nil
  }

  func emptiness(_ range: EntryQuery) throws -> String {
    let names = try store.regions()
    if let region = range.region, !names.contains(region) {
      let known =
        names.isEmpty
        ? "it has none"
        : "it has " + names.prefix(10).joined(separator: ", ")
          + (names.count > 10 ? " and \(names.count - 10) more" : "")
      return "\(store.path): the history has no region '\(region)'; \(known)"
    }
    return try store.lastID == 0
      ? "\(store.path): nothing has happened yet" : "\(store.path): nothing happened in this time"
  }
}

extension CommandError {
  init(history error: StorageError) {
    switch error.problem {
    case .noHome: self.init(.usage, "\(error)")
    case .failed(_, .noSuchFileOrDirectory), .failed(_, .notDirectory):
      self.init(
        .noInput,
        "\(error.file): there is no history here; beaconscan serve writes one, or name its file with "
          + "--database FILE")
    case .failed(_, .permissionDenied), .failed(_, .notPermitted):
      self.init(
        .noPermission,
        "\(error.file): this user may not read the history; use sudo, or name another file with --database "
          + "FILE")
    case .failed(_, let errno): self.init(Status(reading: errno), "\(error)")
    case .notAFile: self.init(.noInput, "\(error)")
    case .sqlite, .inUse: self.init(.ioError, "\(error)")
    default: self.init(.badData, "\(error)")
    }
  }
}

extension BeaconIdentity {
  init?(stored text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let uuid = ProximityUUID(String(parts[0])),
      let major = UInt16(parts[1]), let minor = UInt16(parts[2])
    else { return nil }
    self.init(uuid: uuid, major: major, minor: minor)
  }
}

extension ClockZone {
  /// Returns the seconds of a stay by hour of the day, for its last year at most.
  fileprivate func hours(
    of length: Double, until end: WallClockTime
  ) -> [(hour: Int, seconds: Double)] {
    var parts: [(hour: Int, seconds: Double)] = []
    var left = min(length, 366 * 86400)
    var time = end.advanced(by: -Int64(left * 1e9))
    while left > 0 {
      let clock = clock(time).split(separator: ":").compactMap { Int($0) }
      guard clock.count == 3 else { break }
      let fraction = Double(time.nanoseconds % 1_000_000_000) / 1e9
      let part = min(left, 3600 - Double(clock[1] * 60 + clock[2]) - max(0, fraction))
      // A rounding error must not stop the loop.
      let step = max(part, 1e-6)
      parts.append((clock[0], min(part, left)))
      left -= step
      time = time.advanced(by: Int64(step * 1e9))
    }
    return parts
  }
}
