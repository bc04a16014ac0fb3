/// Something that happened, as a store keeps it.
package struct StoredEntry: Hashable, Sendable {
  /// The identifier, which rises from entry to entry and is never used again in a store's ``Store/generation``.
  package var id: Int64
  /// The wall-clock time, in microseconds since 1970-01-01T00:00:00Z.
  package var time: Int64
  /// The kind of event, such as `enter`, `exit`, `state`, `health` or `visit`.
  package var kind: String
  /// The service and the group of clients that the entry is for; `nil` where no group receives it.
  package var recipients: Recipients?
  /// The region, or the registration's identifier.
  package var region: String?
  /// The beacon that the record names, as `UUID:MAJOR:MINOR`.
  package var beacon: String?
  /// The record: one line without its end.
  package var payload: [UInt8]
  /// The length of the stay that an exit ended, in seconds.
  package var dwell: Double?

  /// The service and the group of clients that an entry is for.
  package struct Recipients: Hashable, Sendable {
    package var service: String
    package var group: String

    package init(service: String, group: String) {
      self.service = service
      self.group = group
    }
  }

  package init(
    id: Int64, time: Int64, kind: String, recipients: Recipients? = nil, region: String? = nil,
    beacon: String? = nil, payload: [UInt8], dwell: Double? = nil
  ) {
    self.id = id
    self.time = time
    self.kind = kind
    self.recipients = recipients
    self.region = region
    self.beacon = beacon
    self.payload = payload
    self.dwell = dwell
  }

  /// The length of the longest part that has a bound, in bytes.
  var bytes: Int {
    max(
      payload.count, region?.utf8.count ?? 0, beacon?.utf8.count ?? 0, kind.utf8.count,
      (recipients?.service.utf8.count ?? 0) + (recipients?.group.utf8.count ?? 0))
  }
}

/// How long and how strongly a beacon was received in an hour.
package struct StoredPresence: Hashable, Sendable {
  /// The beacon as `UUID:MAJOR:MINOR`.
  package var beacon: String
  /// The hours since 1970-01-01T00:00:00Z.
  package var hour: Int64
  /// The time in which it was present, in seconds; 3,600 at most.
  package var seconds: Double
  package var sightings: Int64
  /// The sightings that had a signal strength.
  package var samples: Int64
  /// The mean signal strength of the ``samples``, in dBm.
  package var meanRSSI: Double?
  /// The highest signal strength, in dBm.
  package var bestRSSI: Int64?
  /// Whether it is stored although its hour has beacons enough, as that of a registered region is.
  package var isProtected: Bool

  package init(
    beacon: String, hour: Int64, seconds: Double, sightings: Int64, samples: Int64 = 0,
    meanRSSI: Double? = nil, bestRSSI: Int64? = nil, isProtected: Bool = false
  ) {
    self.beacon = beacon
    self.hour = hour
    self.seconds = seconds
    self.sightings = sightings
    self.samples = samples
    self.meanRSSI = meanRSSI
    self.bestRSSI = bestRSSI
    self.isProtected = isProtected
  }
}

/// The entries that a reader wants.
package struct EntryQuery: Hashable, Sendable {
  /// Entries whose identifiers are higher than this one.
  package var after: Int64?
  /// Entries whose identifiers are this one or lower.
  package var through: Int64?
  /// Entries at this time or later, in microseconds.
  package var since: Int64?
  /// Entries before this time, in microseconds.
  package var until: Int64?
  package var region: String?
  package var kinds: Set<String>?
  package var limit: Int?
  /// Whether the limit leaves the newest of the entries, instead of the oldest.
  package var leavesNewest: Bool

  package init(
    after: Int64? = nil, through: Int64? = nil, since: Int64? = nil, until: Int64? = nil,
    region: String? = nil, kinds: Set<String>? = nil, limit: Int? = nil,
    leavesNewest: Bool = false
  ) {
    self.after = after
    self.through = through
    self.since = since
    self.until = until
    self.region = region
    self.kinds = kinds
    self.limit = limit
    self.leavesNewest = leavesNewest
  }

  /// Returns whether an entry is one of those that are wanted, whatever the limit.
  package func matches(
    id: Int64, time: Int64, kind: String, region: String?
  ) -> Bool {
    id > after ?? .min && id <= through ?? .max && time >= since ?? .min && time < until ?? .max
      && (self.region == nil || self.region == region) && (kinds?.contains(kind) ?? true)
  }

  /// Returns the entries that the limit leaves of those that are wanted, which are in their order.
  package func limited<Entry>(_ entries: [Entry]) -> [Entry] {
    guard let limit else { return entries }
    return Array(leavesNewest ? entries.suffix(max(0, limit)) : entries.prefix(max(0, limit)))
  }
}

/// The hours of ``StoredPresence``.
package enum HistoryHour {
  /// The length of an hour, in microseconds.
  package static let microseconds: Int64 = 3_600_000_000

  /// Returns the hour that contains a time in microseconds.
  package static func containing(_ time: Int64) -> Int64 {
    let (hour, rest) = time.quotientAndRemainder(dividingBy: microseconds)
    return rest < 0 ? hour - 1 : hour
  }
}

/// Identifiers that were given and whose entries are gone.
package struct EntryGap: Hashable, Sendable {
  package var first: Int64
  package var last: Int64
}

extension [EntryGap] {
  /// Adds a gap to those that are there, by rising identifier; of two that touch, it makes one.
  mutating func insert(_ gap: EntryGap) {
    var merged = gap
    let start = firstIndex { $0.last >= gap.first - 1 } ?? count
    let end = self[start...].firstIndex { $0.first > gap.last + 1 } ?? count
    for other in self[start..<end] {
      merged = EntryGap(
        first: Swift.min(merged.first, other.first), last: Swift.max(merged.last, other.last))
    }
    replaceSubrange(start..<end, with: [merged])
  }
}
