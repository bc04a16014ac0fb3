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
///   survive the process, and a power cut when the transaction that follows is on the disk.
/// - A position that ``mark(_:through:)`` records survives the process in the same way.
/// - Only ``writeAndWait(_:)``, ``flush()`` and ``close()`` wait for a sync. A queue of the store
///   creates the database and stores all that waits in one transaction. A failed one is repeated
///   with the next change or after five seconds.
/// - Identifiers are reserved ahead and never reused. After an unclean end, the next process
///   continues after the reserved ones, because some may have been given and not written. Where
///   entries may be lost, the store records a gap.
/// - One store at a time, in all processes, uses a file. Any number of ``StoreReader``s read a
///   history.
///
/// All members may be used from any thread. The files beside the database `FILE` are `FILE-wal`
/// (SQLite's log, at most 1 MiB and one transaction), `FILE-log-1` and `FILE-log-2` (at most 8 MiB
/// each), `FILE-readers` (4 KiB) and, with a history, `FILE-shm`. Copy all, or `FILE` alone after
/// ``close()``.
package final class Store: Sendable {
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
  /// The number of identifiers reserved ahead, enough for 49 days at 1,000 a second without a disk.
  static let reservation: Int64 = 1 << 32
  private static let secondsBetweenTries = 5.0
  /// The number of waiting positions that starts a transaction.
  private static let marksPerTransaction = 256
  /// The interval at which old entries are removed, in microseconds.
  private static let trimInterval: Int64 = 600_000_000

  package enum Location: Hashable, Sendable {
    /// An application's file, `ID.sqlite` in the XDG state directory; see ``StatePath``.
    case application(String)
    /// A path. A relative one is resolved when the store is opened.
    case file(String)
  }

  /// The name of a registration. Of spellings that are equal as `String`s, the first one is stored.
  package struct Key: Hashable, Sendable {
    /// The service, such as `beacons`.
    package var service: String
    /// The group of clients; empty for the app's own managers.
    package var group: String
    package var identifier: String

    package init(service: String, group: String = "", identifier: String) {
      self.service = service
      self.group = group
      self.identifier = identifier
    }
  }

  package struct Registration: Hashable, Sendable {
    package var key: Key
    package var definition: [UInt8]
    package var state: [UInt8]?

    package init(key: Key, definition: [UInt8], state: [UInt8]? = nil) {
      self.key = key
      self.definition = definition
      self.state = state
    }
  }

  package struct Limits: Hashable, Sendable {
    /// The maximum age of entries and presence, in seconds.
    package var maximumAge: Int64
    /// The maximum size of the database file, in bytes; at least 128 KiB.
    package var maximumBytes: Int64
    /// The maximum number of beacons with presence per hour. As many protected ones are added.
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

  package enum Change: Sendable {
    /// Stores a registration in place of one with its key, whose entries stay.
    case register(Registration)
    /// Removes a registration and, without a history, its entries.
    case remove(Key)
    /// Stores the state of a registration; does nothing if there is none.
    case setState(Key, [UInt8])
    case add(StoredEntry)
    /// Stores the authorization; `nil` if it is not determined.
    case setAuthorization(String?)
    /// Records that a reader, or a group's clients, need no entry up to an identifier any more.
    case mark(reader: String, through: Int64)
    /// Adds presence to that of its hour; does nothing without a history.
    case addPresence(StoredPresence)
    case addGap(EntryGap)
    /// Names a database that does not exist yet.
    case setGeneration(String)

    static func settle(group: String, through id: Int64) -> Change {
      .mark(reader: readerName(ofGroup: group), through: id)
    }
  }

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
    /// The time of the last trimming, in microseconds.
    var trimmed: Int64?

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

  private let schema: Schema
  private let makesDirectory: Bool
  private let lastIdentifier: Atomic<Int64>
  private let reserved: Atomic<Int64>
  private let state: Mutex<State>
  /// The connection; `nil` until the database exists and after the store is closed.
  private let database: Mutex<Database?>
  private let isMade: Atomic<Bool>
  private let openedReader = Mutex<StoreReader?>(nil)
  /// The queue that creates the database and stores what waits. Tests suspend it.
  let writer = DispatchQueue(label: "beaconscan.storage")
  private let refusals = DispatchQueue(label: "beaconscan.storage.refusals")

  /// Reads a store's files without waiting for a sync. The store's queue creates missing files
  /// later, with the directory of an application's store. Without `limits`, settled entries are
  /// removed.
  ///
  /// A file that is not a database of this module is not changed. A damaged database is renamed to
  /// `FILE.damaged-1`, with a warning. Databases of versions before 0.2 are converted.
  package convenience init(_ location: Location, limits: Limits? = nil) throws(StorageError) {
    try self.init(location, limits, Schema(isShared: limits != nil))
  }

  init(_ location: Location, _ limits: Limits?, _ schema: Schema) throws(StorageError) {
    var opened = try Opening(location, schema)
    var contents = opened.contents
    path = opened.path.string
    self.schema = schema
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
      let last = Self.identifier(
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
    let isLow = contents.reserved - contents.lastID < Self.reservation / 2
    lastIdentifier = Atomic(contents.lastID)
    reserved = Atomic(contents.reserved)
    let hasWork = isMissing || isLow || !opened.changes.isEmpty || !state.queue.gaps.isEmpty
    if isMissing, isNew { try? state.log?.append([.setGeneration(generation)]) }
    self.state = Mutex(state)
    isMade = Atomic(!isMissing)
    database = Mutex(opened.database.take())
    if hasWork { self.state.withLock { schedule(&$0) } }
  }

  /// Returns an identifier after all that earlier processes gave. If the disk failed, these may
  /// exceed `reserved`. The clock's microseconds avoid them, because no process gives a million a
  /// second.
  private static func identifier(after reserved: Int64) -> Int64 {
    var time = timespec()
    // The structure outlives the call.
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    return reserved + 1 + microseconds % (reservation / 2)
  }

  package static func randomGeneration() -> String {
    let digits = String(UInt32.random(in: 0...UInt32.max), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  static func readerName(ofGroup group: String) -> String { "group:\(group)" }

  static func group(ofReader name: String) -> String? {
    name.rest(after: "group:")
  }

  /// Sentences about problems that were repaired, for a person.
  package var warnings: [String] { state.withLock { $0.warnings } }

  /// Returns a new identifier, without input or output.
  package func nextID() -> Int64 {
    lastIdentifier.wrappingAdd(1, ordering: .relaxed).newValue
  }

  package var lastID: Int64 { lastIdentifier.load(ordering: .relaxed) }

  /// Stores changes, all or none, except that one longer than its bound is refused alone. Only the
  /// last waiting state of a key is stored.
  ///
  /// `completion` is called on a queue of the store when the changes are on the disk, or with the
  /// reason why one is not, in the order of the writes (separately for writes that are refused as a
  /// whole). It must not wait for this store.
  ///
  /// - Returns: Whether the changes survive the process from now on.
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

  /// Records that a group's clients need no entry through an identifier again. Makes one system
  /// call and does not wait. Call it on the delegate's thread, right after the delegate returns.
  package func settle(group: String, through id: Int64) {
    mark(Self.readerName(ofGroup: group), through: id)
  }

  /// Records a reader's position, as ``settle(group:through:)`` does for a group.
  package func mark(_ reader: String, through id: Int64) {
    // This comes first: a process killed before it delivers the entry again.
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
      isMade.store(false, ordering: .releasing)
      openedReader.withLock { $0 = nil }
      // The next store continues after this identifier.
      let last = lastID
      let isClosed = database.withLock { database in
        defer { database = nil }
        return (try? database?.close(lastID: last)) != nil
      }
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
  package func reader() throws(StorageError) -> StoreReader? {
    // The writer's connection is not used: a transaction may hold it for as long as a sync takes.
    guard limits != nil, isMade.load(ordering: .acquiring) else { return nil }
    return try openedReader.withLock { reader throws(StorageError) in
      if reader == nil { reader = try StoreReader(path) }
      return reader
    }
  }

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
      try store(batch, sequence: sequence)
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
      trim(batch)
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

  private func retry() {
    writer.asyncAfter(deadline: .now() + Self.secondsBetweenTries) { [weak self] in
      self?.state.withLock { state in
        state.isWaitingToRetry = false
        if !state.isClosed { self?.schedule(&state) }
      }
    }
  }

  /// Stores a batch. Creates the database if it is missing or damaged.
  private func store(_ batch: Batch, sequence: Int64?) throws(StorageError) {
    try database.withLock { database throws(StorageError) in
      if database == nil { database = try makeDatabase() }
      guard !batch.isEmpty || reserved.load(ordering: .relaxed) - lastID < Self.reservation / 2
      else { return }
      do throws(StorageError) {
        try store(batch, sequence: sequence, in: database)
      } catch {
        guard let message = try damage(error, database) else { throw error }
        // The new database has only the registrations of later changes.
        let file = FilePath(path)
        database = nil
        isMade.store(false, ordering: .releasing)
        openedReader.withLock { $0 = nil }
        let aside = try Opening.setAside(file)
        state.withLock { $0.warnings.append(Opening.warning(file, aside, message)) }
        database = try Opening.create(file, schema, generation: generation)
        isMade.store(true, ordering: .releasing)
        try store(batch, sequence: sequence, in: database)
      }
    }
  }

  private func store(
    _ batch: Batch, sequence: Int64?, in database: borrowing Database?
  ) throws(StorageError) {
    let last = lastID
    var reserved = self.reserved.load(ordering: .relaxed)
    if reserved - last < Self.reservation / 2 { reserved = last + Self.reservation }
    try database?.store(
      batch, sequence: sequence ?? 0, lastID: last, reserved: reserved, limits: limits)
    self.reserved.store(reserved, ordering: .relaxed)
  }

  private func damage(
    _ error: StorageError, _ database: borrowing Database?
  ) throws(StorageError) -> String? {
    switch error.ofRightQuery.problem {
    case .damaged(let message): return message
    case .failed(_, .noSpace):
      // SQLite also reports a full disk where a damaged header counts too many pages.
      guard StatePath.hasRoom(FilePath(path)), try database?.isWhole() == false else { return nil }
      return "its pages are not whole"
    default: return nil
    }
  }

  /// Creates the files that were missing on opening.
  private func makeDatabase() throws(StorageError) -> Database {
    let file = FilePath(path)
    if makesDirectory { try StatePath.makeDirectory(file.removingLastComponent()) }
    if state.withLock({ $0.positions == nil }) {
      let positions = try ReaderPositions(file.beside("-readers"), of: file)
      state.withLock { $0.positions = positions }
    }
    let made = try Opening.create(file, schema, generation: generation)
    if state.withLock({ $0.log == nil }) {
      let log = try WriteLog(file, after: nil)
      log.removeAll()
      state.withLock { $0.log = log }
    }
    isMade.store(true, ordering: .releasing)
    return made
  }

  /// Applies the bounds after a transaction. If it fails, the next transaction tries again.
  private func trim(_ batch: Batch) {
    guard let limits, !batch.entries.isEmpty || !batch.presence.isEmpty else { return }
    // The records' own time counts, because a recording is older than this machine's clock.
    let hour = batch.presence.last.map { $0.hour.multipliedReportingOverflow(by: 3_600_000_000).0 }
    let now = max(batch.entries.last?.time ?? .min, hour ?? .min)
    let isDue = state.withLock { state in
      state.trimmed.map { now < $0 || now &- $0 >= Self.trimInterval } ?? true
    }
    database.withLock { database in
      if isDue, (try? database?.trimAge(limits, now)) != nil {
        state.withLock { $0.trimmed = now }
      }
      _ = try? database?.trimSize(limits)
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

extension Store.Key {
  fileprivate var bytes: Int { service.utf8.count + group.utf8.count + identifier.utf8.count }
}

extension Store.Change {
  /// The length of the longest bounded part, in bytes.
  fileprivate var bytes: Int {
    switch self {
    case .register(let registration):
      max(registration.key.bytes, registration.definition.count, registration.state?.count ?? 0)
    case .remove(let key): key.bytes
    case .setState(let key, let state): max(key.bytes, state.count)
    case .add(let entry): entry.bytes
    case .setAuthorization(let value): value?.utf8.count ?? 0
    case .mark(let reader, _): reader.utf8.count
    case .addPresence(let presence): presence.beacon.utf8.count
    case .addGap, .setGeneration: 0
    }
  }

  fileprivate func maximum(in limits: Store.Limits?) -> Int {
    if case .add = self, limits != nil { return Store.maximumEntry }
    return Store.maximumBytes
  }
}
