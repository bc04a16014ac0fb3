/// The changes that one transaction stores, at most one for each key. This bounds a waiting queue.
struct Batch: Sendable {
  enum Row: Sendable {
    case register(definition: [UInt8], state: [UInt8]?)
    case setState([UInt8])
    case remove
  }

  /// Whether entries are kept after their group has settled them.
  let keepsHistory: Bool
  private(set) var rows: [Store.Key: Row] = [:]
  /// The entries, by rising identifier.
  private(set) var entries: [StoredEntry] = []
  /// The total length of the entries' payloads, in bytes.
  private(set) var entryBytes = 0
  /// The keys whose stored entries are deleted before ``entries`` are added, without a history.
  private(set) var removed: Set<Store.Key> = []
  private(set) var marks: [String: Int64] = [:]
  private(set) var presence: [StoredPresence] = []
  private(set) var gaps: [EntryGap] = []
  var authorization: String??
  var completions: [@Sendable (StorageError?) -> Void] = []

  init(keepsHistory: Bool) { self.keepsHistory = keepsHistory }

  static let maximumPresence = 8192

  var count: Int { rows.count + entries.count + completions.count }

  var isEmpty: Bool {
    rows.isEmpty && entries.isEmpty && removed.isEmpty && marks.isEmpty && presence.isEmpty
      && gaps.isEmpty && authorization == nil
  }

  mutating func add(_ change: Store.Change) {
    switch change {
    case .register(let registration):
      set(
        .register(definition: registration.definition, state: registration.state),
        of: registration.key)
    case .remove(let key): set(.remove, of: key)
    case .setState(let key, let state): set(.setState(state), of: key)
    case .add(let entry): add(entry)
    case .setAuthorization(let value): authorization = .some(value)
    case .mark(let reader, let id): marks[reader] = max(id, marks[reader] ?? id)
    case .addPresence(let new):
      if presence.count < Self.maximumPresence { presence.append(new) }
    case .addGap(let gap): gaps.insert(gap)
    case .setGeneration: break
    }
  }

  private mutating func add(_ entry: StoredEntry) {
    entryBytes += entry.payload.count
    // Entries arrive in order, except those of other threads.
    entries.insert(entry, at: entries.lastIndex { $0.id < entry.id }.map { $0 + 1 } ?? 0)
  }

  private mutating func set(_ row: Row, of key: Store.Key) {
    switch (row, rows[key]) {
    case (.setState(let state), .register(let definition, _)):
      rows[key] = .register(definition: definition, state: state)
    case (.setState, .remove): break
    case (.remove, _):
      rows[key] = .remove
      remove(entriesOf: key)
    default: rows[key] = row
    }
  }

  /// Removes a registration's entries, unless a history keeps them.
  private mutating func remove(entriesOf key: Store.Key) {
    guard !keepsHistory else { return }
    removed.insert(key)
    removeEntries { $0.key == key }
  }

  mutating func removeSettled() {
    guard !keepsHistory, !marks.isEmpty else { return }
    removeEntries { [marks] entry in
      let settled = entry.recipients.flatMap { marks[Store.readerName(ofGroup: $0.group)] }
      return entry.id <= settled ?? .min
    }
  }

  private mutating func removeEntries(where isRemoved: (StoredEntry) -> Bool) {
    entries.removeAll(where: isRemoved)
    entryBytes = entries.reduce(0) { $0 + $1.payload.count }
  }

  /// Removes the oldest entries beyond the bounds and adds gaps for them.
  mutating func removeOldest(beyond maximum: Int, bytes: Int) {
    var removed = 0
    while removed < entries.count, entries.count - removed > maximum || entryBytes > bytes {
      let entry = entries[removed]
      entryBytes -= entry.payload.count
      gaps.insert(EntryGap(first: entry.id, last: entry.id))
      removed += 1
    }
    entries.removeFirst(removed)
  }

  mutating func append(_ newer: Batch) {
    for key in newer.removed { remove(entriesOf: key) }
    for (key, row) in newer.rows { set(row, of: key) }
    for entry in newer.entries { add(entry) }
    marks.merge(newer.marks, uniquingKeysWith: max)
    presence += newer.presence.prefix(max(0, Self.maximumPresence - presence.count))
    for gap in newer.gaps { gaps.insert(gap) }
    authorization = newer.authorization ?? authorization
    completions += newer.completions
  }
}

