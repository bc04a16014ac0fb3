internal import Dispatch
import Synchronization
import SystemPackage

/// Registrations, their states, undelivered events and the authorization, in one SQLite database.
///
/// ```swift
/// let store = try ServiceStore(.application("org.example.kiosk"))
/// for event in store.undelivered { deliver(event); store.markDelivered(event.serial) }
/// let event = ServiceStore.Event(serial: store.nextSerial(), key: key, payload: bytes)
/// store.write([.setState(key, state), .addEvent(event)]) { error in deliver(event) }
/// ```
///
/// - What a completed write stored survives the process's death at any moment and a power cut; a write that was not
///   complete is stored whole or not at all. One that failed is tried again, with the next one or after some
///   seconds.
/// - An event is delivered again after a restart only if the process dies between the delegate's return and the one
///   system call of ``markDelivered(_:)``, or if the power is cut within half a minute of its delivery and no write
///   completed after it. No event is lost.
/// - No call but ``writeAndWait(_:)``, ``flush()`` and ``close()`` waits for a sync: a queue of the store makes the
///   database, and writes everything that waits as one transaction.
/// - One store at a time uses a file, in all processes.
///
/// All members may be used from any thread. Beside the database `FILE` stand `FILE-wal` (SQLite's log, at most 1
/// MiB and one transaction) and `FILE-marks` (at most 256 KiB). They belong together: copy all or, after
/// ``close()``, `FILE` alone.
package final class ServiceStore: Sendable {
  /// The number of undelivered events that the database keeps; of more, the oldest are removed and counted.
  package static let maximumUndelivered = 16384
  /// The length of a key's parts together, a definition, a state or a payload, in bytes.
  package static let maximumBytes = 65536
  /// The number of changed keys, events and completions that wait for the disk.
  package static let maximumWaitingChanges = 65536
  /// Serials stay below it for as long as any disk lives.
  static let maximumSerial: Int64 = 1 << 62
  /// The seconds after which a write that failed is tried again.
  private static let secondsBetweenTries = 5.0
  /// How many delivered events wait for a transaction until one is started for them alone.
  private static let endedPerTransaction = 256

  /// The place of a database.
  package enum Location: Hashable, Sendable {
    /// An application's file: `$XDG_STATE_HOME/corelocation/ID.sqlite`, below `$HOME/.local/state` where that
    /// variable is not set.
    case application(String)
    /// A path. A relative one is resolved when the store is opened.
    case file(String)
  }

  /// The name of a registration. Names may hold any character, and are equal where `String` counts them as equal:
  /// the database has the spelling that was registered first.
  package struct Key: Hashable, Sendable {
    /// The service, such as `beacons`.
    package var service: String
    /// The client; empty for the app's own managers.
    package var group: String
    /// The identifier that the client gave.
    package var identifier: String

    package init(service: String, group: String = "", identifier: String) {
      (self.service, self.group, self.identifier) = (service, group, identifier)
    }
  }

  /// Something that a client registered, and its last state.
  package struct Registration: Hashable, Sendable {
    package var key: Key
    package var definition: [UInt8]
    package var state: [UInt8]?

    package init(key: Key, definition: [UInt8], state: [UInt8]? = nil) {
      (self.key, self.definition, self.state) = (key, definition, state)
    }
  }

  /// An event that is delivered to a client.
  package struct Event: Hashable, Sendable {
    /// The number that ``ServiceStore/nextSerial()`` returned for it.
    package let serial: Int64
    package var key: Key
    package var payload: [UInt8]

    package init(serial: Int64, key: Key, payload: [UInt8]) {
      (self.serial, self.key, self.payload) = (serial, key, payload)
    }
  }

  /// A change of what is stored.
  package enum Change: Sendable {
    /// Stores a registration, in place of one with its key. Events of that one stay.
    case register(Registration)
    /// Removes a registration and its undelivered events.
    case remove(Key)
    /// Stores the state of a registration; does nothing where there is none.
    case setState(Key, [UInt8])
    /// Stores an event until it is delivered. It needs no registration.
    case addEvent(Event)
    /// Stores what the app was granted; `nil` for not determined.
    case setAuthorization(String?)
  }

  private struct State {
    var queue = Batch()
    /// The keys of registrations, as the database spells them.
    var keys: Set<Key> = []
    /// `nil` until the files are made, and when the store is closed.
    var marks: DeliveryMarks?
    var isScheduled = false
    var isWaitingToRetry = false
    var isClosed = false
    var transactions = 0
    var dropped = 0
    var failure: StorageError?

    mutating func add(_ change: Change) {
      var change = change
      switch change {
      case .register(var registration):
        registration.key = keys.insert(registration.key).memberAfterInsert
        change = .register(registration)
      case .remove(let key): change = .remove(keys.remove(key) ?? key)
      case .setState(let key, let state): change = .setState(spelled(key), state)
      case .addEvent(var event):
        event.key = spelled(event.key)
        change = .addEvent(event)
      case .setAuthorization: break
      }
      queue.add(change)
    }

    private func spelled(_ key: Key) -> Key { keys.firstIndex(of: key).map { keys[$0] } ?? key }
  }

  /// The file's absolute path.
  package let path: String
  /// What was wrong on opening and did not prevent it: sentences for a person.
  package let warnings: [String]
  /// The registrations as they were on opening, by key.
  package let registrations: [Registration]
  /// The events that were not delivered on opening, by rising serial.
  package let undelivered: [Event]
  /// What the app was granted, as it was on opening.
  package let authorization: String?

  private let schema: Schema
  private let makesDirectory: Bool
  private let serial: Atomic<Int64>
  private let state: Mutex<State>
  /// The connection; `nil` until the database is made, and when the store is closed. The writer alone uses it.
  private let database: Mutex<Database?>
  private let writer = DispatchQueue(label: "beaconscan.storage")
  /// Runs the completions of writes that are refused.
  private let refusals = DispatchQueue(label: "beaconscan.storage.refusals")

  /// Reads what a store's files hold; makes them later and on the store's own queue where they are missing, with
  /// the directory of an application's store. No sync is waited for.
  ///
  /// A file that is no database of this module is not changed. A damaged database is renamed to `FILE.damaged-1`,
  /// with a warning.
  package convenience init(_ location: Location) throws(StorageError) {
    try self.init(location, Schema())
  }

  init(_ location: Location, _ schema: Schema) throws(StorageError) {
    let opened = try Opening(location, schema)
    let (contents, delivered) = (opened.contents, opened.marks?.found ?? [:])
    (path, warnings, self.schema) = (opened.path.string, opened.warnings, schema)
    makesDirectory = if case .application = location { true } else { false }
    (registrations, authorization) = (contents.registrations, contents.authorization)
    undelivered = contents.events.filter { delivered[$0.serial] == nil }
    let highest = max(
      contents.serial, contents.events.last?.serial ?? 0, delivered.keys.max() ?? 0)
    serial = Atomic(min(highest, Self.maximumSerial))
    var state = State(keys: Set(registrations.map(\.key)), marks: opened.marks)
    for (serial, place) in delivered { state.queue.end(serial, place) }
    let isMissing = opened.database == nil
    self.state = Mutex(state)
    database = Mutex(opened.database)
    if isMissing { self.state.withLock { schedule(&$0) } }
  }

  /// Returns a number that no event of this database had before, without input or output.
  package func nextSerial() -> Int64 { serial.wrappingAdd(1, ordering: .relaxed).newValue }

  /// Stores changes, all or none, later and on the store's own queue.
  ///
  /// Waiting changes of one key become one: the last state counts. A change that is longer than ``maximumBytes`` is
  /// refused, and those that come with it are stored.
  ///
  /// - Parameters:
  ///   - changes: The changes, in order.
  ///   - completion: Called on a queue of the store when the changes are on the disk, or with the reason why one is
  ///     not. Completions of writes that are stored run in the order of the writes, and so do those of writes that
  ///     are refused as a whole. They must not wait for this store.
  package func write(
    _ changes: [Change], completion: (@Sendable (StorageError?) -> Void)? = nil
  ) {
    let bytes = changes.lazy.map(\.bytes).max() ?? 0
    let refusal = bytes > Self.maximumBytes ? error(.tooLong(bytes: bytes)) : nil
    let problem: StorageError.Problem? = state.withLock { state in
      if state.isClosed { return .closed }
      guard state.queue.count + changes.count <= Self.maximumWaitingChanges else {
        return .queueFull
      }
      for change in changes where change.bytes <= Self.maximumBytes { state.add(change) }
      if let completion { state.queue.completions.append { completion($0 ?? refusal) } }
      schedule(&state)
      return nil
    }
    guard let problem, let completion else { return }
    // Not on the writer's queue, where it would wait for the disk that is too slow already.
    refusals.async { [self] in completion(error(problem)) }
  }

  private func error(_ problem: StorageError.Problem) -> StorageError {
    StorageError(file: path, problem: problem)
  }

  /// Stores changes, and waits until they are on the disk.
  package func writeAndWait(_ changes: [Change]) throws(StorageError) {
    let outcome = Outcome()
    write(changes) { outcome.end($0) }
    if let error = outcome.wait() { throw error }
  }

  /// Records that an event was delivered: it will not be ``undelivered`` again.
  ///
  /// Call it on the thread on which the delegate was called, as soon as it has returned. It makes one system call
  /// and waits for nothing. A second call for one event does nothing.
  package func markDelivered(_ serial: Int64) {
    // Nothing comes before it: a process that is killed until then delivers the event again.
    let place = state.withLock { $0.marks }?.put(serial)
    state.withLock { state in
      // Deliveries that cannot be stored keep their marks until the next opening.
      guard state.queue.ended.count < DeliveryMarks.capacity else { return }
      state.queue.end(serial, place)
      if state.queue.ended.count % Self.endedPerTransaction == 0 { schedule(&state) }
    }
  }

  /// Waits until everything that was written and marked before is on the disk, or has failed.
  package func flush() { try? writeAndWait([]) }

  /// Writes what waits, and closes the files. Writes that follow fail.
  package func close() {
    flush()
    state.withLock { $0.isClosed = true }
    // What was written meanwhile.
    writer.sync {
      commit()
      database.withLock { $0 = nil }
      state.withLock { $0.marks = nil }
    }
  }

  /// The number of transactions so far.
  package var transactions: Int { state.withLock { $0.transactions } }

  /// The number of undelivered events that were removed because more than ``maximumUndelivered`` waited.
  package var droppedEvents: Int { state.withLock { $0.dropped } }

  /// The reason why the last transaction or a mark could not be stored; `nil` while all is well.
  package var failure: StorageError? { state.withLock { $0.failure ?? $0.marks?.failure } }

  /// Starts a transaction for what waits, behind the one that runs.
  private func schedule(_ state: inout State) {
    guard !state.isScheduled else { return }
    state.isScheduled = true
    writer.async { self.commit() }
  }

  /// Stores everything that waits in one transaction. What fails waits again, below what came meanwhile.
  private func commit() {
    let batch = state.withLock { state in
      state.isScheduled = false
      defer { state.queue = Batch() }
      return state.queue
    }
    var failure: StorageError?
    do throws(StorageError) {
      let dropped = try store(batch)
      let marks = state.withLock { state in
        state.dropped += dropped
        if !batch.isEmpty { state.transactions += 1 }
        state.failure = nil
        return state.marks
      }
      // Not before: until then the marks alone say that these were delivered.
      marks?.clear(batch.ended.values.compactMap { $0 })
    } catch {
      failure = error
      let isFirst = state.withLock { state in
        var waiting = batch
        waiting.completions = []
        waiting.append(state.queue)
        (state.queue, state.failure) = (waiting, error)
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

  /// Stores a batch, and makes the database where there is none.
  private func store(_ batch: Batch) throws(StorageError) -> Int {
    try database.withLock { database throws(StorageError) in
      if database == nil {
        let file = FilePath(path)
        if makesDirectory { try StatePath.makeDirectory(file.removingLastComponent()) }
        if state.withLock({ $0.marks == nil }) {
          let marks = try DeliveryMarks(file.beside("-marks"), of: file)
          state.withLock { $0.marks = marks }
        }
        database = try Opening.create(file, schema)
      }
      guard !batch.isEmpty else { return 0 }
      return try database?.store(batch, serial: serial.load(ordering: .relaxed)) ?? 0
    }
  }
}

/// The result of a write that a thread waits for.
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

extension ServiceStore.Key {
  fileprivate var bytes: Int { service.utf8.count + group.utf8.count + identifier.utf8.count }
}

extension ServiceStore.Change {
  /// The length of the longest part that has a bound.
  fileprivate var bytes: Int {
    switch self {
    case .register(let registration):
      max(registration.key.bytes, registration.definition.count, registration.state?.count ?? 0)
    case .remove(let key): key.bytes
    case .setState(let key, let state): max(key.bytes, state.count)
    case .addEvent(let event): max(event.key.bytes, event.payload.count)
    case .setAuthorization(let value): value?.utf8.count ?? 0
    }
  }
}
