internal import Bytes
internal import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// Registrations and their states, entries, readers' positions, presence and the authorization, in
/// one SQLite database.
///
/// ```swift
/// let store = try Store(.application("org.example.kiosk"))
/// for entry in store.undelivered { deliver(entry); store.settle(group: "", through: entry.id) }
/// let entry = StoredEntry(id: store.nextID(), time: time, kind: "enter", payload: bytes)
/// if store.write([.setState(key, state), .add(entry)]) { show(entry) }
/// ```
///
/// - ``write(_:completion:)`` hands the changes to the kernel before it returns, all or none: they
///   survive the process, as positions do, and a power cut after the transaction that follows.
/// - Only ``writeAndWait(_:)``, ``flush()`` and ``close()`` wait for a sync. A queue creates the
///   database and stores all that waits in one transaction, which is repeated if it fails.
/// - Identifiers are reserved ahead and never reused: after an unclean end, the next process
///   continues after the reserved ones. Where entries may be lost, the store records a gap.
/// - One store at a time, in all processes, uses a file, beside any number of ``StoreReader``s.
///
/// All members may be used from any thread. The files beside the database `FILE` are `FILE-wal`
/// (SQLite's log, at most 1 MiB and one transaction), `FILE-log-1` and `FILE-log-2` (at most 8 MiB
/// each), `FILE-readers` (4 KiB) and, with a history, `FILE-shm`.
package final class Store: Sendable {
  /// What the names of a store's files add to its path.
  package static let fileSuffixes = ["", "-wal", "-shm", "-log-1", "-log-2", "-readers"]
  /// The maximum number of undelivered entries without a history. Older ones are dropped.
  package static let maximumUndelivered = 16384
  /// The maximum length of a key, a definition, a state, or an entry without a history, in bytes.
  package static let maximumBytes = 65536
  /// The maximum length of an entry in a history, in bytes.
  package static let maximumEntry = 1 << 20
  /// The maximum number of changed keys, entries and completions that wait for the disk.
  package static let maximumWaitingChanges = 65536
  /// The maximum number and length in bytes of entries that wait for the disk. Older ones are lost.
  static let maximumWaitingEntries = 16384
  static let maximumWaitingBytes = 16 << 20
  static let maximumGaps = 256
  /// A bound of identifiers that no store reaches in a disk's lifetime.
  static let maximumID: Int64 = 1 << 60
  private static let secondsBetweenTries = 5.0
  /// The number of waiting positions that starts a transaction.
  private static let marksPerTransaction = 256

  private struct State {
    var queue: Batch
    /// The keys of registrations, in the database's spelling.
    var keys: Set<Key> = []
    /// `nil` until the files exist and after the store is closed, like the log.
    var positions: ReaderPositions?
    var log: WriteLog?
    /// Whether changes wait that the log does not have.
    var hasUnwritten = false
    /// Whether the running transaction stores changes that the log does not have.
    var isStoringUnwritten = false
    /// Whether the file of positions records ``hasUnwritten``.
    var isUnwrittenRecorded = false
    var isScheduled = false
    var isWaitingToRetry = false
    var isClosed = false
    var marksWaiting = 0
    var transactions = 0
    /// The gaps, in ascending order. The oldest ones beyond ``maximumGaps`` are merged.
    var gaps: [EntryGap] = []
    var recovered: [StoredEntry] = []
    var failure: StorageError?
    var warnings: [String] = []

    mutating func noteGaps() {
      for gap in queue.gaps { gaps.insert(gap) }
      while gaps.count > maximumGaps {
        gaps.insert(EntryGap(first: gaps[0].first, last: gaps[1].last))
      }
    }

    mutating func add(_ change: Change) {
      switch change {
      case .register(var registration):
        registration.key = keys.insert(registration.key).memberAfterInsert
        queue.add(.register(registration))
      case .remove(let key): queue.add(.remove(keys.remove(key) ?? key))
      case .setState(let key, let state): queue.add(.setState(spelled(key), state))
      case .add(var entry):
        if let key = entry.key { entry.region = spelled(key).identifier }
        queue.add(.add(entry))
      default: queue.add(change)
      }
    }

    private func spelled(_ key: Key) -> Key { keys.firstIndex(of: key).map { keys[$0] } ?? key }
  }

  package let path: String
  /// The bounds of the history; `nil` where settled entries are removed.
  package let limits: Limits?
  /// Distinguishes this database's identifiers from those of others: eight hexadecimal digits.
  package let generation: String
  package let registrations: [Registration]
  /// The entries that groups had not settled on opening, in ascending order of identifier.
  package let undelivered: [StoredEntry]
  package let authorization: String?
  /// The readers' positions on opening, by name.
  package let positions: [String: Int64]

  private let makesDirectory: Bool
  private let state: Mutex<State>
  private let database: StoreDatabase
  /// The queue that creates the database and stores what waits. Tests suspend it.
  let writer = DispatchQueue(label: "beaconscan.storage")
  private let refusals = DispatchQueue(label: "beaconscan.storage.refusals")

  /// Reads a store's files without waiting for a sync. Missing ones are created later, with the
  /// directory of an application's store. Without `limits`, settled entries are removed. A damaged
  /// database is renamed to `FILE.damaged-1`, with a warning.
  package convenience init(_ location: Location, limits: Limits? = nil) throws(StorageError) {
    try self.init(location, limits, Schema(isShared: limits != nil))
  }

  init(_ location: Location, _ limits: Limits?, _ schema: Schema) throws(StorageError) {
    var opened = try Opening(Opening.path(of: location), schema)
    var contents = opened.contents
    path = opened.path.string
    self.limits = limits
    makesDirectory = if case .application = location { true } else { false }
    let isNew = contents.generation.isEmpty
    generation = isNew ? Self.randomGeneration() : contents.generation
    registrations = contents.registrations
    authorization = contents.authorization
    undelivered = contents.undelivered
    positions = contents.positions
    var state = State(queue: Batch(keepsHistory: limits != nil))
    state.keys = Set(registrations.map(\.key))
    state.warnings = opened.warnings
    state.positions = opened.positions
    state.log = opened.log
    for change in opened.changes {
      state.queue.add(change)
      if case .add(let entry) = change { state.recovered.append(entry) }
    }
    for (reader, id) in contents.positions {
      state.queue.add(.mark(reader: reader, through: id))
    }
    let isMissing = opened.database == nil
    if !isNew, let positions = opened.positions, !positions.isExact {
      let last = StoreDatabase.identifier(
        after: max(contents.reserved, contents.lastID, positions.highest))
      if positions.isLossy(wasClosed: contents.isClosed) {
        let gap = Change.addGap(EntryGap(first: contents.known + 1, last: last))
        state.queue.add(gap)
        // The gap must survive a process that ends before the first transaction.
        if (try? state.log?.append([gap])) == nil {
          state.hasUnwritten = true
          state.isUnwrittenRecorded = positions.record(.unwritten)
        }
      }
      contents.lastID = last
    }
    state.gaps = contents.gaps
    state.noteGaps()
    var hasWork = isMissing || !opened.changes.isEmpty || !state.queue.gaps.isEmpty
    if isMissing, isNew { try? state.log?.append([.setGeneration(generation)]) }
    self.state = Mutex(state)
    let connection = Mutex(opened.database.take())
    database = StoreDatabase(
      FilePath(path), connection, isMade: !isMissing, contents, generation: generation, limits,
      schema)
    hasWork = hasWork || database.needsReservation
    if hasWork { self.state.withLock { schedule(&$0) } }
  }

  package static func randomGeneration() -> String {
    let digits = String(UInt32.random(in: 0...UInt32.max), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  static func readerName(ofGroup group: String) -> String { "group:\(group)" }

  static func group(ofReader name: String) -> String? { name.rest(after: "group:") }

  /// Sentences about problems that were repaired, for a person.
  package var warnings: [String] { state.withLock { $0.warnings } }

  /// Returns a new identifier, without input or output.
  package func nextID() -> Int64 {
    database.lastID.wrappingAdd(1, ordering: .relaxed).newValue
  }

  package var lastID: Int64 { database.lastID.load(ordering: .relaxed) }

  /// Stores changes, all or none, except that one longer than its bound is refused alone. Returns
  /// whether they survive the process from now on. `completion` is called when they are on the
  /// disk, or with the reason why one is not, in the order of the writes that are not refused as a
  /// whole. It must not wait for this store.
  @discardableResult
  package func write(
    _ changes: [Change], completion: (@Sendable (StorageError?) -> Void)? = nil
  ) -> Bool {
    let long = changes.lazy.map { ($0.bytes, $0.maximum(in: self.limits)) }.first { $0.0 > $0.1 }
    let refusal = long.map { error(.tooLong(bytes: $0.0, maximum: $0.1)) }
    var problem: StorageError.Problem?
    let isWritten = state.withLock { state in
      if state.isClosed {
        problem = .closed
        return false
      }
      guard state.queue.count + changes.count <= Self.maximumWaitingChanges else {
        problem = .queueFull
        setUnwritten(&state)
        return false
      }
      var accepted: [Change] = []
      for change in changes {
        if change.bytes <= change.maximum(in: limits) {
          accepted.append(change)
        } else if case .add(let entry) = change {
          accepted.append(.addGap(EntryGap(first: entry.id, last: entry.id)))
        }
      }
      let isWritten = accepted.isEmpty || append(accepted, &state)
      for change in accepted { state.add(change) }
      state.queue.removeOldest(
        beyond: Self.maximumWaitingEntries, bytes: Self.maximumWaitingBytes)
      state.noteGaps()
      if let completion { state.queue.completions.append { completion($0 ?? refusal) } }
      schedule(&state)
      return isWritten && long == nil
    }
    if let problem, let completion {
      // The writer's queue would make it wait for the disk, which is already too slow.
      refusals.async { [self] in completion(error(problem)) }
    }
    return isWritten
  }

  private func append(_ changes: [Change], _ state: inout State) -> Bool {
    do throws(StorageError) {
      // While the log lacks a change, it must not have later ones, which would be half of an event.
      if let log = state.log, !state.hasUnwritten, !state.isStoringUnwritten {
        try log.append(changes)
        return true
      }
    } catch {
      state.failure = state.failure ?? error
    }
    setUnwritten(&state)
    return false
  }

  private func setUnwritten(_ state: inout State) {
    state.hasUnwritten = true
    // A disk that refused the changes may have refused this record too; then it is repeated.
    guard !state.isUnwrittenRecorded else { return }
    state.isUnwrittenRecorded = state.positions?.record(.unwritten) ?? false
  }

  private func error(_ problem: StorageError.Problem) -> StorageError {
    StorageError(file: path, problem: problem)
  }

  package func writeAndWait(_ changes: [Change]) throws(StorageError) {
    let outcome = Outcome()
    write(changes) { outcome.end($0) }
    if let error = outcome.wait() { throw error }
  }

  /// Records that a group's clients need no entry through an identifier again, by one system call.
  package func settle(group: String, through id: Int64) {
    mark(Self.readerName(ofGroup: group), through: id)
  }

  /// Records a reader's position, as ``settle(group:through:)`` does for a group.
  package func mark(_ reader: String, through id: Int64) {
    state.withLock { $0.positions }?.put(reader, id)
    state.withLock { state in
      state.queue.add(.mark(reader: reader, through: id))
      state.marksWaiting += 1
      if state.marksWaiting >= Self.marksPerTransaction { schedule(&state) }
    }
  }

  /// Waits until all earlier writes and positions are on the disk or have failed.
  package func flush() { try? writeAndWait([]) }

  /// Stores what waits and closes the files. Returns the reason why not all is stored, or `nil`.
  @discardableResult
  package func close() -> StorageError? {
    flush()
    state.withLock { $0.isClosed = true }
    // This stores what was written after the flush.
    return writer.sync {
      commit()
      let isClosed = database.close()
      return state.withLock { state in
        let isStored = state.queue.isEmpty
        if isStored, isClosed {
          state.log?.removeAll()
          state.positions?.record(.clean)
        }
        state.log = nil
        state.positions = nil
        return isStored ? nil : state.failure
      }
    }
  }

  package var transactions: Int { state.withLock { $0.transactions } }

  /// The highest identifier whose entry is lost; 0 if there is none.
  package var lostThrough: Int64 { state.withLock { $0.gaps.last?.last ?? 0 } }

  /// Returns the lowest identifier after a position whose entry is lost, or `nil`.
  package func firstGap(after id: Int64) -> Int64? {
    state.withLock { $0.gaps.first { $0.last > id }?.first }.map { max($0, id + 1) }
  }

  /// The reason why the last transaction or a position could not be stored, or `nil`.
  package var failure: StorageError? {
    state.withLock { $0.failure ?? $0.positions?.failure }
  }

  /// Removes and returns the entries that an earlier process left in the log.
  package func takeRecovered() -> [StoredEntry] {
    state.withLock { state in
      defer { state.recovered = [] }
      return state.recovered
    }
  }

  /// Returns a reader of the entries on the disk; `nil` without a history or a database.
  package func reader() throws(StorageError) -> StoreReader? { try database.reader() }

  private func schedule(_ state: inout State) {
    guard !state.isScheduled else { return }
    state.isScheduled = true
    writer.async { self.commit() }
  }

  private func commit() {
    var (batch, sequence, wasUnwritten) = state.withLock { state in
      state.isScheduled = false
      state.marksWaiting = 0
      defer {
        state.queue = Batch(keepsHistory: limits != nil)
        state.isStoringUnwritten = state.hasUnwritten
        state.hasUnwritten = false
      }
      return (state.queue, state.log?.begin(), state.hasUnwritten)
    }
    batch.removeSettled()
    var failure: StorageError?
    do throws(StorageError) {
      try makePositions()
      try database.createIfMissing()
      try makeLog()
      try database.store(batch, sequence: sequence ?? 0) { warning in
        state.withLock { $0.warnings.append(warning) }
      }
      state.withLock { state in
        if !batch.isEmpty { state.transactions += 1 }
        state.failure = nil
        state.positions?.areStored()
        state.log?.end()
        state.isStoringUnwritten = false
        // From now on, the log has everything that waits.
        if wasUnwritten, !state.hasUnwritten {
          state.positions?.record(.open)
          state.isUnwrittenRecorded = false
        }
      }
      database.trim(batch)
    } catch {
      failure = error
      let isFirst = state.withLock { state in
        var waiting = batch
        waiting.completions = []
        waiting.append(state.queue)
        state.queue = waiting
        state.hasUnwritten = state.hasUnwritten || wasUnwritten
        state.isStoringUnwritten = false
        state.failure = error
        defer { state.isWaitingToRetry = true }
        return !state.isWaitingToRetry
      }
      if isFirst { retry() }
    }
    for completion in batch.completions { completion(failure) }
  }

  /// Creates the directory and the file of positions if they were missing on opening.
  private func makePositions() throws(StorageError) {
    guard state.withLock({ $0.positions == nil }) else { return }
    if makesDirectory { try StatePath.makeDirectory(database.path.removingLastComponent()) }
    let positions = try ReaderPositions(database.path.beside("-readers"), of: database.path)
    state.withLock { $0.positions = positions }
  }

  /// Creates the log if it was missing on opening, without the records of a lost database: the new
  /// log would continue after them, and the next process would take its records for later ones.
  private func makeLog() throws(StorageError) {
    guard state.withLock({ $0.log == nil }) else { return }
    let log = try WriteLog.anew(database.path)
    state.withLock { $0.log = log }
  }

  private func retry() {
    writer.asyncAfter(deadline: .now() + Self.secondsBetweenTries) { [weak self] in
      self?.state.withLock { state in
        state.isWaitingToRetry = false
        if !state.isClosed { self?.schedule(&state) }
      }
    }
  }
}

private final class Outcome: Sendable {
  private let error = Mutex<StorageError?>(nil)
  private let isDone = DispatchSemaphore(value: 0)

  func end(_ error: StorageError?) {
    self.error.withLock { $0 = error }
    isDone.signal()
  }

  func wait() -> StorageError? {
    isDone.wait()
    return error.withLock { $0 }
  }
}
