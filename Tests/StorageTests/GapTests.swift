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
}
