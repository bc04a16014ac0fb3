extension Database {
  func trimAge(_ limits: Store.Limits, _ now: Int64) throws(StorageError) {
    let (oldest, overflow) = now.subtractingReportingOverflow(limits.maximumAge * 1_000_000)
    guard !overflow else { return }
    try transaction { database throws(StorageError) in
      // Entries with time 0 must still be delivered.
      try database.removeEntries("time < \(oldest) AND time > 0")
      try database.execute("DELETE FROM presence WHERE hour < \(HistoryHour.containing(oldest))")
    }
    // If more than half of the pages are free, most of these are returned.
    let pages = try integer("PRAGMA page_count")
    let free = try integer("PRAGMA freelist_count")
    if free > 64, free > pages / 2 { try execute("PRAGMA incremental_vacuum(\(free - free / 8))") }
  }

  private func removeEntries(_ condition: String) throws(StorageError) {
    try execute(
      """
      INSERT OR REPLACE INTO setting SELECT 'trimmed', max(
        (SELECT ifnull(max(id), 0) FROM entry WHERE \(condition)),
        ifnull((SELECT value FROM setting WHERE name = 'trimmed'), 0));
      DELETE FROM entry WHERE \(condition)
      """)
  }

  /// If the database exceeds its maximum size, removes the oldest records until a tenth is free.
  func trimSize(_ limits: Store.Limits) throws(StorageError) {
    let maximum = limits.maximumBytes / max(512, try integer("PRAGMA page_size"))
    guard try integer("PRAGMA page_count") > maximum else { return }
    func used() throws(StorageError) -> Int64 {
      try integer("PRAGMA page_count") - integer("PRAGMA freelist_count")
    }
    if try used() > maximum {
      var rest = Int64.max
      while try used() > maximum - maximum / 10 {
        let entries = try integer("SELECT count(*) FROM entry")
        let presence = try integer("SELECT count(*) FROM presence")
        // Each round removes a record.
        guard (1..<rest).contains(entries + presence) else { break }
        rest = entries + presence
        // Strangers' beacons must not take the room of the events.
        let bytes = try integer("SELECT ifnull(sum(length(beacon) + 48), 0) FROM presence")
        if presence > 0, bytes > limits.maximumBytes / 2 || entries == 0 {
          try execute(
            """
            DELETE FROM presence WHERE hour <=
            (SELECT hour FROM presence ORDER BY hour LIMIT 1 OFFSET \(presence / 16))
            """)
        } else {
          try transaction { database throws(StorageError) in
            try database.removeEntries(
              "id <= (SELECT id FROM entry ORDER BY id LIMIT 1 OFFSET \(entries / 16))")
          }
        }
      }
    }
    let pages = try integer("PRAGMA page_count")
    if pages > maximum { try execute("PRAGMA incremental_vacuum(\(pages - maximum))") }
  }
}
