import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Storage

typealias Key = ServiceStore.Key

/// A registration of a service that ticks.
func registration(_ name: String, _ definition: [UInt8] = [1], _ state: [UInt8]? = nil)
  -> ServiceStore.Registration
{
  ServiceStore.Registration(
    key: Key(service: "clock", identifier: name), definition: definition, state: state)
}

extension ServiceStore {
  /// A new event.
  func event(_ name: String, _ payload: [UInt8] = []) -> Event {
    Event(serial: nextSerial(), key: Key(service: "clock", identifier: name), payload: payload)
  }
}

/// What is written is there when the store is opened again.
@Suite struct ChangeTests {
  @Test func allIsThereAgain() throws {
    let scratch = try Scratch()
    let store = try ServiceStore(.file(scratch["s"]))
    #expect(store.registrations.isEmpty && store.authorization == nil)
    let keys = [
      Key(service: "a", identifier: ""), Key(service: "a", group: "g", identifier: "\0x\0"),
      Key(service: "a", group: "g\0", identifier: "x"), Key(service: "é", identifier: "'; --"),
      Key(service: "b", identifier: "'; --"),
    ]
    let registrations = keys.enumerated().map {
      ServiceStore.Registration(
        key: $1, definition: [UInt8](repeating: 7, count: $0 * 9000), state: $0 == 1 ? [] : nil)
    }
    let events = keys.map { ServiceStore.Event(serial: store.nextSerial(), key: $0, payload: [0]) }
    try store.writeAndWait(registrations.map { .register($0) })
    try store.writeAndWait(events.map { .addEvent($0) } + [.setAuthorization("always")])
    store.close()
    let again = try ServiceStore(.file(scratch["s"]))
    #expect(Set(again.registrations) == Set(registrations))
    #expect(again.undelivered == events)
    #expect(again.authorization == "always" && again.warnings.isEmpty)
    #expect(again.nextSerial() > events[4].serial)
  }

  @Test(arguments: [false, true])
  func changesOfOneKeyFollowEachOther(atOnce isAtOnce: Bool) throws {
    let scratch = try Scratch()
    let store = try ServiceStore(.file(scratch["s"]))
    let key = registration("a").key
    let (old, other, new) = (store.event("a"), store.event("b"), store.event("a"))
    let changes: [ServiceStore.Change] = [
      .setState(key, [9]), .register(registration("a")), .setState(key, [1]), .addEvent(old),
      .addEvent(other), .remove(key), .setState(key, [2]), .register(registration("a", [2])),
      .setState(key, [3]), .setState(key, [4]), .addEvent(new), .setAuthorization("x"),
      .setAuthorization(nil), .register(registration("b")), .remove(registration("b").key),
      .register(registration("c", [1], [1])), .register(registration("c", [2])),
    ]
    if isAtOnce {
      try store.writeAndWait(changes)
    } else {
      for change in changes { try store.writeAndWait([change]) }
    }
    store.close()
    let again = try ServiceStore(.file(scratch["s"]))
    #expect(again.registrations == [registration("a", [2], [4]), registration("c", [2])])
    #expect(again.undelivered == [new])
    #expect(again.authorization == nil)
  }

  /// Strings that are equal are one key, also in the database.
  @Test func aKeyHasOneRowInEverySpelling() throws {
    let scratch = try Scratch()
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    do {
      let store = try ServiceStore(.file(scratch["s"]))
      try store.writeAndWait([.register(registration(composed))])
      try store.writeAndWait([.register(registration(decomposed, [2]))])
      try store.writeAndWait([.setState(registration(decomposed).key, [3])])
      try store.writeAndWait([.addEvent(store.event(decomposed))])
      store.close()
    }
    let store = try ServiceStore(.file(scratch["s"]))
    #expect(store.registrations == [registration(composed, [2], [3])])
    #expect(store.undelivered.count == 1)
    try store.writeAndWait([.remove(registration(decomposed).key)])
    store.close()
    let again = try ServiceStore(.file(scratch["s"]))
    #expect(again.registrations.isEmpty && again.undelivered.isEmpty)
  }

  @Test func deliveredEventsAreGoneAlsoWithoutClosing() throws {
    let scratch = try Scratch()
    var kept: [ServiceStore.Event] = []
    for round in 0..<4 {
      let store = try ServiceStore(.file(scratch["s"]))
      #expect(store.undelivered == kept)
      let events = (0..<600).map { _ in store.event("a") }
      #expect(events[0].serial > kept.last?.serial ?? 0)
      try store.writeAndWait(events.map { .addEvent($0) })
      for event in events.dropLast(2).shuffled() { store.markDelivered(event.serial) }
      if let first = kept.first { store.markDelivered(first.serial) }
      store.markDelivered(events[0].serial)
      store.markDelivered(.max)
      kept = kept.dropFirst() + events.suffix(2)
      if round % 2 == 0 { store.flush() }
      #expect(store.failure == nil)
    }
    #expect(try scratch.bytes("s-marks").count <= 16 + 8 * 1024)
  }

