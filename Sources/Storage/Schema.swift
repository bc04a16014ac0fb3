import CSQLite
import SystemPackage

/// The tables, as steps from version to version. `PRAGMA user_version` counts a database's steps.
struct Schema {
  /// The application identifier in the database's header: `CLst` in ASCII.
  static let applicationIdentifier = 0x434C_7374
  /// The application identifier of a history of a version before 0.2: `BShi` in ASCII.
  static let historyIdentifier = 0x4253_6869

  /// The statements of each step. A released step never changes. Names are blobs of UTF-8, because
  /// SQLite does not define how text with NUL characters compares.
  static let steps = [
    """
    \(registration)
    CREATE TABLE event (
      serial INTEGER PRIMARY KEY,
      service BLOB NOT NULL, "group" BLOB NOT NULL, identifier BLOB NOT NULL,
      payload BLOB NOT NULL);
    CREATE TABLE setting (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    """,
    """
    CREATE TABLE entry (
      id INTEGER PRIMARY KEY, time INTEGER NOT NULL, kind BLOB NOT NULL,
      region BLOB, beacon BLOB, payload BLOB NOT NULL, dwell REAL, service BLOB, "group" BLOB);
    CREATE INDEX entry_time ON entry (time);
    CREATE TABLE presence (
      hour INTEGER NOT NULL, beacon BLOB NOT NULL, seconds REAL NOT NULL,
      sightings INTEGER NOT NULL, samples INTEGER NOT NULL, sum REAL NOT NULL, best INTEGER,
      PRIMARY KEY (hour, beacon)) WITHOUT ROWID;
    INSERT INTO entry (id, time, kind, region, payload, service, "group")
      SELECT serial, 0, CAST('event' AS BLOB), identifier, payload, service, "group" FROM event;
    DROP TABLE event;
    INSERT INTO setting SELECT 'last', value FROM setting WHERE name = 'serial';
    INSERT INTO setting VALUES ('generation', CAST(lower(hex(randomblob(4))) AS BLOB));
    \(journal)
    """,
  ]

  static let historySteps = [
    """
    \(registration)
    ALTER TABLE entry ADD COLUMN service BLOB;
    ALTER TABLE entry ADD COLUMN "group" BLOB;
    INSERT INTO setting VALUES
      ('last', ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'entry'), 0));
    \(journal)
    """
  ]

  private static let registration = """
    CREATE TABLE registration (
      service BLOB NOT NULL, "group" BLOB NOT NULL, identifier BLOB NOT NULL,
      definition BLOB NOT NULL, state BLOB,
      PRIMARY KEY (service, "group", identifier)) WITHOUT ROWID;
    """

  /// The tables and the index that both conversions add.
  private static let journal = """
    CREATE INDEX entry_region ON entry (region, id);
    CREATE TABLE reader (name BLOB PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE gap (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);
    """

  var steps = Schema.steps
  /// Whether other connections read while one writes. Otherwise one connection locks the database.
  var isShared = false

  private var locking: String { isShared ? "NORMAL" : "EXCLUSIVE" }

  /// Opens a database of any known version, and converts it to the newest.
  func open(_ path: FilePath) throws(StorageError) -> Database {
    let database = try Database(path)
    // Unless the database is shared, the first access takes the lock, so SQLite needs no shared
    // memory. A conversion does not wait for a sync: the next transaction also syncs it.
    try database.execute(
      """
      PRAGMA locking_mode = \(locking); PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
      PRAGMA wal_autocheckpoint = 0
      """)
    try migrate(database)
    // After a commit, the writer checkpoints a log of 1 MiB or more.
    try database.execute(
      """
      PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 256; PRAGMA journal_size_limit = 1048576
      """)
    return database
  }

  private func migrate(_ database: borrowing Database) throws(StorageError) {
    var version = try database.integer("PRAGMA user_version")
    let isHistory = try database.integer("PRAGMA application_id") == Self.historyIdentifier
    var steps = steps[...]
    if isHistory {
      guard version <= 1 else { throw newer(database.path, version) }
      // The history's tables replace the first two steps.
      steps = Self.historySteps + steps.dropFirst(2)
      version = 0
    }
    guard version <= steps.count else { throw newer(database.path, version) }
    guard version >= 0 else {
      throw StorageError(file: database.path.string, problem: .damaged("version \(version)"))
    }
    guard version < steps.count else { return }
    let marks = isHistory ? try database.historyMarks() : [:]
    try database.transaction { database throws(StorageError) in
      for step in steps.dropFirst(Int(version)) { try database.execute(step) }
      try database.setMarks(marks)
      try database.execute(
        """
        PRAGMA user_version = \(self.steps.count);
        PRAGMA application_id = \(Self.applicationIdentifier)
        """)
    }
  }

