package import Scanning
import Storage

/// An event in the journal: a region was entered, a visit ended, reception was lost.
package struct JournalEntry: Sendable {
  /// The identifier, which rises, also over restarts, and is never reused; 0 before it is given.
  package internal(set) var id: Int64 = 0
  /// The event; `nil` for an entry of an earlier process.
  package internal(set) var event: (any ServiceEvent)?
  /// The kind of event, such as `enter`, `exit`, `state`, `health` or `visit`.
  package let kind: String
  package let wallClockTime: WallClockTime
  package let region: String?
  package let beacon: String?
  /// The length of the stay that an exit ended, in seconds.
  package let dwell: Double?
  /// The event in its stored form: one line of JSON without its line break.
  package let record: [UInt8]
  /// The format's value for the observer; `nil` afterward and for an entry of an earlier process.
  package internal(set) var detail: (any Sendable)?

  package init(
    kind: String, wallClockTime: WallClockTime, region: String? = nil, beacon: String? = nil,
    dwell: Double? = nil, record: [UInt8], detail: (any Sendable)? = nil
  ) {
    self.kind = kind
    self.wallClockTime = wallClockTime
    self.region = region
    self.beacon = beacon
    self.dwell = dwell
    self.record = record
    self.detail = detail
  }

  /// Creates an entry of an earlier process.
  init(_ stored: StoredEntry) {
    self.init(
      kind: stored.kind, wallClockTime: WallClockTime(microseconds: stored.time),
      region: stored.region, beacon: stored.beacon, dwell: stored.dwell, record: stored.payload)
    id = stored.id
  }

  /// Returns the entry of an event that gets an identifier.
  package func numbered(_ id: Int64, _ event: any ServiceEvent) -> JournalEntry {
    var entry = self
    entry.id = id
    entry.event = event
    return entry
  }

  func stored(for recipients: StoredEntry.Recipients?) -> StoredEntry {
    StoredEntry(
      id: id, time: wallClockTime.microseconds, kind: kind, recipients: recipients,
      region: region, beacon: beacon, payload: record, dwell: dwell)
  }
}

/// A change that the journal's observer receives, in order.
package enum JournalChange: Sendable {
  case entry(JournalEntry)
  /// A registration was stored: its service, group, identifier, definition, and state.
  case registered(String, ClientGroup, String, any Sendable, state: (any Sendable)?)
  /// A registration was removed: its service, group, and identifier.
  case unregistered(String, ClientGroup, String)
}

extension WallClockTime {
  /// The microseconds since 1970-01-01T00:00:00Z, rounded down.
  package var microseconds: Int64 { nanoseconds / 1000 - (nanoseconds % 1000 < 0 ? 1 : 0) }

  package init(microseconds: Int64) {
    let (product, overflow) = microseconds.multipliedReportingOverflow(by: 1000)
    self.init(nanoseconds: overflow ? (microseconds < 0 ? .min : .max) : product)
  }
}

/// The text with which a client continues after an entry, such as `e0bcc55d-17`.
package struct EntryID: Hashable, Sendable, CustomStringConvertible {
  /// Distinguishes the identifiers of a database, or of a process without one, from others.
  package let generation: String
  package let number: Int64

  package var description: String { "\(generation)-\(number)" }
}

extension EntryID {
  package init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 8,
      parts[0].allSatisfy({ $0.isHexDigit && !$0.isUppercase }), parts[1].utf8.count <= 19,
      parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(parts[1])
    else { return nil }
    self.init(generation: String(parts[0]), number: number)
  }
}