  @Test func anEventDeliveredBeforeItsWriteIsNotStored() throws {
    let scratch = try Scratch()
    let store = try ServiceStore(.file(scratch["s"]))
    let event = store.event("a")
    store.write([.addEvent(event)])
    store.markDelivered(event.serial)
    store.close()
    #expect(try ServiceStore(.file(scratch["s"])).undelivered.isEmpty)
  }

  @Test func ofTooManyEventsTheOldestGo() throws {
    let scratch = try Scratch()
    let store = try ServiceStore(.file(scratch["s"]))
    let count = ServiceStore.maximumUndelivered
    let events = (0..<count + 100).map { _ in store.event("a") }
    try store.writeAndWait(events.prefix(count).map { .addEvent($0) })
    #expect(store.droppedEvents == 0)
    for event in events.suffix(100) { store.write([.addEvent(event)]) }
    store.close()
    #expect(store.droppedEvents == 100)
    #expect(try ServiceStore(.file(scratch["s"])).undelivered == Array(events.suffix(count)))
  }

  @Test func theQueueHasABound() throws {
    let scratch = try Scratch()
    let store = try ServiceStore(.file(scratch["s"]))
    let changes = (0...ServiceStore.maximumWaitingChanges).map {
      ServiceStore.Change.remove(Key(service: "clock", identifier: "\($0)"))
    }
    #expect(throws: StorageError(file: store.path, problem: .queueFull)) {
      try store.writeAndWait(changes)
    }
    let long = registration("a", [UInt8](repeating: 0, count: ServiceStore.maximumBytes + 1))
    #expect(
      throws: StorageError(
        file: store.path, problem: .tooLong(bytes: ServiceStore.maximumBytes + 1))
    ) { try store.writeAndWait([.register(registration("b")), .register(long)]) }
    // One key takes one place, however often its state changes.
    var batch = Batch()
    for number in 0..<100 { batch.add(.setState(long.key, [UInt8(number)])) }
    #expect(batch.count == 1)
    store.close()
    // It is refused alone.
    #expect(try ServiceStore(.file(scratch["s"])).registrations == [registration("b")])
    #expect(throws: StorageError(file: store.path, problem: .closed)) {
      try store.writeAndWait([])
    }
  }

  @Test func refusalsComeInTheOrderOfTheWrites() throws {
    let scratch = try Scratch()
    let store = try ServiceStore(.file(scratch["s"]))
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
    var (all, older, newer) = (Batch(), Batch(), Batch())
    for number in 0..<12 {
      let key = Key(service: "clock", identifier: "\(random.next() % 2)")
      let change: ServiceStore.Change =
        switch random.next() % 5 {
        case 0: .register(.init(key: key, definition: [UInt8(number)]))
        case 1: .remove(key)
        case 2: .setState(key, [UInt8(number)])
        case 3: .addEvent(.init(serial: Int64(number), key: key, payload: []))
        default: .setAuthorization("\(number)")
        }
      all.add(change)
      if number < 6 { older.add(change) } else { newer.add(change) }
      if random.next() % 4 == 0 {
        let serial = Int64(random.next() % UInt64(number + 1))
        all.end(serial, nil)
        if number < 6 { older.end(serial, nil) } else { newer.end(serial, nil) }
      }
    }
    older.append(newer)
    #expect(older.rows.mapValues { "\($0)" } == all.rows.mapValues { "\($0)" })
    #expect(older.events == all.events && older.removed == all.removed)
    #expect(Set(older.ended.keys) == Set(all.ended.keys))
    #expect(older.authorization == all.authorization)
  }

  @Test func completionsComeInOrderAndOffTheCaller() throws {
    let scratch = try Scratch()
    let store = try ServiceStore(.file(scratch["s"]))
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
    #expect(try ServiceStore(.file(scratch["s"])).registrations.count == 1000)
  }

  /// From many threads at once, and the files stay small.
  @Test func threadsDoNotDisturbEachOther() async throws {
    let scratch = try Scratch()
    let store = try ServiceStore(.file(scratch["s"]))
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for round in 0..<500 {
            let name = "r\(task)-\(round % 10)"
            let event = store.event(name, [UInt8](repeating: 1, count: 2000))
            store.write([.register(registration(name)), .addEvent(event)]) { _ in
              store.markDelivered(event.serial)
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
    let again = try ServiceStore(.file(scratch["s"]))
    #expect(again.undelivered.isEmpty && again.failure == nil)
  }
}
