import Foundation
import Synchronization
import TestDaemons
import TestSupport
import Testing

@testable import ServiceCore
@testable import Storage

@Suite(.timeLimit(.minutes(10))) struct JournalTests {
  /// The observer is called directly, however many events came before: a layer of calls for each event would end the
  /// process as soon as the stack is full.
  @Test func theObserverIsCalledDirectly() throws {
    let events = TestJournal()
    let depths = Mutex<[Int]>([])
    events.journal.observe { _ in
      let depth = Thread.callStackReturnAddresses.count
      depths.withLock { $0.append(depth) }
    }
    for _ in 0..<1000 { events.append([]) }
    let found = depths.withLock { $0 }
    #expect(found.count == 1000)
    let (first, last) = (try #require(found.first), try #require(found.last))
    #expect(last < first + 8, "the stack had \(first) calls and has \(last)")
  }

  /// What the log has and no transaction stored yet is for the readers of the next process too.
  @Test func whatTheLogHasIsReadBeforeItIsStored() throws {
    let scratch = try Scratch()
    try scratch.makeFolder("copy")
    let before = TestJournal(file: scratch["s"])
    before.append(Array("1".utf8))
    before.manager.flush()
    // No transaction stores what follows.
    let writer = try #require(before.manager.store.database?.writer)
    writer.suspend()
    defer { writer.resume() }
    before.append(Array("2".utf8))
    before.append(Array("3".utf8))
    for name in scratch.names where name != "copy" {
      try scratch.write(scratch.bytes(name), "copy/\(name)")
    }
    let after = TestJournal(file: scratch["copy/s"])
    #expect(after.journal.generation == before.journal.generation)
    #expect(after.journal.read(after: 1).entries.map(\.id) == [2, 3])
    #expect(after.journal.latest == 3)
  }

  /// Entries that are there are given before a gap is stated, and it is stated once.
  @Test func aGapIsStatedOnceAndWhereItIs() throws {
    let scratch = try Scratch()
    try scratch.makeFolder("copy")
    let before = TestJournal(file: scratch["s"])
    for _ in 0..<3 { before.append(Array("x".utf8)) }
    before.manager.flush()
    for name in scratch.names where name != "copy" {
      var bytes = try scratch.bytes(name)
      // The process ended with something that it could not write.
      if name == "s-readers" { bytes[16] = 2 }
      try scratch.write(bytes, "copy/\(name)")
    }
    let after = TestJournal(file: scratch["copy/s"])
    let reader = JournalReader(after.journal, name: "webhook", kinds: ["enter"])
    var position: Int64 = 0
    for id in Int64(1)...3 {
      let next = reader.next(after: position)
      #expect(next.entry?.id == id && !next.hasMissed)
      position = id
    }
    after.append(Array("y".utf8))
    let new = reader.next(after: position)
    #expect(new.entry.map { $0.id > 3 } == true && new.hasMissed)
    after.append(Array("z".utf8))
    let last = reader.next(after: new.entry?.id ?? 0)
    #expect(last.entry != nil && !last.hasMissed)
  }

  /// A reader that was given nothing yet goes on after a kill where it began.
  @Test func aNewReaderGoesOnWhereItBegan() throws {
    let scratch = try Scratch()
    try scratch.makeFolder("copy")
    let before = TestJournal(file: scratch["s"])
    before.append(Array("1".utf8))
    #expect(before.journal.begin("webhook") == 1)
    before.append(Array("2".utf8))
    for name in scratch.names where name != "copy" {
      // The database is being made: a file of that may be gone.
      guard let bytes = try? scratch.bytes(name) else { continue }
      try scratch.write(bytes, "copy/\(name)")
    }
    let after = TestJournal(file: scratch["copy/s"])
    #expect(after.journal.begin("webhook") == 1)
    #expect(after.journal.begin("mqtt") == 2)
  }
}
