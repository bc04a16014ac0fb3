import Synchronization
import SystemPackage

/// A reader of a database's entries and presence, beside the store that writes it or on a read-only
/// medium. All members may be used from any thread.
///
/// ```swift
/// let query = EntryQuery(region: "lobby", limit: 100)
/// for entry in try StoreReader(path).entries(query) { show(entry) }
/// ```
package final class StoreReader: Sendable {
  package let path: String
  private let database: Mutex<Database>

  /// Opens a database, or a history of a version before 0.2. Resolves a relative path at once.
  package init(_ path: String) throws(StorageError) {
    let file = try StatePath.resolve(FilePath(path))
    // SQLite would wait for the other end of a pipe.
    let type: FileType
    do {
      type = try file.stat().type
    } catch {
      throw .failed("open", file, error)
    }
    guard type == .regular else { throw StorageError(file: file.string, problem: .notAFile) }
    self.path = file.string
    database = Mutex(try Schema.read(file))
  }

  /// Returns entries in ascending order of identifier.
  package func entries(_ query: EntryQuery = EntryQuery()) throws(StorageError) -> [StoredEntry] {
    try reading { database throws(StorageError) in
      let (filter, values) = Database.filter(query)
      // A history of a version before 0.2 has no recipients.
      let hasRecipients =
        try database.integer("PRAGMA application_id") == Schema.applicationIdentifier
      let columns = hasRecipients ? ", service, \"group\"" : ", NULL, NULL"
      let statement = try database.prepare(
        """
        SELECT id, time, kind, region, beacon, payload, dwell\(columns) FROM entry \(filter)
        ORDER BY id \(query.leavesNewest ? "DESC" : "") LIMIT ?
        """)
      try statement.bind(values + [.integer(query.limit.map { Int64(max(0, $0)) } ?? -1)])
      let entries = try statement.entries()
      return query.leavesNewest ? entries.reversed() : entries
    }
  }

  /// Calls a function with each entry, in ascending order of identifier, also with those stored
  /// meanwhile. At most 256 are in memory.
  package func forEachEntry<Failure: Error>(
    _ query: EntryQuery = EntryQuery(), _ body: (StoredEntry) throws(Failure) -> Void
  ) throws {
    var page = query
    var left = query.limit ?? .max
    if query.leavesNewest, let limit = query.limit {
      page.leavesNewest = false
      let first = try reading { database throws(StorageError) -> Int64? in
        let (filter, values) = Database.filter(query)
        let statement = try database.prepare(
          """
          SELECT min(id) FROM (SELECT id FROM entry \(filter) ORDER BY id DESC LIMIT ?)
          HAVING min(id) IS NOT NULL
          """)
        try statement.bind(values + [.integer(Int64(max(0, limit)))])
        return try statement.step() ? statement.integer(0) : nil
      }
      page.after = first.map { $0 - 1 } ?? query.after
    }
    while left > 0 {
      page.limit = min(left, 256)
      let found = try entries(page)
      for entry in found { try body(entry) }
      left -= found.count
      guard let last = found.last, found.count == page.limit else { return }
      page.after = last.id
    }
  }

  package func regions() throws(StorageError) -> [String] {
    try reading { database throws(StorageError) in
      let statement = try database.prepare(
        "SELECT DISTINCT region FROM entry WHERE region IS NOT NULL ORDER BY region")
      return try statement.rows { $0.text(0) }
    }
  }

  /// The highest identifier of a stored entry; 0 if there is none.
  package var lastID: Int64 {
    get throws(StorageError) { try integer("SELECT ifnull(max(id), 0) FROM entry") }
  }

  /// The highest identifier that the bounds of the history removed; 0 if there is none.
  package var trimmedThrough: Int64 {
    get throws(StorageError) {
      try integer("SELECT ifnull(max(value), 0) FROM setting WHERE name = 'trimmed'")
    }
  }

  /// Returns a beacon's presence, or that of all, by hour and beacon: the hours that end after
  /// `since` and begin before `until`, both in microseconds.
  package func presence(
    since: Int64? = nil, until: Int64? = nil, beacon: String? = nil
  ) throws(StorageError) -> [StoredPresence] {
    try reading { database throws(StorageError) in
      let statement = try database.prepare(
        """
        SELECT beacon, hour, seconds, sightings, samples, sum, best, best IS NULL FROM presence
        WHERE hour >= ?1 AND hour < ?2 AND (?3 IS NULL OR beacon = ?3) ORDER BY hour, beacon
        """)
      try statement.bind([
        .integer(since.map(HistoryHour.containing) ?? .min),
        // The range excludes an hour that begins exactly then.
        .integer(until.map { HistoryHour.containing($0 &- 1) &+ 1 } ?? .max),
        .text(beacon),
      ])
      return try statement.rows { row in
        let samples = row.integer(4)
        return StoredPresence(
          beacon: row.text(0), hour: row.integer(1), seconds: row.real(2) ?? 0,
          sightings: row.integer(3), samples: samples,
          meanRSSI: samples > 0 ? (row.real(5) ?? 0) / Double(samples) : nil,
          bestRSSI: row.integer(7) == 0 ? row.integer(6) : nil)
      }
    }
  }

  private func integer(_ text: String) throws(StorageError) -> Int64 {
    try reading { database throws(StorageError) in try database.integer(text) }
  }

  private func reading<Result: Sendable>(
    _ body: @Sendable (borrowing Database) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try database.withLock { database throws(StorageError) in
      do throws(StorageError) {
        return try body(database)
      } catch {
        throw error.ofRightQuery
      }
    }
  }
}

extension Database {
  /// Returns whether SQLite's check, which reads the whole database, finds no damage.
  func isWhole() throws(StorageError) -> Bool {
    do throws(StorageError) {
      let check = try prepare("PRAGMA quick_check(1)")
      return try check.step() && check.text(0) == "ok"
    } catch {
      if case .damaged = error.ofRightQuery.problem { return false }
      throw error
    }
  }

  fileprivate static func filter(_ query: EntryQuery) -> (text: String, values: [Statement.Value]) {
    var conditions: [String] = []
    var values: [Statement.Value] = []
    func require(_ condition: String, _ value: Statement.Value?) {
      guard let value else { return }
      conditions.append(condition)
      values.append(value)
    }
    require("id > ?", query.after.map { .integer($0) })
    require("id <= ?", query.through.map { .integer($0) })
    require("time >= ?", query.since.map { .integer($0) })
    require("time < ?", query.until.map { .integer($0) })
    require("region = ?", query.region.map { .text($0) })
    if let kinds = query.kinds {
      let places = Array(repeating: "?", count: kinds.count).joined(separator: ", ")
      conditions.append("kind IN (\(places))")
      values += kinds.sorted().map { .text($0) }
    }
    let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
    return (filter, values)
  }

  static var selection: String {
    "SELECT id, time, kind, region, beacon, payload, dwell, service, \"group\" FROM entry"
  }
}

extension Statement {
  func entries() throws(StorageError) -> [StoredEntry] {
    try rows { row in
      var recipients: StoredEntry.Recipients?
      if let service = row.name(7), let group = row.name(8) {
        recipients = StoredEntry.Recipients(service: service, group: group)
      }
      return StoredEntry(
        id: row.integer(0), time: row.integer(1), kind: row.text(2), recipients: recipients,
        region: row.name(3), beacon: row.name(4), payload: row.bytes(5) ?? [], dwell: row.real(6))
    }
  }

  private func name(_ column: Int32) -> String? {
    bytes(column).map { String(decoding: $0, as: UTF8.self) }
  }
}
