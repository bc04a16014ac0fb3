import DequeModule
import Dispatch
import FoundationEssentials
import Logging
import Scanning
package import Storage
import Synchronization

/// The journal of events, which are appended once and read by many.
///
/// ```swift
/// let batch = journal.missed(after: journal.begin("kiosk"))
/// for entry in batch.entries { show(entry) }
/// journal.mark("kiosk", batch.position)
/// ```
///
/// - Appending does not wait. A queue encodes an entry once and writes it to the store's log before
///   readers receive it, so it survives the process. If the disk refuses, they still receive it.
/// - The latest entries are in memory, at most ``maximumEntries`` with ``maximumBytes``; the store
///   has earlier ones. If entries after a reader's position are gone, its next batch reports that.
/// - A reader marks the entry through which it needs none any more. The mark outlives the process.
package final class Journal: Sendable {
  package static let maximumEntries = 4096
  /// The maximum length of the records in memory, in bytes.
  package static let maximumBytes = 4 << 20

  package struct Batch: Sendable {
    package var entries: [JournalEntry] = []
    /// The lowest identifier of an entry after the position that is gone, or `nil`.
    package var missing: Int64?
    package var hasMissed: Bool { missing != nil }
    package var position: Int64
  }

  enum Item: Sendable {
    case event(NewEvent)
    case register(Store.Key, any Codable & Sendable, state: (any Codable & Sendable)?)
    case unregister(Store.Key)
    /// A function that is called when everything before it is written.
    case call(@Sendable () -> Void)
  }

  struct NewEvent: Sendable {
    var event: any ServiceEvent
    var key: Store.Key?
    var state: (any Codable & Sendable)?
    /// The deliveries that a recording waits for; `nil` for other sources.
    var pace: DispatchGroup?
    var pause: DeliveryPause?
  }

  /// The functions that follow the journal, in a structure because a lock wraps a plain function.
  private struct Handlers {
    var deliver: (@Sendable (StoredEvent, DeliveryPause?) -> Void)?
    var discard: (@Sendable (Store.Key) -> Void)?
    var observe: (@Sendable (JournalChange) -> Void)?
  }

  private struct State {
    var pending: [(item: Item, sequence: UInt64)] = []
    var sequence: UInt64 = 0
    /// The places of the removals of registrations that may have waiting events.
    var removed: [Store.Key: UInt64] = [:]
    var isScheduled = false
    var ring = Deque<JournalEntry>()
    var bytes = 0
    /// The latest entry that is not in memory any more.
    var forgotten: Int64 = 0
    /// The latest identifier that was given without a store.
    var given: Int64 = 0
    var latest: Int64 = 0
    var positions: [String: Int64] = [:]

    mutating func append(_ entry: JournalEntry) {
      ring.append(entry)
      ring[ring.count - 1].detail = nil
      bytes += entry.record.count
      latest = entry.id
      while ring.count > maximumEntries || bytes > maximumBytes && ring.count > 1,
        let first = ring.popFirst()
      {
        bytes -= first.record.count
        forgotten = first.id
      }
    }
  }

  private let store: RegistrationStore
  private let state = Mutex(State())
  /// The queue that encodes and writes entries and calls the observer. Tests suspend it.
  let queue = DispatchQueue(label: "ServiceCore.journal")
  private let handlers = Mutex(Handlers())
  private let ownGeneration = Store.randomGeneration()

  init(_ store: RegistrationStore) { self.store = store }

  /// Sets the functions that deliver stored events to groups, and drop a registration's events.
  func setDelivery(
    _ body: @escaping @Sendable (StoredEvent, DeliveryPause?) -> Void,
    discard: @escaping @Sendable (Store.Key) -> Void
  ) {
    handlers.withLock { handlers in
      handlers.deliver = body
      handlers.discard = discard
    }
  }

  /// Sets a function that receives each change on the journal's queue, and must not wait.
  package func observe(_ body: @escaping @Sendable (JournalChange) -> Void) {
    handlers.withLock { $0.observe = body }
  }

  /// Reads the latest entries of earlier processes into memory.
  package func load() {
    guard let database = store.database, database.limits != nil else { return }
    let reader = try? database.reader()
    let stored =
      (try? reader?.entries(EntryQuery(limit: Self.maximumEntries, leavesNewest: true))) ?? []
    let trimmed = (try? reader?.trimmedThrough) ?? 0
    let recovered = database.takeRecovered().filter { $0.id > stored.last?.id ?? 0 }
    state.withLock { state in
      guard state.ring.isEmpty else { return }
      let isAll = stored.count < Self.maximumEntries
      state.forgotten = isAll ? trimmed : (stored.first?.id ?? 0) - 1
      for entry in stored + recovered { state.append(JournalEntry(entry)) }
      // If some are gone, clients continue after all that may have been given.
      state.latest = max(state.latest, database.lostThrough, trimmed)
    }
  }

  package var generation: String { store.database?.generation ?? ownGeneration }

  package var isStored: Bool { store.isPersistent }

  /// The reason why entries cannot be stored now, as a sentence, or `nil`.
  package var fault: String? { isStored ? store.failure(waiting: false)?.description : nil }

  package var warnings: [String] { store.database?.warnings ?? [] }

  /// Returns the text with which a client continues after an entry.
  package func text(of id: Int64) -> String {
    EntryID(generation: generation, number: id).description
  }

  // MARK: Appending

  package func append(_ event: any ServiceEvent) {
    submit([.event(NewEvent(event: event))])
  }

  func submit(_ items: [Item]) {
    guard !items.isEmpty else { return }
    state.withLock { state in
      for item in items {
        state.sequence += 1
        if case .unregister(let key) = item { state.removed[key] = state.sequence }
        state.pending.append((item, state.sequence))
      }
      // Under the lock, so a later wait for the queue includes these items.
      if !state.isScheduled { queue.async { [self] in drain() } }
      state.isScheduled = true
    }
  }

  /// Waits until readers can receive everything that was appended before.
  package func finish() { queue.sync {} }

  /// Waits like ``finish()``, without blocking the thread.
  package func settled() async {
    await withCheckedContinuation { continuation in
      submit([.call { continuation.resume() }])
    }
  }

  /// Calls a function when everything that was submitted before survives the process.
  package func afterWriting(_ body: @escaping @Sendable () -> Void) { submit([.call(body)]) }

  private func drain() {
    while true {
      let pending = state.withLock { state in
        defer { state.pending = [] }
        if state.pending.isEmpty { state.isScheduled = false }
        return state.pending
      }
      if pending.isEmpty { return }
      append(pending)
    }
  }

  private func append(_ pending: [(item: Item, sequence: UInt64)]) {
    let database = store.database
    var changes: [Store.Change] = []
    /// The functions that are called when the changes are written.
    var steps: [(Handlers) -> Void] = []
    for (item, sequence) in pending {
      switch item {
      case .event(let new):
        if let step = add(new, sequence, database, &changes) { steps.append(step) }
      case .register(let key, let registration, let value):
        if database != nil, let definition = encode(registration, of: key) {
          let state = value.flatMap { encode($0, of: key) }
          changes.append(
            .register(Store.Registration(key: key, definition: definition, state: state)))
        }
        steps.append {
          $0.observe?(
            .registered(
              key.service, ClientGroup(key.group), key.identifier, registration, state: value))
        }
      case .unregister(let key):
        changes.append(.remove(key))
        steps.append { [self] handlers in
          state.withLock { if $0.removed[key] == sequence { $0.removed[key] = nil } }
          handlers.discard?(key)
          handlers.observe?(.unregistered(key.service, ClientGroup(key.group), key.identifier))
        }
      case .call(let body): steps.append { _ in body() }
      }
    }
    // If the disk refuses, readers continue from memory.
    if let database, !changes.isEmpty { database.write(changes) }
    let handlers = handlers.withLock { $0 }
    for step in steps { step(handlers) }
  }

  /// Adds the changes of an event, and returns a function to call when they are written.
  private func add(
    _ new: NewEvent, _ sequence: UInt64, _ database: Store?, _ changes: inout [Store.Change]
  ) -> ((Handlers) -> Void)? {
    if database != nil, let key = new.key, let state = new.state,
      let stored = encode(state, of: key)
    {
      changes.append(.setState(key, stored))
    }
    if let format = store.configuration.journalFormat {
      guard let entry = format(new.event)?.numbered(nextID(database), new.event) else {
        return nil
      }
      if database != nil { changes.append(.add(entry.stored(for: nil))) }
      return { [self] handlers in
        state.withLock { $0.append(entry) }
        handlers.observe?(.entry(entry))
      }
    }
    // Clients of groups receive the event itself. The record brings it to the next process.
    guard let key = new.key else { return nil }
    let id = nextID(database)
    if database != nil, let record = encode(new.event, of: key) {
      changes.append(
        .add(
          StoredEntry(
            id: id, time: 0, kind: "event",
            recipients: StoredEntry.Recipients(service: key.service, group: key.group),
            region: key.identifier, payload: record)))
    }
    let event = StoredEvent(event: new.event, id: id, key: key, pace: new.pace)
    return { [self] handlers in
      // An event is dropped with its registration.
      let isRemoved = state.withLock { ($0.removed[key] ?? 0) > sequence }
      if !isRemoved { handlers.deliver?(event, new.pause) }
    }
  }

  private func encode(_ value: some Encodable, of key: Store.Key) -> [UInt8]? {
    do {
      return Array(try JSONEncoder().encode(value))
    } catch {
      store.logger.error("\(key.service): a value cannot be stored: \(error)")
      return nil
    }
  }

  private func nextID(_ database: Store?) -> Int64 {
    database?.nextID()
      ?? state.withLock { state in
        state.given += 1
        return state.given
      }
  }

  // MARK: Reading

  package var latest: Int64 { state.withLock { $0.latest } }

  package func read(after id: Int64) -> Batch { remembered(after: id).batch }

  /// Returns the entries after a position that are in memory, and the latest one that is not.
  private func remembered(after id: Int64) -> (batch: Batch, forgotten: Int64) {
    // This may open the database, which must not happen under the lock.
    let gap = store.database?.firstGap(after: id)
    return state.withLock { state in
      var batch = Batch(position: max(id, state.latest))
      if id < state.latest {
        batch.entries = Array(state.ring[state.ring.firstIndex(after: id)...])
        batch.missing =
          id < state.forgotten ? id + 1 : gap.flatMap { $0 <= state.latest ? $0 : nil }
      }
      return (batch, state.forgotten)
    }
  }

  /// Returns up to ``maximumEntries`` entries of the store and, if these are all, those in memory.
  package func missed(after id: Int64) -> Batch {
    let (batch, forgotten) = remembered(after: id)
    guard id < forgotten, let database = store.database, let reader = try? database.reader(),
      let last = try? reader.lastID
    else { return batch }
    let query = EntryQuery(
      after: id, through: min(last, forgotten), limit: Self.maximumEntries, leavesNewest: false)
    // The oldest may be gone from the store too.
    guard let stored = try? reader.entries(query), let trimmed = try? reader.trimmedThrough,
      id >= trimmed
    else { return batch }
    let entries = stored.map { JournalEntry($0) }
    let gap = database.firstGap(after: id)
    if stored.count == Self.maximumEntries, let end = entries.last?.id {
      return Batch(entries: entries, missing: gap.flatMap { $0 < end ? $0 : nil }, position: end)
    }
    // Some entries may have left memory before a transaction stored them.
    guard last >= forgotten else { return batch }
    return Batch(entries: entries + batch.entries, missing: gap, position: batch.position)
  }

  /// Returns the matching entries of the store and, if no transaction has stored them, of memory.
  package func entries(matching query: EntryQuery) throws(StorageError) -> [JournalEntry] {
    guard let reader = try store.database?.reader() else {
      return query.limited(state.withLock { Array($0.ring) }.filter(query.matches))
    }
    let last = try reader.lastID
    var bounded = query
    bounded.through = min(last, query.through ?? .max)
    let stored = try reader.entries(bounded).map { JournalEntry($0) }
    let new = state.withLock { state in Array(state.ring[state.ring.firstIndex(after: last)...]) }
    return query.limited(stored + new.filter(query.matches))
  }

  /// Returns whether a client can continue after an identifier: an entry's, or the last of a gap.
  package func hasGiven(_ id: Int64) -> Bool {
    let (isKnown, forgotten, latest) = state.withLock { state in
      let index = state.ring.firstIndex(after: id)
      let isKnown = index > state.ring.startIndex && state.ring[index - 1].id == id
      return (isKnown, state.forgotten, state.latest)
    }
    let lostThrough = store.database?.lostThrough ?? 0
    if isKnown || [0, latest, forgotten, lostThrough].contains(id) { return true }
    guard id <= forgotten, let reader = try? store.database?.reader() else { return false }
    if let trimmed = try? reader.trimmedThrough, id <= trimmed { return true }
    let found = try? reader.entries(EntryQuery(after: id - 1, through: id))
    return found.map { !$0.isEmpty } ?? false
  }

  private func position(of reader: String) -> Int64? {
    state.withLock { $0.positions[reader] } ?? store.database?.positions[reader]
  }

  /// Returns where a reader continues: after its last mark, or else after the latest entry.
  package func begin(_ reader: String) -> Int64 {
    if let position = position(of: reader) { return position }
    let start = state.withLock { state in
      state.positions[reader] = state.latest
      return state.latest
    }
    store.database?.write([.mark(reader: reader, through: start)])
    return start
  }

  package func mark(_ reader: String, _ id: Int64) {
    let earlier = store.database?.positions[reader] ?? .min
    let isNew = state.withLock { state in
      guard id > state.positions[reader] ?? earlier else { return false }
      state.positions[reader] = id
      return true
    }
    if isNew { store.database?.mark(reader, through: id) }
  }
}

extension EntryQuery {
  fileprivate func matches(_ entry: JournalEntry) -> Bool {
    matches(
      id: entry.id, time: entry.wallClockTime.microseconds, kind: entry.kind, region: entry.region)
  }
}

extension Deque<JournalEntry> {
  fileprivate func firstIndex(after id: Int64) -> Int { partitioningIndex { $0.id > id } }
}

extension Deque {
  /// Returns the index of the first match, or the end, where all elements after a match match.
  func partitioningIndex(where matches: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = (low + high) / 2
      if matches(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
