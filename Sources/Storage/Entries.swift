package struct StoredEntry: Hashable, Sendable {
  /// The identifier, which rises and is never reused within a ``Store/generation``.
  package var id: Int64
  /// The wall-clock time, in microseconds since 1970-01-01T00:00:00Z.
  package var time: Int64
  /// The kind of event, such as `enter`, `exit`, `state`, `health` or `visit`.
  package var kind: String
  /// The service and the group of clients that receive the entry; `nil` where no group does.
  package var recipients: Recipients?
  /// The identifier of the region or registration.
  package var region: String?
  /// The beacon that the record names, as `UUID:MAJOR:MINOR`.
  package var beacon: String?
  /// The record: one line without its line break.
  package var payload: [UInt8]
  /// The length of the stay that an exit ended, in seconds.
  package var dwell: Double?

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

  /// The key of the registration whose clients receive the entry; `nil` where there is none.
  var key: Store.Key? {
    guard let recipients, let region else { return nil }
    return Store.Key(service: recipients.service, group: recipients.group, identifier: region)
  }

  /// The length of the longest bounded part, in bytes.
  var bytes: Int {
    max(
      payload.count, region?.utf8.count ?? 0, beacon?.utf8.count ?? 0, kind.utf8.count,
      (recipients?.service.utf8.count ?? 0) + (recipients?.group.utf8.count ?? 0))
  }
}

/// The reception of a beacon within one hour.
package struct StoredPresence: Hashable, Sendable {
  package var beacon: String
  /// The number of hours since 1970-01-01T00:00:00Z.
  package var hour: Int64
  /// The time for which the beacon was present, in seconds; at most 3,600.
  package var seconds: Double
  package var sightings: Int64
  /// The number of sightings with a signal strength.
  package var samples: Int64
  /// The mean signal strength of the ``samples``, in dBm.
  package var meanRSSI: Double?
  /// The highest signal strength, in dBm.
  package var bestRSSI: Int64?
  /// Whether the record may use the room kept for registered regions when its hour is full.
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

package struct EntryQuery: Hashable, Sendable {
  /// The exclusive lower bound of identifiers.
  package var after: Int64?
  /// The inclusive upper bound of identifiers.
  package var through: Int64?
  /// The inclusive lower bound of times, in microseconds since 1970.
  package var since: Int64?
  /// The exclusive upper bound of times, in microseconds since 1970.
  package var until: Int64?
  package var region: String?
  package var kinds: Set<String>?
  package var limit: Int?
  /// Whether the limit keeps the newest entries instead of the oldest.
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

  /// Returns whether an entry matches, regardless of the limit.
  package func matches(id: Int64, time: Int64, kind: String, region: String?) -> Bool {
    id > after ?? .min && id <= through ?? .max && time >= since ?? .min && time < until ?? .max
      && (self.region == nil || self.region == region) && (kinds?.contains(kind) ?? true)
  }

  /// Returns the matching entries, which are in order, that remain within the limit.
  package func limited<Entry>(_ entries: [Entry]) -> [Entry] {
    guard let limit else { return entries }
    return Array(leavesNewest ? entries.suffix(max(0, limit)) : entries.prefix(max(0, limit)))
  }
}

package enum HistoryHour {
  package static let microseconds: Int64 = 3_600_000_000

  /// Returns the hour that contains a time in microseconds.
  package static func containing(_ time: Int64) -> Int64 {
    let (hour, rest) = time.quotientAndRemainder(dividingBy: microseconds)
    return rest < 0 ? hour - 1 : hour
  }
}

/// A range of identifiers that were given and whose entries are lost.
package struct EntryGap: Hashable, Sendable {
  package var first: Int64
  package var last: Int64
}

extension [EntryGap] {
  /// Inserts a gap into this ascending list, and merges it with the gaps that it touches.
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
