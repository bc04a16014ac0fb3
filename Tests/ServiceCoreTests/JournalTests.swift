import Foundation
import Synchronization
import TestDaemons
import Testing

@testable import ServiceCore

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
}
