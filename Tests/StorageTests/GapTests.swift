import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite struct GapTests {
  /// In any order, gaps are the identifiers that were added, none twice, and no two touch.
  @Test(arguments: UInt64(0)..<200) func gapsAreWhatWasAdded(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var gaps: [EntryGap] = []
    var model: Set<Int64> = []
    for _ in 0..<(random.next() % 12 + 1) {
      let first = Int64(random.next() % 40)
      let gap = EntryGap(first: first, last: first + Int64(random.next() % 6))
      gaps.insert(gap)
      model.formUnion(gap.first...gap.last)
      #expect(gaps.flatMap { Array($0.first...$0.last) } == model.sorted())
      #expect(zip(gaps, gaps.dropFirst()).allSatisfy { $0.last + 1 < $1.first })
    }
  }

  /// A process is killed after its first entry, whose transaction has not begun.
  @Test func theFirstEntryAfterTheDatabaseIsMadeSurvives() throws {
    let scratch = try Scratch()
    try scratch.makeFolder("killed")
    let limits = Store.Limits(maximumAge: .max)
    let store = try Store(.file(scratch["h"]), limits: limits)
    store.flush()
    store.writer.suspend()
    let entry = StoredEntry(id: store.nextID(), time: 1, kind: "enter", payload: [1])
    #expect(store.write([.add(entry)]))
    for suffix in ["", "-wal", "-log-1", "-log-2", "-readers"] {
      try scratch.write(scratch.bytes("h" + suffix), "killed/h" + suffix)
    }
    store.writer.resume()
    #expect(store.close() == nil)
    let next = try Store(.file(scratch["killed/h"]), limits: limits)
    #expect(next.takeRecovered().map(\.id) == [entry.id])
    #expect(next.close() == nil)
  }

  /// Opens a store on a read-only disk that has the log of a lost database, and no database.
  @Test(.enabled(if: SmallDisk.isPossible)) func anEarlierLogDoesNotHideLaterRecords() throws {
    let files = FileManager.default
    let disk = try SmallDisk(size: "8m")
    try disk.scratch.makeFolder("killed")
    let lost = try Store(.file(disk.scratch["lost"]))
    lost.writer.suspend()
    for _ in 0..<3 {
      #expect(lost.write([.add(StoredEntry(id: lost.nextID(), time: 1, kind: "k", payload: [1]))]))
    }
    for name in ["-log-1", "-log-2"] {
      try disk.scratch.write(disk.scratch.bytes("lost" + name), "h" + name)
    }
    lost.writer.resume()
    #expect(lost.close() == nil)
    try disk.remountReadOnly()
    let store = try Store(.file(disk.scratch["h"]))
    store.flush()
    // The log cannot be made at first.
    store.writer.suspend()
    try disk.remountWritable()
    try files.moveItem(atPath: disk.scratch["h-log-1"], toPath: disk.scratch["aside"])
    try disk.scratch.makeFolder("h-log-1")
    store.writer.resume()
    store.flush()
    #expect(store.failure != nil)
    store.writer.suspend()
    try files.removeItem(atPath: disk.scratch["h-log-1"])
    try files.moveItem(atPath: disk.scratch["aside"], toPath: disk.scratch["h-log-1"])
    store.writer.resume()
    store.flush()
    #expect(store.failure == nil)
    store.writer.suspend()
    let entry = StoredEntry(id: store.nextID(), time: 1, kind: "enter", payload: [1])
    #expect(store.write([.add(entry)]))
    for suffix in ["", "-wal", "-log-1", "-log-2", "-readers"] {
      try disk.scratch.write(disk.scratch.bytes("h" + suffix), "killed/h" + suffix)
    }
    store.writer.resume()
    #expect(store.close() == nil)
    let next = try Store(.file(disk.scratch["killed/h"]))
    #expect(next.takeRecovered().map(\.id) == [entry.id])
    #expect(next.close() == nil)
  }

  @Test func aLogThatCannotBeReadIsKept() throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch["lost"]))
    store.flush()
    store.writer.suspend()
    let entry = StoredEntry(id: store.nextID(), time: 1, kind: "enter", payload: [1])
    #expect(store.write([.add(entry)]))
    let isFirst = try !scratch.bytes("lost-log-1").isEmpty
    let (kept, other) = isFirst ? ("-log-1", "-log-2") : ("-log-2", "-log-1")
    try scratch.write(scratch.bytes("lost" + kept), "h" + kept)
    store.writer.resume()
    #expect(store.close() == nil)
    try scratch.makeFolder("h" + other)
    #expect(throws: StorageError.self) { try Store(.file(scratch["h"])) }
    try FileManager.default.removeItem(atPath: scratch["h" + other])
    let next = try Store(.file(scratch["h"]))
    #expect(next.takeRecovered().map(\.id) == [entry.id])
    #expect(next.close() == nil)
  }
}
