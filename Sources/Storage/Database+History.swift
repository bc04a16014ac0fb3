import SystemPackage

/// The statements of a ``HistoryStore``.
extension Database {
  /// Returns the database's identifier, after a look at each of its tables.
  func historyGeneration() throws(StorageError) -> String {
    do throws(StorageError) {
      for table in ["entry ORDER BY id", "entry ORDER BY time", "presence ORDER BY hour"] {
        for direction in ["", " DESC"] {
          _ = try prepare("SELECT * FROM \(table)\(direction) LIMIT 1").step()
        }
      }
      _ = try integer("SELECT count(*) FROM sqlite_sequence")
      let setting = try prepare("SELECT value FROM setting WHERE name = 'generation'")
      guard try setting.step() else {
        throw StorageError(file: path.string, problem: .damaged("it has no generation"))
      }
      return setting.text(0)
    } catch {
      throw error.ofRightQuery
    }
  }

  /// Returns whether SQLite's check finds no damage. It reads the whole database.
  func isWhole() throws(StorageError) -> Bool {
    do throws(StorageError) {
      let check = try prepare("PRAGMA quick_check(1)")
      return try check.step() && check.text(0) == "ok"
    } catch {
      if case .damaged = error.ofRightQuery.problem { return false }
      throw error
    }
  }

  /// Returns the entry up to which each receiver has all.
  func marks() throws(StorageError) -> [String: Int64] {
    let setting = try prepare("SELECT value FROM setting WHERE name = 'marks'")
    guard try setting.step() else { return [:] }
    let lines = setting.text(0).split(separator: "\n").map { $0.split(separator: " ") }
    let marks = lines.compactMap { line in
      line.count == 2 ? Int64(line[1]).map { (String(line[0]), $0) } : nil
    }
    return Dictionary(marks, uniquingKeysWith: min)
  }

