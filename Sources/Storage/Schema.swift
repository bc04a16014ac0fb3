import CSQLite
import SystemPackage

/// The tables, as steps from each version of the schema to the next: `PRAGMA user_version` is the number of steps
/// that a database has taken.
struct Schema {
  /// `CLst` in ASCII, in the database's header.
  static let applicationIdentifier = 0x434C_7374

  /// The statements of each step. A step is never changed once it was released; a new one follows it.
  ///
  /// Names are blobs of UTF-8: SQLite leaves undefined what comparison does with NUL characters in text.
  static let steps = [
    """
    CREATE TABLE registration (
      service BLOB NOT NULL, "group" BLOB NOT NULL, identifier BLOB NOT NULL,
      definition BLOB NOT NULL, state BLOB,
      PRIMARY KEY (service, "group", identifier)) WITHOUT ROWID;
    CREATE TABLE event (
      serial INTEGER PRIMARY KEY,
      service BLOB NOT NULL, "group" BLOB NOT NULL, identifier BLOB NOT NULL,
      payload BLOB NOT NULL);
    CREATE TABLE setting (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    """
  ]

  var steps = Schema.steps
  /// The number in the database's header.
  var applicationIdentifier = Schema.applicationIdentifier
  /// What a file with another header is not.
  var foreign = StorageError.Foreign.unknown
  /// Whether other connections read while one writes. Otherwise one connection has the database for itself.
  var isShared = false
  /// Statements that must come before the first table.
  var preamble = ""

  private var locking: String { isShared ? "NORMAL" : "EXCLUSIVE" }

  /// Connects to a database of any known version, and brings it to the newest one.
  func open(_ path: FilePath) throws(StorageError) -> Database {
    let database = try Database(path)
    // Unless it is shared, the lock is held from the first access on, so that SQLite needs no shared memory. A
    // migration waits for no sync: the first transaction that follows it in the log syncs both.
    try database.execute(
      """
      PRAGMA locking_mode = \(locking); PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
      PRAGMA wal_autocheckpoint = 0
      """)
    try migrate(database)
    // The writer checkpoints at 1 MiB of log, after its own commits.
    try database.execute(
      """
      PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 256; PRAGMA journal_size_limit = 1048576
      """)
    return database
  }

  /// Brings a database to the newest version, in one transaction.
  private func migrate(_ database: borrowing Database) throws(StorageError) {
    let version = try database.integer("PRAGMA user_version")
    guard version <= steps.count else {
      throw StorageError(
        file: database.path.string, problem: .newer(version: version, known: steps.count))
    }
    guard version >= 0 else {
      throw StorageError(file: database.path.string, problem: .damaged("version \(version)"))
    }
    guard version < steps.count else { return }
    try database.transaction { database throws(StorageError) in
      for step in steps[Int(version)...] { try database.execute(step) }
      try database.execute("PRAGMA user_version = \(steps.count)")
    }
  }

  /// Creates an empty database under a name that it gets when it is complete: no power cut leaves a part of one.
  func create(_ path: FilePath) throws(StorageError) {
    let temporary = path.beside("-new")
    for suffix in ["", "-wal", "-journal"] { StatePath.remove(temporary.beside(suffix)) }
    for suffix in ["-wal", "-journal", "-shm"] { StatePath.remove(path.beside(suffix)) }
    do throws(StorageError) {
      _ = try StateFile(temporary, creating: true)
      let database = try Database(temporary)
      try database.execute(
        """
        \(preamble) PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL; PRAGMA application_id = \(applicationIdentifier)
        """)
      try migrate(database)
      try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    } catch {
      StatePath.remove(temporary)
      throw error
    }
    try StatePath.rename(temporary, to: path)
    try StatePath.sync(path.removingLastComponent())
  }
}

/// What a database holds.
struct Contents {
  var registrations: [ServiceStore.Registration] = []
  /// The events, by rising serial.
  var events: [ServiceStore.Event] = []
  var authorization: String?
  /// The highest serial that was given when the database was written last.
  var serial: Int64 = 0

  init() {}

  /// Reads a database.
  init(_ database: borrowing Database) throws(StorageError) {
    do throws(StorageError) {
      try read(database)
    } catch {
      throw error.ofRightQuery
    }
  }

  private mutating func read(_ database: borrowing Database) throws(StorageError) {
    let rows = try database.prepare(
      "SELECT service, \"group\", identifier, definition, state FROM registration")
    while try rows.step() {
      registrations.append(
        ServiceStore.Registration(
          key: rows.key(0), definition: rows.bytes(3) ?? [], state: rows.bytes(4)))
    }
    let waiting = try database.prepare(
      "SELECT serial, service, \"group\", identifier, payload FROM event ORDER BY serial")
    while try waiting.step() {
      events.append(
        ServiceStore.Event(
          serial: waiting.integer(0), key: waiting.key(1), payload: waiting.bytes(4) ?? []))
    }
    let settings = try database.prepare("SELECT name, value FROM setting")
    while try settings.step() {
      switch settings.text(0) {
      case "serial": serial = settings.integer(1)
      case "authorization": authorization = settings.bytes(1) == nil ? nil : settings.text(1)
      default: break
      }
    }
  }
}

extension StorageError {
  /// The error of a query that is right: a table that is missing, or a value without end, was damaged.
  var ofRightQuery: StorageError {
    guard case .sqlite(let code, let message) = problem else { return self }
    switch code & 0xFF {
    case SQLITE_NOMEM, SQLITE_INTERRUPT, SQLITE_PROTOCOL: return self
    default: return StorageError(file: file, problem: .damaged(message))
    }
  }
}

extension Statement {
  /// Returns three columns of this row as a key.
  fileprivate func key(_ column: Int32) -> ServiceStore.Key {
    ServiceStore.Key(
      service: text(column), group: text(column + 1), identifier: text(column + 2))
  }
}
