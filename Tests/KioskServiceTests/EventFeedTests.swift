import Testing

@testable import KioskService

@Suite struct EventFeedTests {
  private func event(_ id: Int64, bytes: Int = 2) -> FeedEvent {
    FeedEvent(id: id, kind: "enter", data: [UInt8](repeating: 0x20, count: bytes))
  }

  @Test func aReaderGetsWhatIsBehindItsPlace() {
    let feed = EventFeed([event(3), event(4)])
    let all = feed.read(after: .init(event: 2))
    #expect(all.events.map(\.id) == [3, 4])
    #expect(!all.hasMissed)
    feed.append(event(5))
    #expect(feed.read(after: all.place).events.map(\.id) == [5])
    #expect(feed.read(after: feed.end).events.isEmpty)
  }

  @Test func aReaderIsToldOfWhatIsGone() {
    let feed = EventFeed([event(3), event(4)])
    #expect(feed.read(after: .init(event: 1)).hasMissed)
    #expect(!EventFeed(latest: 9).read(after: .init(event: 9)).hasMissed)
    #expect(EventFeed(latest: 9).read(after: .init(event: 8)).hasMissed)
  }

  @Test func eventsAreBoundedInNumberAndInBytes() {
    let many = EventFeed()
    for id in 1...Int64(EventFeed.maximumEvents + 10) { many.append(event(id)) }
    let kept = many.read(after: .init(event: 0))
    #expect(kept.events.count == EventFeed.maximumEvents)
    #expect(kept.hasMissed)
    let large = EventFeed()
    for id in 1...10 { large.append(event(Int64(id), bytes: 1 << 20)) }
    #expect(large.read(after: .init(event: 0)).events.map(\.id) == [7, 8, 9, 10])
    // One event is always kept, whatever its size.
    large.append(event(11, bytes: EventFeed.maximumBytes + 1))
    #expect(large.read(after: .init(event: 0)).events.map(\.id) == [11])
  }

  @Test func aReportReplacesTheOneBefore() {
    let feed = EventFeed()
    let start = feed.end
    feed.setReport([1])
    feed.setReport([2])
    let batch = feed.read(after: start)
    #expect(batch.report == [2])
    #expect(feed.read(after: batch.place).report == nil)
  }

  @Test(.timeLimit(.minutes(5))) func aWaitingReaderIsWokenByEventsTheEndAndCancellation() async {
    let feed = EventFeed()
    let place = feed.end
    async let first = feed.next(after: place)
    async let second = feed.next(after: place)
    while feed.waitingReaders < 2 { await Task.yield() }
    feed.append(event(1))
    #expect(await first?.events.map(\.id) == [1])
    #expect(await second?.events.map(\.id) == [1])
    let end = feed.end
    let canceled = Task { await feed.next(after: end) == nil }
    while feed.waitingReaders < 1 { await Task.yield() }
    canceled.cancel()
    #expect(await canceled.value)
    #expect(feed.waitingReaders == 0)
    async let last = feed.next(after: end)
    while feed.waitingReaders < 1 { await Task.yield() }
    feed.close()
    #expect(await last == nil)
    #expect(await feed.next(after: end) == nil)
  }

  @Test(arguments: [
    "", "-", "1", "0123abcd", "0123abcd-", "0123abcd-x", "0123ABCD-1", "0123abcg-1", "123abcd-1",
    "0123abcd--1", "0123abcd-1-2", "0123abcd-1234567890123456789", "0123abcd-+1",
  ])
  func textsThatAreNoIdentifier(_ text: String) { #expect(EventID(text) == nil) }

  @Test func anIdentifierIsItsText() {
    let id = EventID("0123abcd-42")
    #expect(id?.generation == "0123abcd")
    #expect(id?.number == 42)
    #expect(id?.description == "0123abcd-42")
  }
}
