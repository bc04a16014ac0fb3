import RegionStorage
import Regions
import Scanning
import TestSupport
import Testing

/// What is to be told stays until it was told.
@Suite struct EventTests {
  @Test func serialsRiseOverRestarts() throws {
    let scratch = try Scratch()
    var last: UInt64 = 0
    for round in 0..<5 {
      let store = try unsynced(scratch["s"])
      try store.put(region("r"))
      let events = try store.record([crossing(), crossing(.exit), crossing()])
      #expect(events.map(\.serial) == [last + 1, last + 2, last + 3])
      last += 3
      // Whether all, some or none were delivered.
      for event in events.prefix(round) { store.delivered(event.serial) }
    }
  }

  @Test func serialsRiseThoughTheJournalIsLost() throws {
    let scratch = try Scratch()
    let store = try unsynced(scratch["s"])
    try store.put(region("r"))
    let events = try store.record([crossing(), crossing(.exit)])
    for event in events { store.delivered(event.serial) }
    _ = consume store
    try scratch.write([], "s")
    let again = try unsynced(scratch["s"])
    try again.put(region("r"))
    let fresh = try again.record([crossing()])
    #expect(fresh.map(\.serial) == [3])
    _ = consume again
    #expect(try unsynced(scratch["s"]).pending == fresh)
  }

  /// In any order, with restarts and rewriting between; as a set would have it.
  @Test(arguments: 0..<8)
  func marksInAnyOrder(_ seed: UInt64) throws {
    print("seed \(seed)")
    var random = SplitMix64(seed: seed)
    let scratch = try Scratch()
    var open: [StoredEvent] = []
    for _ in 0..<6 {
      let store = try unsynced(scratch["s"])
      #expect(store.pending == open)
      try store.put((0..<20).map { region("r\($0)") })
      for _ in 0..<60 {
        open += try store.record(
          (0..<(1 + random.next() % 9)).map { _ in crossing(of: "r\(random.next() % 20)") })
        while open.count > 100, random.next() % 64 != 0 {
          let event = open.remove(at: Int(random.next() % UInt64(open.count)))
          store.delivered(event.serial)
          if random.next() % 8 == 0 { store.delivered(event.serial) }
        }
      }
      store.delivered(0)
      store.delivered(.max)
      #expect(store.pending == open)
      #expect(store.remarks.isEmpty)
    }
  }

  @Test func theFileOfMarksStaysSmall() throws {
    let scratch = try Scratch()
    let store = try unsynced(scratch["s"])
    try store.put(region("r"))
    let first = try store.record([crossing()])
    for _ in 0..<200 {
      for event in try store.record((0..<100).map { _ in crossing() }) {
        store.delivered(event.serial)
      }
    }
    #expect(try scratch.bytes("s.told").count <= 65536 + 16)
    #expect(try scratch.bytes("s").count <= 2 * 65536)
    _ = consume store
    #expect(try unsynced(scratch["s"]).pending == first)
  }

  @Test func anUntoldChangeIsKept() throws {
    let scratch = try Scratch()
    let store = try unsynced(scratch["s"])
    try store.put(region("r"))
    var change = crossing(.enter, at: 77)
    change.event = nil
    #expect(try store.record([change]).isEmpty)
    let length = try scratch.bytes("s").count
    #expect(try store.record([change]).isEmpty)
    #expect(try scratch.bytes("s").count == length, "nothing new costs nothing")
    _ = consume store
    let found = try unsynced(scratch["s"]).regions.first
    #expect(found?.state == .inside && found?.since == MonotonicTime(nanoseconds: 77))
    #expect(found?.silenceLimit == 12.5)
  }

  @Test func tooManyEventsBecomeTheLastOfEachRegion() throws {
    let scratch = try Scratch()
    let store = try unsynced(scratch["s"])
    let names = (0..<10).map { "r\($0)" }
    try store.put(names.map { region($0) })
    // One region crossed once and long ago, and then was determined twice.
    let early = try store.record([
      crossing(.exit, of: "r0", at: 5), crossing(.determined(.inside), of: "r0", at: 6),
      crossing(.determined(.inside), of: "r0", at: 7),
    ])
    var last: [StoredEvent] = []
    for round in 0..<200 {
      last = try store.record(
        (0..<90).map {
          crossing(round % 2 == 0 ? .enter : .exit, of: names[$0 % 9 + 1], at: Int64(round))
        })
    }
    let pending = store.pending
    #expect(pending.count <= 16384)
    #expect(pending.contains(early[0]), "its last crossing")
    #expect(pending.contains(early[2]) && !pending.contains(early[1]))
    #expect(Array(pending.suffix(90)) == last)
    #expect(pending.map(\.serial) == pending.map(\.serial).sorted())
    _ = consume store
    #expect(try unsynced(scratch["s"]).pending == pending)
  }

  /// From many threads at once.
  @Test func threadsDoNotDisturbEachOther() async throws {
    let scratch = try Scratch()
    let store = try unsynced(scratch["s"])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for round in 0..<200 {
            let name = "r\(task)-\(round % 10)"
            try store.put(region(name, major: UInt16(round)))
            for event in try store.record([crossing(of: name)]) { store.delivered(event.serial) }
            if round % 7 == 0 { try store.remove(region(name).key) }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(store.pending.isEmpty)
    let before = Whole(store)
    _ = consume store
    #expect(Whole(try unsynced(scratch["s"])) == before)
  }
}