  func setMarks(_ marks: [String: Int64]) throws(StorageError) {
    let lines = marks.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }
    try prepare("INSERT OR REPLACE INTO setting VALUES ('marks', ?)").run([.text(lines.joined())])
  }

  /// Stores entries that are not there yet, and marks in place of those before, and returns the entries' identifiers.
  func append(
    _ entries: [HistoryStore.Entry], skipping: Int, marks: [String: Int64]?
  ) throws(StorageError) -> [Int64] {
    var ids: [Int64] = []
    guard !entries.isEmpty || marks != nil else { return ids }
    try transaction { database throws(StorageError) in
      ids = []
      if let marks { try database.setMarks(marks) }
      if skipping > 0 {
        // SQLite makes the line with the first entry.
        try database.execute(
          """
          INSERT INTO sqlite_sequence (name, seq) SELECT 'entry', 0
          WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'entry')
          """)
        try database.execute(
          "UPDATE sqlite_sequence SET seq = seq + \(skipping) WHERE name = 'entry'")
      }
      let find = try database.prepare(
        """
        SELECT id FROM entry WHERE time = ?1 AND kind = ?2 AND region IS ?3 AND beacon IS ?4
        AND (?3 IS NOT NULL OR payload = ?5)
        """)
      let insert = try database.prepare(
        """
        INSERT INTO entry (time, kind, region, beacon, payload, dwell) VALUES (?, ?, ?, ?, ?, ?)
        """)
      for entry in entries {
        let values: [Statement.Value] = [
          .integer(entry.time), .text(entry.kind), .text(entry.region), .text(entry.beacon),
          .bytes(entry.payload),
        ]
        try find.bind(values)
        if try find.step() {
          ids.append(find.integer(0))
        } else {
          try insert.run(values + [.real(entry.dwell)])
          ids.append(database.lastRow)
        }
      }
    }
    return ids
  }

  /// Returns the conditions of a query and the values in them.
  private static func filter(
    _ query: HistoryStore.Query
  ) -> (text: String, values: [Statement.Value]) {
    var conditions: [String] = []
    var values: [Statement.Value] = []
    func require(_ condition: String, _ value: Statement.Value?) {
      guard let value else { return }
      conditions.append(condition)
      values.append(value)
    }
    require("id > ?", query.after.map { .integer($0) })
    require("id < ?", query.before.map { .integer($0) })
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

  /// Returns the identifier of the first one of the newest entries; `nil` where there is none.
  func firstOfNewest(
    _ count: Int, _ query: HistoryStore.Query
  ) throws(StorageError) -> Int64? {
    let (filter, values) = Self.filter(query)
    let statement = try prepare(
      """
      SELECT min(id) FROM (SELECT id FROM entry \(filter) ORDER BY id DESC LIMIT ?)
      HAVING min(id) IS NOT NULL
      """)
    try statement.bind(values + [.integer(Int64(max(0, count)))])
    return try statement.step() ? statement.integer(0) : nil
  }

  func entries(_ query: HistoryStore.Query) throws(StorageError) -> [HistoryStore.Entry] {
    let (filter, values) = Self.filter(query)
    let statement = try prepare(
      """
      SELECT id, time, kind, region, beacon, payload, dwell FROM entry \(filter)
      ORDER BY id \(query.leavesNewest ? "DESC" : "") LIMIT ?
      """)
    try statement.bind(values + [.integer(query.limit.map { Int64(max(0, $0)) } ?? -1)])
    var entries: [HistoryStore.Entry] = []
    while try statement.step() {
      entries.append(
        HistoryStore.Entry(
          id: statement.integer(0), time: statement.integer(1), kind: statement.text(2),
          region: statement.name(3), beacon: statement.name(4), payload: statement.bytes(5) ?? [],
          dwell: statement.real(6)))
    }
    return query.leavesNewest ? entries.reversed() : entries
  }

  func regions() throws(StorageError) -> [String] {
    let statement = try prepare(
      "SELECT DISTINCT region FROM entry WHERE region IS NOT NULL ORDER BY region")
    var regions: [String] = []
    while try statement.step() { regions.append(statement.text(0)) }
    return regions
  }

  /// Adds presence, and returns how many there was no room for.
  func add(
    _ presence: [HistoryStore.Presence], maximum: Int, isProtected: (String) -> Bool
  ) throws(StorageError) -> Int {
    var dropped = 0
    guard !presence.isEmpty else { return dropped }
    try transaction { database throws(StorageError) in
      let find = try database.prepare("SELECT 1 FROM presence WHERE hour = ? AND beacon = ?")
      let count = try database.prepare("SELECT count(*) FROM presence WHERE hour = ?")
      let add = try database.prepare(
        """
        INSERT INTO presence (hour, beacon, seconds, sightings, samples, sum, best)
        VALUES (?, ?, min(3600, ?), ?, ?, ?, ?)
        ON CONFLICT (hour, beacon) DO UPDATE SET
        seconds = min(3600, seconds + excluded.seconds),
        sightings = sightings + excluded.sightings, samples = samples + excluded.samples,
        sum = sum + excluded.sum, best = max(ifnull(best, excluded.best), ifnull(excluded.best, best))
        """)
      var beacons: [Int64: Int] = [:]
      for one in presence {
        let key: [Statement.Value] = [.integer(one.hour), .text(one.beacon)]
        try find.bind(key)
        if try !find.step() {
          var found = beacons[one.hour]
          if found == nil {
            try count.bind([.integer(one.hour)])
            found = try count.step() ? Int(count.integer(0)) : 0
          }
          let room =
            isProtected(one.beacon) ? maximum.multipliedReportingOverflow(by: 2).0 : maximum
          guard let found, found < room else {
            beacons[one.hour] = found
            dropped += 1
            continue
          }
          beacons[one.hour] = found + 1
        }
        let samples = one.meanRSSI == nil ? 0 : max(0, one.samples)
        try add.run(
          key + [
            .real(max(0, one.seconds)), .integer(max(0, one.sightings)), .integer(samples),
            .real(Double(samples) * (one.meanRSSI ?? 0)),
            one.bestRSSI.map { .integer($0) } ?? .bytes(nil),
          ])
      }
    }
    return dropped
  }

  func presence(
    _ since: Int64?, _ until: Int64?, _ beacon: String?
  ) throws(StorageError) -> [HistoryStore.Presence] {
    let statement = try prepare(
      """
      SELECT beacon, hour, seconds, sightings, samples, sum, best, best IS NULL FROM presence
      WHERE hour >= ?1 AND hour < ?2 AND (?3 IS NULL OR beacon = ?3) ORDER BY hour, beacon
      """)
    try statement.bind([
      .integer(since.map(HistoryHour.containing) ?? .min),
      // The hour that begins at that time is left out.
      .integer(until.map { HistoryHour.containing($0 &- 1) &+ 1 } ?? .max),
      .text(beacon),
    ])
    var presence: [HistoryStore.Presence] = []
    while try statement.step() {
      let samples = statement.integer(4)
      presence.append(
        HistoryStore.Presence(
          beacon: statement.text(0), hour: statement.integer(1), seconds: statement.real(2) ?? 0,
          sightings: statement.integer(3), samples: samples,
          meanRSSI: samples > 0 ? (statement.real(5) ?? 0) / Double(samples) : nil,
          bestRSSI: statement.integer(7) == 0 ? statement.integer(6) : nil))
    }
    return presence
  }

  // MARK: - Bounds

  /// Removes what is too old.
  func trimAge(
    _ limits: HistoryStore.Limits, _ now: Int64
  ) throws(StorageError) -> HistoryStore.Trimmed {
    let (oldest, overflow) = now.subtractingReportingOverflow(limits.maximumAge * 1_000_000)
    guard !overflow else { return HistoryStore.Trimmed() }
    var trimmed = HistoryStore.Trimmed()
    try transaction { database throws(StorageError) in
      try database.execute("DELETE FROM entry WHERE time < \(oldest)")
      trimmed.entries = database.changes
      try database.execute("DELETE FROM presence WHERE hour < \(HistoryHour.containing(oldest))")
      trimmed.presence = database.changes
    }
    // Free pages are used again; most of them are given back where they are the greater part.
    let (pages, free) = (try integer("PRAGMA page_count"), try integer("PRAGMA freelist_count"))
    if free > 64, free > pages / 2 { try execute("PRAGMA incremental_vacuum(\(free - free / 8))") }
    return trimmed
  }

  /// Removes the oldest until a tenth of the room is free, where the database takes more than its room.
  func trimSize(_ limits: HistoryStore.Limits) throws(StorageError) -> HistoryStore.Trimmed {
    var trimmed = HistoryStore.Trimmed()
    let maximum = limits.maximumBytes / max(512, try integer("PRAGMA page_size"))
    guard try integer("PRAGMA page_count") > maximum else { return trimmed }
    func used() throws(StorageError) -> Int64 {
      try integer("PRAGMA page_count") - integer("PRAGMA freelist_count")
    }
    if try used() > maximum {
      while try used() > maximum - maximum / 10 {
        let (entries, presence) = (
          try integer("SELECT count(*) FROM entry"), try integer("SELECT count(*) FROM presence")
        )
        guard entries + presence > 0 else { break }
        // Strangers' beacons must not take the room of the events.
        let bytes = try integer("SELECT ifnull(sum(length(beacon) + 48), 0) FROM presence")
        if presence > 0, bytes > limits.maximumBytes / 2 || entries == 0 {
          try transaction { database throws(StorageError) in
            try database.execute(
              """
              DELETE FROM presence WHERE hour <=
              (SELECT hour FROM presence ORDER BY hour LIMIT 1 OFFSET \(presence / 16))
              """)
            trimmed.presence += database.changes
          }
        } else {
          try transaction { database throws(StorageError) in
            try database.execute(
              """
              DELETE FROM entry WHERE id <=
              (SELECT id FROM entry ORDER BY id LIMIT 1 OFFSET \(entries / 16))
              """)
            trimmed.entries += database.changes
          }
        }
      }
    }
    let pages = try integer("PRAGMA page_count")
    if pages > maximum { try execute("PRAGMA incremental_vacuum(\(pages - maximum))") }
    return trimmed
  }
}

extension Statement {
  /// Returns a column of this row as text; `nil` for NULL.
  fileprivate func name(_ column: Int32) -> String? {
    bytes(column).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// The hours of ``HistoryStore/Presence``.
package enum HistoryHour {
  /// The length of an hour, in microseconds.
  package static let microseconds: Int64 = 3_600_000_000

  /// Returns the hour that contains a time in microseconds.
  package static func containing(_ time: Int64) -> Int64 {
    let (hour, rest) = time.quotientAndRemainder(dividingBy: microseconds)
    return rest < 0 ? hour - 1 : hour
  }
}
