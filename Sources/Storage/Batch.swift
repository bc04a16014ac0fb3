/// The changes that one transaction stores: at most one of each key, so that a queue that waits for the disk does
/// not grow with the number of calls.
struct Batch: Sendable {
  enum Row: Sendable {
    case register(definition: [UInt8], state: [UInt8]?)
    case setState([UInt8])
    case remove
  }

  private(set) var rows: [ServiceStore.Key: Row] = [:]
  /// The events, by serial.
  private(set) var events: [Int64: ServiceStore.Event] = [:]
  /// The keys whose stored events go; ``events`` come after that.
  private(set) var removed: Set<ServiceStore.Key> = []
  /// The stored events that were delivered, by serial, with the places of their marks.
  private(set) var ended: [Int64: DeliveryMarks.Place?] = [:]
  var authorization: String??
  var completions: [@Sendable (StorageError?) -> Void] = []

  /// The number of keys, events and calls that wait.
  var count: Int { rows.count + events.count + completions.count }

  /// Whether there is nothing to store.
  var isEmpty: Bool {
    rows.isEmpty && events.isEmpty && removed.isEmpty && ended.isEmpty && authorization == nil
  }

  mutating func add(_ change: ServiceStore.Change) {
    switch change {
    case .register(let registration):
      set(
        .register(definition: registration.definition, state: registration.state),
        of: registration.key)
    case .remove(let key): set(.remove, of: key)
    case .setState(let key, let state): set(.setState(state), of: key)
    case .addEvent(let event): events[event.serial] = event
    case .setAuthorization(let value): authorization = .some(value)
    }
  }

  private mutating func set(_ row: Row, of key: ServiceStore.Key) {
    switch (row, rows[key]) {
    case (.setState(let state), .register(let definition, _)):
      rows[key] = .register(definition: definition, state: state)
    case (.setState, .remove): break
    case (.remove, _):
      rows[key] = .remove
      remove(eventsOf: key)
    default: rows[key] = row
    }
  }

  private mutating func remove(eventsOf key: ServiceStore.Key) {
    removed.insert(key)
    events = events.filter { $0.value.key != key }
  }

  /// Removes an event that was delivered, from here or later from the database.
  mutating func end(_ serial: Int64, _ place: DeliveryMarks.Place?) {
    events[serial] = nil
    ended[serial] = place
  }

  /// Adds the changes of a newer batch: of one key, the newer one counts.
  mutating func append(_ newer: Batch) {
    for key in newer.removed { remove(eventsOf: key) }
    for (key, row) in newer.rows { set(row, of: key) }
    for event in newer.events.values { add(.addEvent(event)) }
    for (serial, place) in newer.ended { end(serial, place) }
    authorization = newer.authorization ?? authorization
    completions += newer.completions
  }
}

extension Database {
  /// Stores a batch in one transaction, with the highest serial that was given, and returns the number of old
  /// events that made room for others.
  func store(_ batch: Batch, serial: Int64) throws(StorageError) -> Int {
    var dropped = 0
    try transaction { database throws(StorageError) in
      let condition = "WHERE service = ? AND \"group\" = ? AND identifier = ?"
      let removeEvents = try database.prepare("DELETE FROM event \(condition)")
      for key in batch.removed { try removeEvents.run(key.values) }
      let end = try database.prepare("DELETE FROM event WHERE serial = ?")
      for serial in batch.ended.keys { try end.run([.integer(serial)]) }

      let register = try database.prepare(
        "INSERT OR REPLACE INTO registration VALUES (?, ?, ?, ?, ?)")
      let setState = try database.prepare("UPDATE registration SET state = ? \(condition)")
      let remove = try database.prepare("DELETE FROM registration \(condition)")
      for (key, row) in batch.rows {
        switch row {
        case .register(let definition, let state):
          try register.run(key.values + [.bytes(definition), .bytes(state)])
        case .setState(let state): try setState.run([.bytes(state)] + key.values)
        case .remove: try remove.run(key.values)
        }
      }

      let add = try database.prepare("INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?, ?)")
      for event in batch.events.values {
        try add.run([.integer(event.serial)] + event.key.values + [.bytes(event.payload)])
      }
      if !batch.events.isEmpty {
        try database.execute(
          """
          DELETE FROM event WHERE serial <= (SELECT serial FROM event
          ORDER BY serial DESC LIMIT 1 OFFSET \(ServiceStore.maximumUndelivered))
          """)
        dropped = Int(try database.integer("SELECT changes()"))
      }

      let set = try database.prepare("INSERT OR REPLACE INTO setting VALUES (CAST(? AS TEXT), ?)")
      if let authorization = batch.authorization {
        try set.run([
          .bytes(Array("authorization".utf8)), .bytes(authorization.map { Array($0.utf8) }),
        ])
      }
      try set.run([.bytes(Array("serial".utf8)), .integer(serial)])
    }
    return dropped
  }
}

extension ServiceStore.Key {
  fileprivate var values: [Statement.Value] {
    [service, group, identifier].map { .bytes(Array($0.utf8)) }
  }
}