  private func newer(_ path: FilePath, _ version: Int64) -> StorageError {
    StorageError(file: path.string, problem: .newer(version: version, known: steps.count))
  }

  /// Creates an empty database. It is complete before it gets its name, even after a power cut.
  func create(_ path: FilePath, generation: String) throws(StorageError) {
    let temporary = path.beside("-new")
    for suffix in ["", "-wal", "-journal"] { StatePath.remove(temporary.beside(suffix)) }
    for suffix in ["-wal", "-journal", "-shm"] { StatePath.remove(path.beside(suffix)) }
    do throws(StorageError) {
      _ = try StateFile(temporary, creating: true)
      let database = try Database(temporary)
      // `incremental` lets a trimmed database return its free pages.
      try database.execute(
        """
        PRAGMA auto_vacuum = INCREMENTAL; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL; PRAGMA application_id = \(Self.applicationIdentifier)
        """)
      try migrate(database)
      try database.set("generation", .text(generation))
      try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    } catch {
      StatePath.remove(temporary)
      throw error
    }
    try StatePath.rename(temporary, to: path)
    try StatePath.sync(path.removingLastComponent())
  }

  /// Opens a database or a history of a version before 0.2 for reading, also on a read-only medium.
  static func read(_ path: FilePath) throws(StorageError) -> Database {
    do throws(StorageError) {
      // The first check creates no file beside a file of another program. It may see a change that
      // the writer is making, so only the second check can report damage.
      do throws(StorageError) {
        _ = try check(Database(path, for: .readingWithoutLocks))
      } catch {
        if case .foreign = error.problem { throw error }
      }
      return try check(Database(path, for: .reading))
    } catch {
      // SQLite must create the log's index. On a read-only medium nobody writes: no lock is needed.
      guard case .failed = error.problem, !StatePath.isWritable(path.removingLastComponent()),
        StatePath.isReadable(path)
      else { throw error }
      let log = try? path.beside("-wal").stat()
      guard log.map({ $0.size == 0 }) ?? true else {
        throw StorageError(file: path.string, problem: .unreadableLog)
      }
      return try check(Database(path, for: .readingWithoutLocks))
    }
  }

  /// Returns a connection if its database has a history, and throws otherwise.
  private static func check(_ database: consuming Database) throws(StorageError) -> Database {
    let path = database.path.string
    let identifier: Int64
    do throws(StorageError) {
      identifier = try database.integer("PRAGMA application_id")
    } catch {
      // This is SQLite's message for a file without its header.
      guard error.problem == .damaged("file is not a database") else { throw error }
      throw StorageError(file: path, problem: .foreign(.noHistory))
    }
    let version = try database.integer("PRAGMA user_version")
    let known: ClosedRange<Int64>
    switch identifier {
    case Int64(historyIdentifier): known = 1...1
    case Int64(applicationIdentifier): known = 2...Int64(Schema.steps.count)
    default:
      // An empty file has no header.
      throw StorageError(
        file: path,
        problem: .foreign(identifier == 0 && version == 0 ? .noHistory : .otherDatabase))
    }
    if version > known.upperBound {
      throw StorageError(
        file: path, problem: .newer(version: version, known: Int(known.upperBound)))
    }
    // A database of registrations that no version with a history has opened.
    guard known.contains(version) else {
      throw StorageError(file: path, problem: .foreign(.noHistory))
    }
    return database
  }
}

struct Contents {
  var registrations: [Store.Registration] = []
  /// The entries that groups have not settled, in ascending order of identifier.
  var undelivered: [StoredEntry] = []
  var authorization: String?
  var generation = ""
  /// The highest identifier that was given. Those up to ``reserved`` may have been given too.
  var lastID: Int64 = 0
  var reserved: Int64 = 0
  /// The highest identifier whose entry is stored or known to be lost. ``lastID`` can be higher,
  /// because transactions record it with identifiers that were given meanwhile.
  var known: Int64 = 0
  /// The highest identifier at the last clean end.
  var closed: Int64 = -1
  /// The sequence number of the latest log record that the database has.
  var sequence: Int64 = 0
  var positions: [String: Int64] = [:]
  var gaps: [EntryGap] = []

