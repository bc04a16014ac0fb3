import Glibc
import Synchronization
import SystemPackage

/// The events of a service and the hourly presence of its beacons, in an SQLite database of its own.
///
/// ```swift
/// let history = try HistoryStore(path: "/var/lib/beaconscan/history.sqlite")
/// let ids = try history.append([.init(time: time, kind: "enter", region: "lobby", payload: record)])
/// for entry in try HistoryStore(reading: path).entries(.init(region: "lobby", limit: 100)) { show(entry) }
/// ```
///
/// - What ``append(_:now:)`` returned survives the process's death at any moment, and a power cut: each transaction is
///   synced (`synchronous = FULL`), because an identifier that a page has seen must not be given to another event
///   after a power cut. An append that did not return is stored whole or not at all.
/// - One store at a time writes a file, in all processes; any number of stores read it meanwhile (WAL mode).
/// - The database takes ``Limits/maximumBytes`` and one append at most. Beside the database `FILE` stand `FILE-wal`
///   (SQLite's log, 1 MiB and one transaction), `FILE-shm` (the log's index) and `FILE-lock` (the lock of the store
///   that writes).
/// - A damaged database is renamed to `FILE.damaged-1`, and an empty one with another ``generation`` takes its place:
///   when the store is opened, and when an append finds the damage.
///
/// All members may be used from any thread. Those that write wait for the disk, for seconds where it is slow: call them
/// on a queue of their own.
package final class HistoryStore: Sendable {
  /// The length of an entry's payload, in bytes.
  package static let maximumPayload = 1 << 20
  /// The length of the names of an entry's region and beacon, in bytes.
  package static let maximumName = 4096
  /// How often an append removes what is too old, in microseconds.
  private static let trimInterval: Int64 = 600_000_000

  /// The bounds of a history.
  package struct Limits: Hashable, Sendable {
    /// The age at which entries and presence are removed, in seconds.
    package var maximumAge: Int64
    /// The size of the database's file, in bytes; 128 KiB at least. Of more, the oldest are removed.
    package var maximumBytes: Int64
    /// The number of beacons of which each hour's presence is kept, and as many protected ones.
    package var maximumBeaconsPerHour: Int

    package init(
      maximumAge: Int64 = 90 * 86400, maximumBytes: Int64 = 64 << 20,
      maximumBeaconsPerHour: Int = 1000
    ) {
      self.maximumAge = min(max(0, maximumAge), 1 << 40)
      self.maximumBytes = max(128 << 10, maximumBytes)
      self.maximumBeaconsPerHour = maximumBeaconsPerHour
    }
  }

  /// Something that happened.
  package struct Entry: Hashable, Sendable {
    /// The identifier, which rises by one with each entry and is never used again in a ``generation``; 0 for an
    /// entry that is not stored yet.
    package var id: Int64
    /// The wall-clock time, in microseconds since 1970-01-01T00:00:00Z.
    package var time: Int64
    /// `enter`, `exit`, `state`, `health` or `regions`.
    package var kind: String
    package var region: String?
    /// The beacon that the record names, as `UUID:MAJOR:MINOR`.
    package var beacon: String?
    /// The JSON record: one line without its end.
    package var payload: [UInt8]
    /// The length of the stay that an exit ended, in seconds.
    package var dwell: Double?

    package init(
      id: Int64 = 0, time: Int64, kind: String, region: String? = nil, beacon: String? = nil,
      payload: [UInt8], dwell: Double? = nil
    ) {
      (self.id, self.time, self.kind, self.region) = (id, time, kind, region)
      (self.beacon, self.payload, self.dwell) = (beacon, payload, dwell)
    }
  }

  /// The entries that a reader wants.
  package struct Query: Hashable, Sendable {
    /// Entries whose identifiers are higher than this one.
    package var after: Int64?
    /// Entries whose identifiers are lower than this one.
    package var before: Int64?
    /// Entries at this time or later, in microseconds.
    package var since: Int64?
    /// Entries before this time, in microseconds.
    package var until: Int64?
    package var region: String?
    package var kinds: Set<String>?
    package var limit: Int?
    /// Whether the limit leaves the newest of the entries, instead of the oldest.
    package var leavesNewest: Bool

    package init(
      after: Int64? = nil, before: Int64? = nil, since: Int64? = nil, until: Int64? = nil,
      region: String? = nil, kinds: Set<String>? = nil, limit: Int? = nil,
      leavesNewest: Bool = false
    ) {
      (self.after, self.before, self.since, self.until) = (after, before, since, until)
      (self.region, self.kinds, self.limit) = (region, kinds, limit)
      self.leavesNewest = leavesNewest
    }
  }

  /// How long and how strongly a beacon was received in an hour.
  package struct Presence: Hashable, Sendable {
    /// The beacon as `UUID:MAJOR:MINOR`.
    package var beacon: String
    /// The hours since 1970-01-01T00:00:00Z.
    package var hour: Int64
    /// The time in which it was present, in seconds; 3,600 at most.
    package var seconds: Double
    package var sightings: Int64
    /// The sightings that had a signal strength.
    package var samples: Int64
    /// The mean signal strength of the ``samples``, in dBm.
    package var meanRSSI: Double?
    /// The highest signal strength, in dBm.
    package var bestRSSI: Int64?

    package init(
      beacon: String, hour: Int64, seconds: Double, sightings: Int64, samples: Int64 = 0,
      meanRSSI: Double? = nil, bestRSSI: Int64? = nil
    ) {
      (self.beacon, self.hour, self.seconds) = (beacon, hour, seconds)
      (self.sightings, self.samples) = (sightings, samples)
      (self.meanRSSI, self.bestRSSI) = (meanRSSI, bestRSSI)
    }
  }

  /// What ``trim(now:)`` removed.
  package struct Trimmed: Hashable, Sendable {
    package var entries = 0
    package var presence = 0
  }

  private struct State: ~Copyable {
    /// The connection; `nil` when the store is closed, or when a damaged database could not be replaced.
    var database: Database?
    /// The lock of the store that writes; it ends after the connection.
    var lock: StateFile?
    var generation = ""
    var warnings: [String] = []
    var isClosed = false
    var droppedPresence: Int64 = 0
    /// The time of the last trimming.
    var trimmed: Int64?

    /// Opens the database that is there, or makes one. The caller has the lock.
    mutating func connect(_ file: FilePath) throws(StorageError) {
      do throws(StorageError) {
        if try Opening.isDatabase(file, .history) {
          try use(Schema.history.open(file))
          return
        }
      } catch {
        guard case .damaged(let message) = error.problem else { throw error }
        try setAside(file, message)
      }
      try use(Opening.create(file, .history))
    }

    private mutating func use(_ opened: consuming Database) throws(StorageError) {
      generation = try opened.historyGeneration()
      database = consume opened
    }

    /// Gives a damaged database another name.
    mutating func setAside(_ file: FilePath, _ message: String) throws(StorageError) {
      database = nil
      let aside = try Opening.setAside(file)
      warnings.append(
        "\(file): the history was damaged and is now \(aside) (\(message)); an empty one takes its "
          + "place")
    }
  }

  /// The file's absolute path.
  package let path: String
  package let limits: Limits
  private let isReader: Bool
  private let state: Mutex<State>

  /// Opens or creates a database for writing.
  ///
  /// - Parameters:
  ///   - path: The database's file. A relative path is resolved now.
  ///   - limits: The bounds, which may differ from one opening to the next.
  ///   - makesDirectory: Whether directories that are missing are made, for this user alone.
  /// - Throws: The reason why it cannot be used, such as a full disk: the caller may try again.
  package init(
    path: String, limits: Limits = Limits(), makesDirectory: Bool = false
  ) throws(StorageError) {
    if makesDirectory {
      let directory = FilePath(path).removingLastComponent()
      if directory.isAbsolute { try StatePath.makeDirectory(directory) }
    }
    let file = try StatePath.resolve(FilePath(path))
    let lockPath = file.beside("-lock")
    // A file of another program gets no file beside it. Where there is a lock already, it comes first: closing a file
    // drops the locks that SQLite has on it in this process.
    if !StatePath.exists(lockPath) { _ = try Opening.isDatabase(file, .history) }
    let lock = try StateFile(lockPath, creating: true)
    try lock.lock(of: file)
    try lock.writeProcess()
    (self.path, self.limits, isReader) = (file.string, limits, false)
    var state = State(lock: lock)
    try state.connect(file)
    self.state = Mutex(state)
  }

  /// Opens a database for reading, beside the store that writes it or on a medium that cannot be written.
  package init(reading path: String) throws(StorageError) {
    let file = try StatePath.resolve(FilePath(path))
    // SQLite would wait for the other end of a pipe.
    do {
      guard try file.stat().type == .regular else {
        throw StorageError(file: file.string, problem: .notAFile)
      }
    } catch let error as StorageError {
      throw error
    } catch {
      throw .failed("open", file, error)
    }
    let database = try Schema.history.read(file)
    let generation = try database.historyGeneration()
    (self.path, limits, isReader) = (file.string, Limits(), true)
    state = Mutex(State(database: database, generation: generation))
  }

  /// The identifier of the database, which was made with it: eight hexadecimal digits. Identifiers of entries are
  /// valid in their generation.
  package var generation: String { state.withLock { $0.generation } }

  /// What was wrong and was repaired: sentences for a person.
  package var warnings: [String] { state.withLock { $0.warnings } }

  /// How often presence was not stored since the store was opened, because the hour had too many beacons.
  package var droppedPresence: Int64 { state.withLock { $0.droppedPresence } }

  /// Closes the files. Calls that follow fail.
  package func close() {
    state.withLock { state in
      state.database = nil
      state.lock = nil
      state.isClosed = true
    }
  }

  // MARK: - Writing

  /// Stores entries in one transaction, all or none, and returns their identifiers.
  ///
  /// An entry that is stored already is not stored again, and its identifier is returned: an entry with the same
  /// kind, region, beacon and time, or, without a region, with the same payload too.
  ///
  /// Now and then, entries that are too old or too many are removed afterwards.
  ///
  /// - Parameters:
  ///   - entries: The entries, whose ``Entry/id`` is not looked at.
  ///   - skipping: The number of identifiers that are left out before the first of them, for entries that are lost.
  ///   - marks: What ``marks`` returns from then on; `nil` leaves it as it is. Receivers have no spaces in their names.
  ///   - now: The wall-clock time, in microseconds, from which the age counts; in a replay, the recorded one.
  /// - Returns: An identifier for each entry, in their order.
  /// - Throws: The reason why nothing was stored, such as a full disk: the caller may try again.
  @discardableResult
  package func append(
    _ entries: [Entry], skipping: Int = 0, marks: [String: Int64]? = nil,
    now: Int64 = HistoryStore.now
  ) throws(StorageError) -> [Int64] {
    for entry in entries {
      try check(entry.payload.count, Self.maximumPayload)
      for name in [entry.kind, entry.region, entry.beacon] {
        try check(name?.utf8.count ?? 0, Self.maximumName)
      }
    }
    return try writing { database throws(StorageError) in
      try database.append(entries, skipping: skipping, marks: marks)
    } then: {
      state, _ in
      trimIfDue(&state, now)
    }
  }

  /// Adds the presence of beacons to what their hours have.
  ///
  /// - Parameters:
  ///   - presence: What was received since the last call.
  ///   - isProtected: Returns whether a beacon is stored although its hour has beacons enough, as one of a
  ///     registered region is.
  ///   - now: The wall-clock time, in microseconds.
  /// - Returns: The number of those that were not stored because their hour has too many beacons.
  /// - Throws: The reason why nothing was stored.
  @discardableResult
  package func addPresence(
    _ presence: [Presence], isProtected: @Sendable (String) -> Bool = { _ in false },
    now: Int64 = HistoryStore.now
  ) throws(StorageError) -> Int {
    for one in presence { try check(one.beacon.utf8.count, Self.maximumName) }
    let maximum = limits.maximumBeaconsPerHour
    return try writing { database throws(StorageError) in
      try database.add(presence, maximum: maximum, isProtected: isProtected)
    } then: { state, dropped in
      state.droppedPresence += Int64(dropped)
      trimIfDue(&state, now)
    }
  }

  /// Removes what is older than ``Limits/maximumAge``, and the oldest of what takes more than
  /// ``Limits/maximumBytes``.
  ///
  /// - Parameter now: The wall-clock time, in microseconds.
  /// - Returns: How much was removed.
  /// - Throws: The reason why the rest was not.
  @discardableResult
  package func trim(now: Int64 = HistoryStore.now) throws(StorageError) -> Trimmed {
    let limits = limits
    return try writing { database throws(StorageError) in
      try database.trimAge(limits, now).adding(database.trimSize(limits))
    } then: { state, _ in
      state.trimmed = now
    }
  }

  /// Removes what is too much after an append. What was appended is stored: a failure waits for the next one.
  private func trimIfDue(_ state: inout State, _ now: Int64) {
    let isDue = state.trimmed.map { now < $0 || now - $0 >= Self.trimInterval } ?? true
    if isDue, (try? state.database?.trimAge(limits, now)) != nil { state.trimmed = now }
    _ = try? state.database?.trimSize(limits)
  }

  private func check(_ bytes: Int, _ maximum: Int) throws(StorageError) {
    guard bytes > maximum else { return }
    throw error(.tooLong(bytes: bytes, maximum: maximum))
  }

  private func error(_ problem: StorageError.Problem) -> StorageError {
    StorageError(file: path, problem: problem)
  }

  /// Writes to the database; where it is damaged, to an empty one in its place.
  private func writing<Result: Sendable>(
    _ body: @Sendable (borrowing Database) throws(StorageError) -> Result,
    then end: @Sendable (inout State, Result) -> Void
  ) throws(StorageError) -> Result {
    try state.withLock { state throws(StorageError) in
      guard !isReader else { throw error(.onlyReading) }
      guard !state.isClosed else { throw error(.closed) }
      let file = FilePath(path)
      do throws(StorageError) {
        if let result = try state.database?.with(body) {
          end(&state, result)
          return result
        }
      } catch {
        switch error.ofRightQuery.problem {
        case .damaged(let message): try state.setAside(file, message)
        case .failed(_, .noSpace):
          // SQLite also says so where a damaged header has too many pages.
          guard StatePath.hasRoom(file), try state.database?.isWhole() == false else { throw error }
          try state.setAside(file, "its pages are not whole")
        default: throw error
        }
      }
      try state.connect(file)
      guard let result = try state.database?.with(body) else { throw error(.closed) }
      end(&state, result)
      return result
    }
  }

  // MARK: - Reading

  /// Returns entries by rising identifier.
  package func entries(_ query: Query = Query()) throws(StorageError) -> [Entry] {
    try reading { database throws(StorageError) in try database.entries(query) }
  }

  /// Calls a function with entries by rising identifier. It needs the memory of some hundred of them, and entries
  /// that are stored meanwhile may come too.
  package func forEachEntry<Failure: Error>(
    _ query: Query = Query(), _ body: (Entry) throws(Failure) -> Void
  ) throws {
    var page = query
    var left = query.limit ?? .max
    if query.leavesNewest, let limit = query.limit {
      page.leavesNewest = false
      let first = try reading { database throws(StorageError) in
        try database.firstOfNewest(limit, query)
      }
      page.after = first.map { $0 - 1 } ?? query.after
    }
    while left > 0 {
      page.limit = min(left, 256)
      let found = try entries(page)
      for entry in found { try body(entry) }
      left -= found.count
      guard let last = found.last, found.count == page.limit else { return }
      page.after = last.id
    }
  }

  /// For each receiver of events, by its name, the highest identifier up to which it needs no entry any more.
  package var marks: [String: Int64] {
    get throws(StorageError) {
      try reading { database throws(StorageError) in try database.marks() }
    }
  }

  /// Returns the names of the regions that entries have, in alphabetical order.
  package func regions() throws(StorageError) -> [String] {
    try reading { database throws(StorageError) in try database.regions() }
  }

  /// The number of entries.
  package var count: Int {
    get throws(StorageError) {
      try reading { database throws(StorageError) in
        Int(try database.integer("SELECT count(*) FROM entry"))
      }
    }
  }

  /// The lowest identifier of an entry that is stored; `nil` where there is none.
  package var firstID: Int64? {
    get throws(StorageError) {
      let first = try reading { database throws(StorageError) in
        try database.integer("SELECT ifnull(min(id), 0) FROM entry")
      }
      return first > 0 ? first : nil
    }
  }

  /// The highest identifier that an entry was given; 0 before the first one.
  package var lastID: Int64 {
    get throws(StorageError) {
      try reading { database throws(StorageError) in
        try database.integer("SELECT seq FROM sqlite_sequence WHERE name = 'entry'")
      }
    }
  }

  /// Returns the presence of beacons by rising hour.
  ///
  /// - Parameters:
  ///   - since: Only hours that end after this time, in microseconds.
  ///   - until: Only hours that begin before this time, in microseconds.
  ///   - beacon: Only this beacon.
  /// - Returns: The presence, by hour and by beacon.
  /// - Throws: The reason why it cannot be read.
  package func presence(
    since: Int64? = nil, until: Int64? = nil, beacon: String? = nil
  ) throws(StorageError) -> [Presence] {
    try reading { database throws(StorageError) in try database.presence(since, until, beacon) }
  }

  private func reading<Result: Sendable>(
    _ body: @Sendable (borrowing Database) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try state.withLock { state throws(StorageError) in
      do throws(StorageError) {
        if let result = try state.database?.with(body) { return result }
      } catch {
        throw error.ofRightQuery
      }
      throw error(.closed)
    }
  }

  /// The wall-clock time, in microseconds since 1970-01-01T00:00:00Z.
  package static var now: Int64 {
    var time = timespec()
    // The structure outlives the call.
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}

extension HistoryStore.Trimmed {
  fileprivate func adding(_ other: Self) -> Self {
    Self(entries: entries + other.entries, presence: presence + other.presence)
  }
}
