import SystemPackage

/// What stands at a store's path when it is opened. Reading it waits for no sync and makes no database: that is
/// left to ``create(_:_:)``, which the store's queue calls.
struct Opening: ~Copyable {
  let path: FilePath
  /// The lock and the marks; `nil` where there are no files yet.
  let marks: DeliveryMarks?
  /// The connection; `nil` where there is no database yet.
  let database: Database?
  let contents: Contents
  let warnings: [String]

  init(_ location: ServiceStore.Location, _ schema: Schema) throws(StorageError) {
    let path: FilePath
    switch location {
    case .application(let identifier):
      let file = try StatePath.file(for: identifier)
      // Its directory may be missing.
      path = (try? StatePath.resolve(file)) ?? file
    case .file(let name): path = try StatePath.resolve(FilePath(name))
    }
    let marksPath = path.beside("-marks")
    var marks: DeliveryMarks?
    var database: Database?
    var (contents, warnings) = (Contents(), [String]())
    // A file of another program gets no file beside it. Where there is one already, the lock comes first: closing a
    // file drops the locks that SQLite has on it in this process.
    var isKept = StatePath.exists(marksPath)
    if !isKept { isKept = try Self.isDatabase(path, schema) }
    if isKept {
      marks = try DeliveryMarks(marksPath, of: path)
    }
    do throws(StorageError) {
      if marks != nil, try Self.isDatabase(path, schema) {
        let opened = try schema.open(path)
        contents = try Contents(opened)
        database = consume opened
      }
    } catch {
      guard case .damaged(let message) = error.problem else { throw error }
      let aside = try Self.setAside(path)
      warnings.append(
        "\(path): the database was damaged and is now \(aside) (\(message)); an empty one takes its "
          + "place, so register everything again")
    }
    if marks?.isNew == true, !contents.events.isEmpty {
      warnings.append(
        "\(marksPath): the file was missing or empty; events may be delivered again, "
          + "\(contents.events.count) at most")
    }
    (self.path, self.marks, self.contents, self.warnings) = (path, marks, contents, warnings)
    self.database = database
  }

  /// Makes the database that an opening did not find, and waits until it is on the disk. The caller has the lock.
  static func create(_ path: FilePath, _ schema: Schema) throws(StorageError) -> Database {
    // Another process that was faster has written something that this one did not read.
    guard try !isDatabase(path, schema) else {
      throw StorageError(file: path.string, problem: .inUse(process: nil, name: nil))
    }
    try schema.create(path)
    return try schema.open(path)
  }

  /// Returns whether there is a database of a schema; an empty file counts as none.
  static func isDatabase(_ path: FilePath, _ schema: Schema) throws(StorageError) -> Bool {
    guard StatePath.exists(path) else { return false }
    let header = try StateFile(path, creating: false).read(100)
    if header.isEmpty { return false }
    func fails(_ kind: StorageError.Foreign) -> StorageError {
      StorageError(file: path.string, problem: .foreign(kind))
    }
    guard header.starts(with: Array("SQLite format 3\0".utf8)), header.count == 100 else {
      let isJournal =
        header.starts(with: Array(#"{"sum":""#.utf8))
        && String(decoding: header, as: UTF8.self).contains(#""format":"corelocation-regions""#)
      throw fails(isJournal ? .regionJournal : schema.foreign)
    }
    // The header's field "Application ID", big-endian, at offset 68.
    let identifier = header[68..<72].reduce(0) { $0 << 8 | Int($1) }
    guard identifier == schema.applicationIdentifier else { throw fails(.otherDatabase) }
    return true
  }

  /// Gives a damaged database and its log the first free name of `FILE.damaged-1` to `FILE.damaged-99`.
  static func setAside(_ path: FilePath) throws(StorageError) -> FilePath {
    let names = (1...99).map { path.beside(".damaged-\($0)") }
    let aside = names.first { !StatePath.exists($0) } ?? names[98]
    // Readers that have it open keep what they have: a new database must not share their memory.
    for suffix in ["-wal", "-shm"] where StatePath.exists(path.beside(suffix)) {
      try StatePath.rename(path.beside(suffix), to: aside.beside(suffix))
    }
    try StatePath.rename(path, to: aside)
    return aside
  }
}