  init() {}

  /// Whether nothing was stored since the last clean end.
  var isClosed: Bool { closed == lastID }

  init(_ database: borrowing Database) throws(StorageError) {
    do throws(StorageError) {
      try read(database)
    } catch {
      throw error.ofRightQuery
    }
  }

  private mutating func read(_ database: borrowing Database) throws(StorageError) {
    // A look at both ends of each table finds much of the possible damage.
    for table in ["entry ORDER BY id", "entry ORDER BY time", "presence ORDER BY hour"] {
      for direction in ["", " DESC"] {
        _ = try database.prepare("SELECT * FROM \(table)\(direction) LIMIT 1").step()
      }
    }
    registrations = try database.prepare(
      "SELECT service, \"group\", identifier, definition, state FROM registration"
    ).rows { row in
      let key = Store.Key(service: row.text(0), group: row.text(1), identifier: row.text(2))
      return Store.Registration(key: key, definition: row.bytes(3) ?? [], state: row.bytes(4))
    }
    let readers = try database.prepare("SELECT name, position FROM reader")
    while try readers.step() { positions[readers.text(0)] = readers.integer(1) }
    let lost = try database.prepare("SELECT first, last FROM gap")
    while try lost.step() { gaps.insert(EntryGap(first: lost.integer(0), last: lost.integer(1))) }
    let settings = try database.prepare("SELECT name, value FROM setting")
    while try settings.step() {
      switch settings.text(0) {
      case "generation": generation = settings.text(1)
      case "last": lastID = settings.integer(1)
      case "reserved": reserved = settings.integer(1)
      case "closed": closed = settings.integer(1)
      case "trimmed": known = max(known, settings.integer(1))
      case "sequence": sequence = settings.integer(1)
      case "authorization": authorization = settings.bytes(1) == nil ? nil : settings.text(1)
      default: break
      }
    }
    let highest = try database.integer("SELECT ifnull(max(id), 0) FROM entry")
    known = max(known, highest, gaps.last?.last ?? 0)
    lastID = min(max(lastID, highest, 0), Store.maximumID)
    reserved = min(max(reserved, lastID), Store.maximumID)
    guard !generation.isEmpty else {
      throw StorageError(file: database.path.string, problem: .damaged("it has no generation"))
    }
    let groups = try database.prepare(
      "SELECT DISTINCT \"group\" FROM entry WHERE \"group\" NOT NULL"
    ).rows { $0.text(0) }
    for group in groups {
      let position = positions[Store.readerName(ofGroup: group)] ?? 0
      undelivered += try database.entries(of: group, after: position)
    }
    undelivered.sort { $0.id < $1.id }
  }
}

extension StorageError {
  /// The error of a valid query: most of SQLite's codes then mean damage, such as a missing table.
  var ofRightQuery: StorageError {
    guard case .sqlite(let code, let message) = problem else { return self }
    switch code & 0xFF {
    case SQLITE_NOMEM, SQLITE_INTERRUPT, SQLITE_PROTOCOL: return self
    default: return StorageError(file: file, problem: .damaged(message))
    }
  }
}

extension Database {
  /// Returns the positions of the receivers in a history of a version before 0.2, by reader name.
  func historyMarks() throws(StorageError) -> [String: Int64] {
    let setting = try prepare("SELECT value FROM setting WHERE name = 'marks'")
    guard try setting.step() else { return [:] }
    let lines = setting.text(0).split(separator: "\n").map { $0.split(separator: " ") }
    let marks = lines.compactMap { line in
      line.count == 2 ? Int64(line[1]).map { ("webhook:\(line[0])", $0) } : nil
    }
    return Dictionary(marks, uniquingKeysWith: min)
  }

  func setMarks(_ marks: [String: Int64]) throws(StorageError) {
    let mark = try prepare("INSERT OR REPLACE INTO reader VALUES (?, ?)")
    for (name, position) in marks { try mark.run([.text(name), .integer(position)]) }
  }

  /// Returns a group's newest entries after a position, at most ``Store/maximumUndelivered``.
  fileprivate func entries(
    of group: String, after position: Int64
  ) throws(StorageError) -> [StoredEntry] {
    let statement = try prepare(
      "\(Self.selection) WHERE \"group\" = ? AND id > ? ORDER BY id DESC LIMIT ?")
    try statement.bind([
      .text(group), .integer(position), .integer(Int64(Store.maximumUndelivered)),
    ])
    return try statement.entries().reversed()
  }
}
