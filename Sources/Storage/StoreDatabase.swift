import Glibc
import Synchronization
import SystemPackage

/// The database of a store, created when it is missing or damaged, and the identifiers that are
/// reserved in it.
final class StoreDatabase: Sendable {
  let path: FilePath
  /// The highest identifier that was given.
  let lastID: Atomic<Int64>
  private let reserved: Atomic<Int64>
  private let generation: String
  private let limits: Store.Limits?
  private let schema: Schema
  /// The connection; `nil` until the database exists and after the store is closed.
  private let connection: Mutex<Database?>
  private let isMade: Atomic<Bool>
  private let openedReader = Mutex<StoreReader?>(nil)
  /// The time of the last trimming, in microseconds.
  private let trimmed = Mutex<Int64?>(nil)

  /// The number of identifiers reserved ahead. Half of it, as microseconds, is 38 hours.
  private static let reservation: Int64 = 1 << 38
  /// The interval at which old entries are removed, in microseconds.
  private static let trimInterval: Int64 = 600_000_000

  init(
    _ path: FilePath, _ connection: consuming Mutex<Database?>, isMade: Bool,
    _ contents: Contents, generation: String, _ limits: Store.Limits?, _ schema: Schema
  ) {
    self.path = path
    self.generation = generation
    self.limits = limits
    self.schema = schema
    lastID = Atomic(contents.lastID)
    reserved = Atomic(contents.reserved)
    self.isMade = Atomic(isMade)
    self.connection = connection
  }

  /// Returns an identifier after all that earlier processes gave. If the disk failed, these may
  /// exceed `reserved`. The clock's microseconds avoid them for 38 hours at a time, as no process
  /// gives a million a second.
  static func identifier(after reserved: Int64) -> Int64 {
    var time = timespec()
    // The structure outlives the call.
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    return reserved + 1 + microseconds % (reservation / 2)
  }

  var needsReservation: Bool {
    reserved.load(ordering: .relaxed) - lastID.load(ordering: .relaxed) < Self.reservation / 2
  }

  func createIfMissing() throws(StorageError) {
    try connection.withLock { connection throws(StorageError) in
      if connection == nil { connection = try create() }
    }
  }

  private func create() throws(StorageError) -> Database {
    let made = try Opening.create(path, schema, generation: generation)
    isMade.store(true, ordering: .releasing)
    return made
  }

  /// Stores a batch, with the sequence number of its latest log record. Replaces a damaged
  /// database, with a warning; the new one has only the registrations of later changes.
  func store(
    _ batch: Batch, sequence: Int64, warn: (String) -> Void
  ) throws(StorageError) {
    guard !batch.isEmpty || needsReservation else { return }
    try connection.withLock { connection throws(StorageError) in
      do throws(StorageError) {
        try store(batch, sequence, in: connection)
      } catch {
        guard let message = try damage(error, connection) else { throw error }
        connection = nil
        closeReader()
        warn(Opening.warning(path, try Opening.setAside(path), message))
        connection = try create()
        try store(batch, sequence, in: connection)
      }
    }
  }

  private func store(
    _ batch: Batch, _ sequence: Int64, in connection: borrowing Database?
  ) throws(StorageError) {
    let last = lastID.load(ordering: .relaxed)
    var reserved = self.reserved.load(ordering: .relaxed)
    if reserved - last < Self.reservation / 2 { reserved = last + Self.reservation }
    try connection?.store(
      batch, sequence: sequence, lastID: last, reserved: reserved, limits: limits)
    self.reserved.store(reserved, ordering: .relaxed)
  }

  private func damage(
    _ error: StorageError, _ connection: borrowing Database?
  ) throws(StorageError) -> String? {
    switch error.ofRightQuery.problem {
    case .damaged(let message): return message
    case .failed(_, .noSpace):
      // SQLite also reports a full disk where a damaged header counts too many pages.
      guard StatePath.hasRoom(path), try connection?.isWhole() == false else { return nil }
      return "its pages are not whole"
    default: return nil
    }
  }

  /// Applies the bounds after a transaction. If it fails, the next transaction tries again.
  func trim(_ batch: Batch) {
    guard let limits, !batch.entries.isEmpty || !batch.presence.isEmpty else { return }
    // The records' own time counts, because a recording is older than this machine's clock.
    let hour = batch.presence.last.map { $0.hour.multipliedReportingOverflow(by: 3_600_000_000).0 }
    let now = max(batch.entries.last?.time ?? .min, hour ?? .min)
    connection.withLock { connection in
      trimmed.withLock { trimmed in
        let isDue = trimmed.map { now < $0 || now &- $0 >= Self.trimInterval } ?? true
        if isDue, (try? connection?.trimAge(limits, now)) != nil { trimmed = now }
      }
      _ = try? connection?.trimSize(limits)
    }
  }

  /// Returns a reader of the entries on the disk; `nil` without a history or a database.
  func reader() throws(StorageError) -> StoreReader? {
    // The writer's connection is not used: a transaction may hold it for as long as a sync takes.
    guard limits != nil, isMade.load(ordering: .acquiring) else { return nil }
    return try openedReader.withLock { reader throws(StorageError) in
      if reader == nil { reader = try StoreReader(path.string) }
      return reader
    }
  }

  private func closeReader() {
    isMade.store(false, ordering: .releasing)
    openedReader.withLock { $0 = nil }
  }

  /// Closes the files. Returns whether the clean end is recorded.
  func close() -> Bool {
    closeReader()
    // The next store continues after this identifier.
    let last = lastID.load(ordering: .relaxed)
    return connection.withLock { connection in
      defer { connection = nil }
      return (try? connection?.close(lastID: last)) != nil
    }
  }
}
