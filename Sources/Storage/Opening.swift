import CSQLite
import SystemPackage

/// The steps of opening a store: path, lock and marks, database, in that order.
struct Opening: ~Copyable {
  /// A connection, and what the database holds.
  struct Reading: ~Copyable {
    let database: Database
    let contents: Contents
  }

  let marks: DeliveryMarks
  let reading: Reading
  let warnings: [String]

  init(_ location: ServiceStore.Location, _ schema: Schema) throws(StorageError) {
    let path: FilePath
    switch location {
    case .application(let identifier):
      path = try StatePath.resolve(StatePath.file(for: identifier), makesDirectory: true)
    case .file(let name): path = try StatePath.resolve(FilePath(name), makesDirectory: false)
    }
    let marksPath = path.beside("-marks")
    // A file of another program gets no file beside it. Where there is one already, the lock comes
    // first: closing a file drops the locks that SQLite has on it in this process.
    if !StatePath.exists(marksPath) { _ = try Self.isDatabase(path) }
    let marks = try DeliveryMarks(marksPath, of: path)
    let isKept = try Self.isDatabase(path)
    if !isKept { try schema.create(path) }
    var warnings: [String] = []
    let reading: Reading
    do throws(StorageError) {
      reading = try Self.read(path, schema)
    } catch {
      guard isKept, case .damaged = error.problem else { throw error }
      let aside = try Self.setAside(path)
      warnings.append(
        "\(path): the database was damaged and is now \(aside) (\(error.message)); an empty one took "
          + "its place, so register everything again")
      try schema.create(path)
      reading = try Self.read(path, schema)
    }
    if isKept, marks.isNew, !reading.contents.events.isEmpty {
      warnings.append(
        "\(marksPath): the file was missing or empty; up to \(reading.contents.events.count) events "
          + "may be delivered again")
    }
    (self.marks, self.warnings) = (marks, warnings)
    self.reading = reading
  }

  private static func read(
    _ path: FilePath, _ schema: Schema
  ) throws(StorageError) -> Reading {
    let database = try Database(path)
    // The lock is held from the first access on, so that SQLite needs no shared memory. The writer
    // checkpoints at 1 MiB of log, after its own commits.
    try database.execute(
      """
      PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = 256; PRAGMA journal_size_limit = 1048576
      """)
    try schema.migrate(database)
    do throws(StorageError) {
      let contents = try Contents(database)
      return Reading(database: database, contents: contents)
    } catch {
      // The queries are right: a table that is missing, or a value without end, was damaged.
      guard case .sqlite(let code, let message) = error.problem, code & 0xFF != SQLITE_NOMEM else {
        throw error
      }
      throw StorageError(file: path.string, problem: .damaged(message))
    }
  }

  /// Returns whether there is a database of this module; an empty file counts as none.
  private static func isDatabase(_ path: FilePath) throws(StorageError) -> Bool {
    guard StatePath.exists(path) else { return false }
    let header = try StateFile(path, creating: false).read(100, at: 0)
    if header.isEmpty { return false }
    func fails(_ kind: StorageError.Foreign) -> StorageError {
      StorageError(file: path.string, problem: .foreign(kind))
    }
    guard header.starts(with: Array("SQLite format 3\0".utf8)), header.count == 100 else {
      let isJournal =
        header.starts(with: Array(#"{"sum":""#.utf8))
        && String(decoding: header, as: UTF8.self).contains(#""format":"corelocation-regions""#)
      throw fails(isJournal ? .regionJournal : .unknown)
    }
    // The header's field "Application ID", big-endian, at offset 68.
    let identifier = header[68..<72].reduce(0) { $0 << 8 | Int($1) }
    guard identifier == Schema.applicationIdentifier else { throw fails(.otherDatabase) }
    return true
  }

  /// Gives a damaged database and its log the first free name of `FILE.damaged-1` to `FILE.damaged-99`.
  private static func setAside(_ path: FilePath) throws(StorageError) -> FilePath {
    let names = (1...99).map { path.beside(".damaged-\($0)") }
    let aside = names.first { !StatePath.exists($0) } ?? names[98]
    let log = path.beside("-wal")
    if StatePath.exists(log) { try StatePath.rename(log, to: aside.beside("-wal")) }
    try StatePath.rename(path, to: aside)
    return aside
  }
}

extension StorageError {
  fileprivate var message: String {
    if case .damaged(let message) = problem { message } else { description }
  }
}
