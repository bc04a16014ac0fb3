import SystemPackage

/// The state of a store's files when it is opened. Reading them waits for no sync and creates no
/// database, which ``create(_:_:generation:)`` does later on the store's queue.
struct Opening: ~Copyable {
  let path: FilePath
  /// The lock and the positions; `nil` where the files do not exist yet.
  private(set) var positions: ReaderPositions?
  private(set) var log: WriteLog?
  /// The connection; `nil` where the database does not exist yet.
  var database: Database?
  private(set) var contents = Contents()
  /// The changes that the database does not have.
  private(set) var changes: [Store.Change] = []
  private(set) var warnings: [String] = []

  /// Reads the files of a resolved path.
  init(_ path: FilePath, _ schema: Schema) throws(StorageError) {
    self.path = path
    let positionsPath = path.beside("-readers")
    // Another program's file gets no files beside it. If the positions exist, the lock comes first,
    // because closing a file drops the locks that SQLite has on it in this process.
    var isKept = StatePath.exists(positionsPath)
    if !isKept { isKept = try Self.isDatabase(path) }
    if isKept { positions = try ReaderPositions(positionsPath, of: path) }
    do throws(StorageError) {
      if positions != nil, try Self.isDatabase(path) {
        let opened = try schema.open(path)
        contents = try Contents(opened)
        database = consume opened
      }
    } catch {
      guard case .damaged(let message) = error.problem else { throw error }
      let aside = try Self.setAside(path)
      warnings.append(Self.warning(path, aside, message))
    }
    if positions == nil, StatePath.isWritable(path.removingLastComponent()) {
      // The log has the changes until the database exists. If the disk refuses, this is done later.
      positions = try? ReaderPositions(positionsPath, of: path)
    }
    if let positions {
      let isMissing = database == nil && (!positions.isNew || !isKept)
      do throws(StorageError) {
        log = try WriteLog(path, after: isMissing ? nil : contents.sequence)
      } catch {
        // Without records, nothing is lost: the log is created with the database.
        guard isMissing, !WriteLog.hasBytes(path) else { throw error }
      }
      changes = log?.found.flatMap(\.changes) ?? []
    }
    changes += try Self.takeOverMarks(path, contents)
    for change in changes { contents.apply(change) }
    if let positions { contents.advance(positions) }
  }

  static func path(of location: Store.Location) throws(StorageError) -> FilePath {
    switch location {
    case .application(let identifier):
      let file = try StatePath.file(for: identifier)
      // The directory may not exist yet.
      return (try? StatePath.resolve(file)) ?? file
    case .file(let name): return try StatePath.resolve(FilePath(name))
    }
  }

  static func warning(_ path: FilePath, _ aside: FilePath, _ message: String) -> String {
    "\(path): the database was damaged and is now \(aside) (\(message)); an empty one takes its "
      + "place, so register everything again"
  }

  /// Returns the changes in the `-marks` file of a version before 0.2, and removes the file.
  private static func takeOverMarks(
    _ path: FilePath, _ contents: Contents
  ) throws(StorageError) -> [Store.Change] {
    let old = path.beside("-marks")
    guard StatePath.exists(old) else { return [] }
    let bytes = try StateFile(old, creating: false).read(1 << 19)
    guard bytes.starts(with: Array("CLmarks1".utf8)) else {
      throw StorageError(file: old.string, problem: .foreign(.unknown))
    }
    let offsets = stride(from: 16, to: bytes.count, by: 8)
    let delivered = Set(offsets.compactMap { bytes.number(at: $0) })
    StatePath.remove(old)
    // Each group has settled the entries before its first undelivered one.
    var changes: [Store.Change] = []
    for (group, entries) in Dictionary(grouping: contents.undelivered, by: { $0.recipients?.group })
    {
      guard let group, let last = entries.prefix(while: { delivered.contains($0.id) }).last else {
        continue
      }
      changes.append(.settle(group: group, through: last.id))
    }
    return changes
  }

  /// Creates a missing database and waits until it is on the disk. The caller must hold the lock.
  static func create(
    _ path: FilePath, _ schema: Schema, generation: String
  ) throws(StorageError) -> Database {
    // Another process has created it, and this one has not read its contents.
    guard try !isDatabase(path) else {
      throw StorageError(file: path.string, problem: .inUse(process: nil, name: nil))
    }
    try schema.create(path, generation: generation)
    return try schema.open(path)
  }

  /// Returns `false` for a missing or empty file, and throws for a file of another program.
  static func isDatabase(_ path: FilePath) throws(StorageError) -> Bool {
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
      throw fails(isJournal ? .regionJournal : .unknown)
    }
    // The big-endian field "Application ID" at offset 68.
    let identifier = header[68..<72].reduce(0) { $0 << 8 | Int($1) }
    guard [Schema.applicationIdentifier, Schema.historyIdentifier].contains(identifier) else {
      throw fails(.otherDatabase)
    }
    return true
  }

  /// Renames a damaged database and its log to `FILE.damaged-1`, or the next free number up to 99.
  static func setAside(_ path: FilePath) throws(StorageError) -> FilePath {
    let names = (1...99).map { path.beside(".damaged-\($0)") }
    let aside = names.first { !StatePath.exists($0) } ?? names[98]
    // Readers keep these files open, and a new database must not share their memory.
    for suffix in ["-wal", "-shm"] where StatePath.exists(path.beside(suffix)) {
      try StatePath.rename(path.beside(suffix), to: aside.beside(suffix))
    }
    try StatePath.rename(path, to: aside)
    return aside
  }
}

extension Contents {
  mutating func apply(_ change: Store.Change) {
    switch change {
    case .register(let registration):
      registrations.removeAll { $0.key == registration.key }
      registrations.append(registration)
    case .remove(let key):
      registrations.removeAll { $0.key == key }
      undelivered.removeAll { $0.key == key }
    case .setState(let key, let state):
      if let index = registrations.firstIndex(where: { $0.key == key }) {
        registrations[index].state = state
      }
    case .add(let entry):
      lastID = max(lastID, entry.id)
      known = max(known, entry.id)
      if entry.recipients != nil { undelivered.append(entry) }
    case .setAuthorization(let value): authorization = value
    case .mark(let reader, let id): advance(reader, to: id)
    case .setGeneration(let value): if generation.isEmpty { generation = value }
    case .addGap(let gap): known = max(known, gap.last)
    case .addPresence: break
    }
  }

  private mutating func advance(_ reader: String, to id: Int64) {
    positions[reader] = max(id, positions[reader] ?? id)
    if let group = Store.group(ofReader: reader) {
      undelivered.removeAll { $0.recipients?.group == group && $0.id <= id }
    }
  }

  /// Adopts the positions that are later than those of the database.
  mutating func advance(_ found: ReaderPositions) {
    let groups = Set(undelivered.compactMap(\.recipients?.group)).map(Store.readerName)
    for reader in Set(positions.keys).union(groups) {
      if let position = found.position(of: reader) { advance(reader, to: position) }
    }
  }
}