extension Database {
  /// Stores a batch in one transaction, with the sequence number of its latest log record and the
  /// highest identifiers given and reserved.
  func store(
    _ batch: Batch, sequence: Int64, lastID: Int64, reserved: Int64, limits: Store.Limits?
  ) throws(StorageError) {
    try transaction { database throws(StorageError) in
      let keepsHistory = limits != nil
      try database.store(batch, keepsHistory: keepsHistory)
      let add = try database.prepare(
        """
        INSERT OR IGNORE INTO entry (id, time, kind, service, "group", region, beacon, payload, dwell)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
      for entry in batch.entries { try add.run(entry.values) }
      if !keepsHistory, !batch.entries.isEmpty {
        try database.execute(
          """
          DELETE FROM entry WHERE id <= (SELECT id FROM entry
          ORDER BY id DESC LIMIT 1 OFFSET \(Store.maximumUndelivered))
          """)
      }
      if let limits {
        try database.add(batch.presence, maximum: limits.maximumBeaconsPerHour)
      }
      let gap = try database.prepare("INSERT OR REPLACE INTO gap VALUES (?, ?)")
      for one in batch.gaps { try gap.run([.integer(one.first), .integer(one.last)]) }
      if let authorization = batch.authorization {
        try database.set("authorization", .bytes(authorization.map { Array($0.utf8) }))
      }
      try database.execute("DELETE FROM setting WHERE name = 'closed'")
      try database.set("sequence", .integer(sequence))
      try database.set("last", .integer(lastID))
      try database.set("reserved", .integer(reserved))
    }
  }

  /// Records a clean end: no entry up to the highest identifier that was given is missing.
  func close(lastID: Int64) throws(StorageError) {
    try transaction { database throws(StorageError) in
      for name in ["last", "closed"] { try database.set(name, .integer(lastID)) }
    }
  }

  func set(_ name: String, _ value: Statement.Value) throws(StorageError) {
    try prepare("INSERT OR REPLACE INTO setting VALUES (CAST(? AS TEXT), ?)")
      .run([.text(name), value])
  }

  private func store(_ batch: Batch, keepsHistory: Bool) throws(StorageError) {
    if !keepsHistory {
      let remove = try prepare(
        "DELETE FROM entry WHERE service = ? AND \"group\" = ? AND region = ?")
      for key in batch.removed { try remove.run(key.values) }
      let settle = try prepare("DELETE FROM entry WHERE \"group\" = ? AND id <= ?")
      for (reader, id) in batch.marks {
        guard let group = Store.group(ofReader: reader) else { continue }
        try settle.run([.text(group), .integer(id)])
      }
    }
    let condition = "WHERE service = ? AND \"group\" = ? AND identifier = ?"
    let register = try prepare("INSERT OR REPLACE INTO registration VALUES (?, ?, ?, ?, ?)")
    let setState = try prepare("UPDATE registration SET state = ? \(condition)")
    let remove = try prepare("DELETE FROM registration \(condition)")
    for (key, row) in batch.rows {
      switch row {
      case .register(let definition, let state):
        try register.run(key.values + [.bytes(definition), .bytes(state)])
      case .setState(let state): try setState.run([.bytes(state)] + key.values)
      case .remove: try remove.run(key.values)
      }
    }
    try setMarks(batch.marks)
  }

  private func add(_ presence: [StoredPresence], maximum: Int) throws(StorageError) {
    guard !presence.isEmpty else { return }
    let find = try prepare("SELECT 1 FROM presence WHERE hour = ? AND beacon = ?")
    let count = try prepare("SELECT count(*) FROM presence WHERE hour = ?")
    let add = try prepare(
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
        let room = one.isProtected ? maximum.multipliedReportingOverflow(by: 2).0 : maximum
        guard let found, found < room else {
          beacons[one.hour] = found
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
}

extension StoredEntry {
  fileprivate var values: [Statement.Value] {
    [
      .integer(id), .integer(time), .text(kind), .text(recipients?.service),
      .text(recipients?.group), .text(region), .text(beacon), .bytes(payload), .real(dwell),
    ]
  }
}

extension Store.Key {
  fileprivate var values: [Statement.Value] { [.text(service), .text(group), .text(identifier)] }
}
