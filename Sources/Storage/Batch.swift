/// The changes that one transaction stores: at most one of each key, so that a queue that waits for the
/// disk does not grow with the number of calls.
struct Batch: Sendable {
  enum Row: Sendable {
    case register(definition: [UInt8], state: [UInt8]?)
    case setState([UInt8])
    case remove
  }

  /// An event whose row goes: it was delivered, or newer ones took its place.
  struct Ended: Sendable {
    var serial: Int64
    var place: DeliveryMarks.Place?
  }

  private(set) var rows: [ServiceStore.Key: Row] = [:]
  /// The events, by serial.
  private(set) var events: [Int64: ServiceStore.Event] = [:]
  var authorization: String??
  /// Events of keys that are removed.
  var removed: [Waiting.Entry] = []
  var ended: [Ended] = []
  var completions: [@Sendable (StorageError?) -> Void] = []

  /// The number of keys, events and calls that wait.
  var count: Int { rows.count + events.count + completions.count }

  /// Whether there is nothing to store.
  var isEmpty: Bool {
    rows.isEmpty && events.isEmpty && authorization == nil && removed.isEmpty && ended.isEmpty
  }

  mutating func register(_ registration: ServiceStore.Registration) {
    rows[registration.key] = .register(
      definition: registration.definition, state: registration.state)
  }

  mutating func setState(_ state: [UInt8], of key: ServiceStore.Key) {
    switch rows[key] {
    case .register(let definition, _): rows[key] = .register(definition: definition, state: state)
    case .setState, nil: rows[key] = .setState(state)
    case .remove: break
    }
  }

  /// Removes a registration and its events that wait here.
  mutating func remove(_ key: ServiceStore.Key) {
    rows[key] = .remove
    events = events.filter { $0.value.key != key }
  }

  mutating func add(_ event: ServiceStore.Event) { events[event.serial] = event }

  /// Removes an event that was not stored yet.
  ///
  /// - Returns: Whether it waited here.
  mutating func forget(_ serial: Int64) -> Bool { events.removeValue(forKey: serial) != nil }
}

extension Database {
  /// Stores a batch in one transaction, with the highest serial that was given.
  func store(_ batch: Batch, serial: Int64) throws(StorageError) {
    try transaction { database throws(StorageError) in
      try database.store(batch.rows)
      let add = try database.prepare("INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?, ?)")
      for event in batch.events.values {
        try add.run([.integer(event.serial)] + event.key.values + [.bytes(event.payload)])
      }
      let end = try database.prepare("DELETE FROM event WHERE serial = ?")
      for entry in batch.removed { try end.run([.integer(entry.serial)]) }
      for entry in batch.ended { try end.run([.integer(entry.serial)]) }
      let set = try database.prepare("INSERT OR REPLACE INTO setting VALUES (CAST(? AS TEXT), ?)")
      if let authorization = batch.authorization {
        try set.run([
          .bytes(Array("authorization".utf8)), .bytes(authorization.map { Array($0.utf8) }),
        ])
      }
      try set.run([.bytes(Array("serial".utf8)), .integer(serial)])
    }
  }

  private func store(_ rows: [ServiceStore.Key: Batch.Row]) throws(StorageError) {
    let register = try prepare("INSERT OR REPLACE INTO registration VALUES (?, ?, ?, ?, ?)")
    let condition = "WHERE service = ? AND \"group\" = ? AND identifier = ?"
    let setState = try prepare("UPDATE registration SET state = ? \(condition)")
    let remove = try prepare("DELETE FROM registration \(condition)")
    for (key, row) in rows {
      switch row {
      case .register(let definition, let state):
        try register.run(key.values + [.bytes(definition), .bytes(state)])
      case .setState(let state): try setState.run([.bytes(state)] + key.values)
      case .remove: try remove.run(key.values)
      }
    }
  }
}

extension ServiceStore.Key {
  fileprivate var values: [Statement.Value] {
    [service, group, identifier].map { .bytes(Array($0.utf8)) }
  }
}

/// The events that were not delivered, by rising serial.
struct Waiting: Sendable {
  struct Entry: Sendable {
    var serial: Int64
    var key: ServiceStore.Key
  }

  private var entries: [Entry] = []

  var count: Int { entries.count }

  /// Adds an event, in place of one with its serial.
  mutating func add(_ entry: Entry) {
    let index = index(of: entry.serial)
    if index < entries.count, entries[index].serial == entry.serial {
      entries[index] = entry
    } else {
      entries.insert(entry, at: index)
    }
  }

  /// Removes an event.
  ///
  /// - Returns: Whether it waited.
  mutating func remove(_ serial: Int64) -> Bool {
    let index = index(of: serial)
    guard index < entries.count, entries[index].serial == serial else { return false }
    entries.remove(at: index)
    return true
  }

  /// Removes the oldest event.
  mutating func removeOldest() -> Entry { entries.removeFirst() }

  /// Removes the events of a key.
  mutating func removeAll(of key: ServiceStore.Key) -> [Entry] {
    let removed = entries.filter { $0.key == key }
    if !removed.isEmpty { entries.removeAll { $0.key == key } }
    return removed
  }

  /// Where a serial stands, or would stand.
  private func index(of serial: Int64) -> Int {
    if entries.last.map({ $0.serial < serial }) ?? true { return entries.count }
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].serial < serial { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
