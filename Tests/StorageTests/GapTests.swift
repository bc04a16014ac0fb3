import Dispatch
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
}
