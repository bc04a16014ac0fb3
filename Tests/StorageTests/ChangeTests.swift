import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Storage

typealias Key = Store.Key

/// A registration of a service that ticks.
func registration(_ name: String, _ definition: [UInt8] = [1], _ state: [UInt8]? = nil)
  -> Store.Registration
{
  Store.Registration(
    key: Key(service: "clock", identifier: name), definition: definition, state: state)
}

extension Store {
  /// A new event.
  func event(_ name: String, _ payload: [UInt8] = []) -> StoredEntry {
    event(Key(service: "clock", identifier: name), payload)
  }

  func event(_ key: Key, _ payload: [UInt8] = []) -> StoredEntry {
    StoredEntry(
      id: nextID(), time: 0, kind: "event",
      recipients: .init(service: key.service, group: key.group), region: key.identifier,
      payload: payload)
  }
}

/// What is written is there when the store is opened again.
@Suite struct ChangeTests {
  @Test func allIsThereAgain() throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch["s"]))
    #expect(store.registrations.isEmpty && store.authorization == nil)
    let keys = [
      Key(service: "a", identifier: ""), Key(service: "a", group: "g", identifier: "\0x\0"),
      Key(service: "a", group: "g\0", identifier: "x"), Key(service: "é", identifier: "'; --"),
      Key(service: "b", identifier: "'; --"),
    ]
    let registrations = keys.enumerated().map {
      Store.Registration(
        key: $1, definition: [UInt8](repeating: 7, count: $0 * 9000), state: $0 == 1 ? [] : nil)
    }
    let events = keys.map { store.event($0, [0]) }
    try store.writeAndWait(registrations.map { .register($0) })
    try store.writeAndWait(events.map { .add($0) } + [.setAuthorization("always")])
    store.close()
    let again = try Store(.file(scratch["s"]))
    #expect(Set(again.registrations) == Set(registrations))
    #expect(again.undelivered == events)
    #expect(again.authorization == "always" && again.warnings.isEmpty)
    #expect(again.nextID() > events[4].id)
  }

  @Test(arguments: [false, true])
  func changesOfOneKeyFollowEachOther(atOnce isAtOnce: Bool) throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch["s"]))
    let key = registration("a").key
    let (old, other, new) = (store.event("a"), store.event("b"), store.event("a"))
    let changes: [Store.Change] = [
      .setState(key, [9]), .register(registration("a")), .setState(key, [1]), .add(old),
      .add(other), .remove(key), .setState(key, [2]), .register(registration("a", [2])),
      .setState(key, [3]), .setState(key, [4]), .add(new), .setAuthorization("x"),
      .setAuthorization(nil), .register(registration("b")), .remove(registration("b").key),
      .register(registration("c", [1], [1])), .register(registration("c", [2])),
    ]
    if isAtOnce {
      try store.writeAndWait(changes)
    } else {
      for change in changes { try store.writeAndWait([change]) }
    }
    store.close()
    let again = try Store(.file(scratch["s"]))
    #expect(again.registrations == [registration("a", [2], [4]), registration("c", [2])])
    #expect(again.undelivered == [new])
    #expect(again.authorization == nil)
  }

  /// Strings that are equal are one key, also in the database.
  @Test func aKeyHasOneRowInEverySpelling() throws {
    let scratch = try Scratch()
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    do {
      let store = try Store(.file(scratch["s"]))
      try store.writeAndWait([.register(registration(composed))])
      try store.writeAndWait([.register(registration(decomposed, [2]))])
      try store.writeAndWait([.setState(registration(decomposed).key, [3])])
      try store.writeAndWait([.add(store.event(decomposed))])
      store.close()
    }
    let store = try Store(.file(scratch["s"]))
    #expect(store.registrations == [registration(composed, [2], [3])])
    #expect(store.undelivered.count == 1)
    try store.writeAndWait([.remove(registration(decomposed).key)])
    store.close()
    let again = try Store(.file(scratch["s"]))
    #expect(again.registrations.isEmpty && again.undelivered.isEmpty)
  }

  /// The first character of a group's name may combine with what the store writes before it.
  @Test(arguments: ["kitchen", "\u{301}kitchen", "\u{200d}", "group:"])
  func settledEventsOfAGroupAreGone(group: String) throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch["s"]))
    let events = (0..<3).map { _ in
      store.event(Store.Key(service: "clock", group: group, identifier: "a"))
    }
    try store.writeAndWait(events.map { .add($0) })
    store.settle(group: group, through: events[1].id)
    #expect(store.close() == nil)
    let again = try Store(.file(scratch["s"]))
    #expect(again.undelivered == [events[2]])
    #expect(Store.group(ofReader: Store.readerName(ofGroup: group)) == group)
  }

  @Test func settledEventsAreGoneAlsoWithoutClosing() throws {
    let scratch = try Scratch()
    var kept: [StoredEntry] = []
    for round in 0..<4 {
      // The store before has its file until what it stores is stored, however long that takes.
      var opened: Store?
      eventually {
        opened = try? Store(.file(scratch["s"]))
        return opened != nil
      }
      let store = try #require(opened)
      #expect(store.undelivered == kept)
      let events = (0..<600).map { _ in store.event("a") }
      #expect(events[0].id > kept.last?.id ?? 0)
      try store.writeAndWait(events.map { .add($0) })
      for event in events.dropLast(2) { store.settle(group: "", through: event.id) }
      // A position never goes back.
      store.settle(group: "", through: events[0].id)
      store.settle(group: "other", through: .max)
      kept = events.suffix(2)
      if round % 2 == 0 { store.flush() }
      #expect(store.failure == nil)
    }
    #expect(try scratch.bytes("s-readers").count == 4096)
  }

  @Test func anEventSettledBeforeItsTransactionIsNotStored() throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch["s"]))
    let event = store.event("a")
    store.write([.add(event)])
    store.settle(group: "", through: event.id)
    store.close()
    #expect(try Store(.file(scratch["s"])).undelivered.isEmpty)
  }

  @Test func marksOfReadersStay() throws {
    let scratch = try Scratch()
    do {
      let store = try Store(.file(scratch["s"]))
      store.mark("webhook", through: 7)
      store.mark("mqtt", through: 9)
      store.mark("webhook", through: 5)
      store.close()
    }
    do {
      let store = try Store(.file(scratch["s"]))
      #expect(store.positions["webhook"] == 7 && store.positions["mqtt"] == 9)
      store.mark("webhook", through: 12)
      store.mark("webhook", through: 11)
    }
    // It was not closed.
    #expect(try Store(.file(scratch["s"])).positions["webhook"] == 12)
  }

  @Test func ofTooManyEventsTheOldestGo() throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch["s"]))
    let count = Store.maximumUndelivered
    let events = (0..<count + 100).map { _ in store.event("a") }
    try store.writeAndWait(events.prefix(count).map { .add($0) })
    for event in events.suffix(100) { store.write([.add(event)]) }
    store.close()
    #expect(try Store(.file(scratch["s"])).undelivered == Array(events.suffix(count)))
  }

  @Test func theQueueHasABound() throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch["s"]))
    let changes = (0...Store.maximumWaitingChanges).map {
      Store.Change.remove(Key(service: "clock", identifier: "\($0)"))
    }
    #expect(throws: StorageError(file: store.path, problem: .queueFull)) {
      try store.writeAndWait(changes)
    }
    let long = registration("a", [UInt8](repeating: 0, count: Store.maximumBytes + 1))
    #expect(
      throws: StorageError(
        file: store.path, problem: .tooLong(bytes: Store.maximumBytes + 1))
    ) { try store.writeAndWait([.register(registration("b")), .register(long)]) }
    // One key takes one place, however often its state changes.
    var batch = Batch(keepsHistory: false)
    for number in 0..<100 { batch.add(.setState(long.key, [UInt8(number)])) }
    #expect(batch.count == 1)
    store.close()
    // It is refused alone.
    #expect(try Store(.file(scratch["s"])).registrations == [registration("b")])
    #expect(throws: StorageError(file: store.path, problem: .closed)) {
      try store.writeAndWait([])
    }
  }

  @Test func refusalsComeInTheOrderOfTheWrites() throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch["s"]))
    store.close()
    let refused = Mutex<[Int]>([])
    for number in 0..<5000 { store.write([]) { _ in refused.withLock { $0.append(number) } } }
    eventually { refused.withLock { $0.count } == 5000 }
    #expect(refused.withLock { $0 } == Array(0..<5000))
  }

  /// What a batch changes is the same, whether it was put back after a failure or written one after the other.
  @Test(arguments: 0..<200)
  func aBatchThatFailedIsPutBackBelowNewerOnes(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let empty = Batch(keepsHistory: false)
    var (all, older, newer) = (empty, empty, empty)
    for number in 0..<12 {
      let key = Key(service: "clock", identifier: "\(random.next() % 2)")
      let change: Store.Change =
        switch random.next() % 5 {
        case 0: .register(.init(key: key, definition: [UInt8(number)]))
        case 1: .remove(key)
        case 2: .setState(key, [UInt8(number)])
        case 3:
          .add(
            StoredEntry(
              id: Int64(number), time: 0, kind: "event",
              recipients: .init(service: key.service, group: key.group), region: key.identifier,
              payload: []))
        default: .setAuthorization("\(number)")
        }
      all.add(change)
      if number < 6 { older.add(change) } else { newer.add(change) }
      if random.next() % 4 == 0 {
        let settled = Store.Change.settle(
          group: "", through: Int64(random.next() % UInt64(number + 1)))
        all.add(settled)
        if number < 6 { older.add(settled) } else { newer.add(settled) }
      }
    }
    older.append(newer)
    #expect(older.rows.mapValues { "\($0)" } == all.rows.mapValues { "\($0)" })
    older.removeSettled()
    all.removeSettled()
    #expect(older.entries == all.entries && older.entryBytes == all.entryBytes)
    #expect(older.removed == all.removed && older.marks == all.marks)
    #expect(older.authorization == all.authorization)
  }

  @Test func completionsComeInOrderAndOffTheCaller() throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch["s"]))
    let order = Mutex<[Int]>([])
    let thread = pthread_self()
    let onCaller = Atomic(0)
    for number in 0..<1000 {
      store.write([.register(registration("r\(number)"))]) { error in
        if error != nil || pthread_equal(thread, pthread_self()) != 0 {
          onCaller.add(1, ordering: .relaxed)
        }
        order.withLock { $0.append(number) }
      }
    }
    store.flush()
    #expect(onCaller.load(ordering: .relaxed) == 0)
    #expect(order.withLock { $0 } == Array(0..<1000))
    print("1,000 writes: \(store.transactions) transactions")
    #expect(store.transactions < 200)
    store.close()
    #expect(try Store(.file(scratch["s"])).registrations.count == 1000)
  }

  /// From many threads at once, and the files stay small.
  @Test func threadsDoNotDisturbEachOther() async throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch["s"]))
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for round in 0..<500 {
            let name = "r\(task)-\(round % 10)"
            let event = store.event(name, [UInt8](repeating: 1, count: 2000))
            store.write([.register(registration(name)), .add(event)]) { _ in
              store.settle(group: "", through: event.id)
            }
            if round % 7 == 0 { store.write([.remove(registration(name).key)]) }
          }
        }
      }
    }
    store.flush()
    store.flush()
    #expect(try scratch.bytes("s-wal").count <= 8 << 20)
    store.close()
    #expect(try scratch.bytes("s").count <= 8 << 20)
    let again = try Store(.file(scratch["s"]))
    #expect(again.failure == nil)
  }
}
