import Testing

@testable import Embedding

/// The lines that wait for a program.
@Suite struct EventLinesTests {
  private typealias Lines = EventLines<Int>

  private static func all(_ lines: inout Lines) -> [String] {
    var all: [String] = []
    while let entry = lines.removeFirst() {
      all.append(String(decoding: entry.line, as: UTF8.self))
    }
    return all
  }

  @Test func linesComeInTheirOrder() {
    var lines = Lines(limit: 3)
    #expect(lines.isEmpty)
    for text in ["a", "b", "c"] { #expect(lines.append(Array(text.utf8)) == nil) }
    #expect(Self.all(&lines) == ["a", "b", "c"])
    #expect(lines.isEmpty)
    #expect(lines.takeMissed() == nil)
  }

  @Test func aLaterReportTakesThePlaceOfTheOneThatWaits() {
    var lines = Lines(limit: 10)
    _ = lines.append(Array("a".utf8))
    lines.replace(.ranging, with: ["1x", "1y"].map { Array($0.utf8) })
    _ = lines.append(Array("b".utf8))
    lines.replace(.ranging, with: ["2x", "2y"].map { Array($0.utf8) })
    _ = lines.append(Array("c".utf8))
    #expect(Self.all(&lines) == ["a", "b", "2x", "2y", "c"])
  }

  @Test func valuesOfEachKindWaitOnce() {
    var lines = Lines(limit: 10)
    lines.replace(.fix, with: [Array("fix 1".utf8)])
    lines.replace(.heading, with: [Array("heading 1".utf8)])
    _ = lines.append(Array("a".utf8))
    lines.replace(.ranging, with: [Array("report".utf8)])
    lines.replace(.fix, with: [Array("fix 2".utf8)])
    lines.replace(.ranging, with: [])
    #expect(Self.all(&lines) == ["heading 1", "a", "fix 2"])
    #expect(lines.isEmpty)
  }

  /// What is kept until the program has dealt with it makes no room for others.
  @Test func whatIsStoredIsTheLastToGo() {
    var lines = Lines(limit: 3)
    #expect(lines.append(Array("stored 1".utf8), 1) == nil)
    #expect(lines.append(Array("a".utf8)) == nil)
    #expect(lines.append(Array("stored 2".utf8), 2) == nil)
    #expect(lines.append(Array("b".utf8)) == nil)
    #expect(lines.append(Array("stored 3".utf8), 3) == nil)
    #expect(lines.takeMissed() == 2)
    #expect(Self.all(&lines) == ["stored 1", "stored 2", "stored 3"])
  }

  @Test func reportsNeverPushEventsOut() {
    var lines = Lines(limit: 2)
    _ = lines.append(Array("a".utf8))
    _ = lines.append(Array("b".utf8))
    for _ in 0..<100 { lines.replace(.ranging, with: [Array("r".utf8)]) }
    #expect(lines.takeMissed() == nil)
    #expect(Self.all(&lines) == ["a", "b", "r"])
  }

  @Test func beyondTheLimitTheOldestAreDroppedAndCounted() {
    var lines = Lines(limit: EventFeed.limit)
    for number in 0..<10_000 { #expect(lines.append([], number) == nil) }
    #expect(lines.append([], 10_000) == 0)
    #expect(lines.append([], 10_001) == 1)
    #expect(lines.takeMissed() == 2)
    #expect(lines.takeMissed() == nil)
    #expect(lines.removeFirst()?.token == 2)
    #expect(lines.removeAll().count == 9_999)
    #expect(lines.isEmpty)
  }
}
