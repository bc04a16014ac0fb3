import Testing

@testable import BrokerLink

@Suite struct OutboxTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// Hands over everything that waits, and returns it as text.
  private func drain(_ outbox: inout Outbox, acknowledges: Bool = true) -> [String] {
    var texts: [String] = []
    while let message = outbox.next() {
      texts.append("\(message.topic)=\(String(decoding: message.payload, as: UTF8.self))")
      if acknowledges { outbox.acknowledge(message.token) }
    }
    return texts
  }

  @Test func `a new connection gets the status, discovery, states and events`() {
    var outbox = Outbox(position: 0)
    outbox.append(event: "e", bytes("1"), id: 1)
    outbox.set("s", bytes("1"), .state)
    outbox.set("d", bytes("1"), .discovery)
    outbox.set("status", bytes("online"), .status)
    outbox.set("s", bytes("2"), .state)
    outbox.append(event: "e", bytes("2"), id: 2)
    #expect(outbox.next() == nil)
    outbox.begin()
    #expect(drain(&outbox) == ["status=online", "d=1", "s=2", "e=1", "e=2"])
    #expect(outbox.isEmpty && outbox.published == 5)
    outbox.end()
    outbox.begin()
    #expect(drain(&outbox) == ["status=online", "d=1", "s=2"])
  }

  @Test func `the same state again is not published`() {
    var outbox = Outbox(position: 0)
    outbox.begin()
    outbox.set("s", bytes("1"), .state)
    #expect(drain(&outbox) == ["s=1"])
    let revision = outbox.revision
    outbox.set("s", bytes("1"), .state)
    #expect(drain(&outbox) == [] && outbox.revision == revision)
    outbox.set("s", bytes("2"), .state)
    outbox.set("s", bytes("1"), .state)
    #expect(drain(&outbox) == ["s=1"])
  }

  @Test func `a state that changes while it is on its way is published again`() {
    var outbox = Outbox(position: 0)
    outbox.begin()
    outbox.set("s", bytes("1"), .state)
    let first = outbox.next()
    outbox.set("s", bytes("2"), .state)
    outbox.acknowledge(first?.token ?? 0)
    #expect(drain(&outbox) == ["s=2"])
  }

  @Test func `events that are not acknowledged are sent again, in order`() {
    var outbox = Outbox(position: 0)
    outbox.begin()
    for number in 1...5 { outbox.append(event: "e", bytes("\(number)"), id: Int64(number)) }
    let tokens = (1...3).compactMap { _ in outbox.next()?.token }
    outbox.acknowledge(tokens[1])
    outbox.end()
    outbox.begin()
    #expect(drain(&outbox) == ["e=1", "e=3", "e=4", "e=5"])
    #expect(outbox.published == 5 && outbox.acknowledged == 5)
  }

  @Test func `a window bounds what is not acknowledged`() {
    var outbox = Outbox(position: 0)
    outbox.begin()
    for number in 1...50 { outbox.append(event: "e", bytes("\(number)"), id: Int64(number)) }
    let sent = drain(&outbox, acknowledges: false)
    #expect(sent == (1...Outbox.window).map { "e=\($0)" })
    #expect(!outbox.takesEvent && outbox.acknowledged == 0)
    outbox.end()
    outbox.begin()
    #expect(drain(&outbox) == (1...50).map { "e=\($0)" })
    #expect(outbox.takesEvent && outbox.acknowledged == 50)
    outbox.skip(to: 60)
    #expect(outbox.position == 60 && outbox.acknowledged == 60)
  }

  @Test func `what is removed is removed once, and stays removed`() {
    var outbox = Outbox(position: 0)
    outbox.set("d", bytes("1"), .discovery)
    outbox.begin()
    #expect(drain(&outbox) == ["d=1"])
    outbox.end()
    outbox.remove("d", .discovery)
    outbox.begin()
    #expect(drain(&outbox, acknowledges: false) == ["d="])
    // Without an acknowledgment it is removed again.
    outbox.end()
    outbox.begin()
    #expect(drain(&outbox) == ["d="])
    outbox.end()
    outbox.begin()
    #expect(drain(&outbox) == [])
  }

  @Test func `momentary messages are not kept for later`() {
    var outbox = Outbox(position: 0)
    outbox.set("m", bytes("1"), .momentary)
    outbox.begin()
    #expect(drain(&outbox) == [])
    outbox.set("m", bytes("2"), .momentary)
    outbox.set("m", bytes("3"), .momentary)
    #expect(drain(&outbox) == ["m=3"])
    outbox.set("m", bytes("3"), .momentary)
    #expect(drain(&outbox) == ["m=3"])
    outbox.set("m", bytes("4"), .momentary)
    outbox.end()
    outbox.begin()
    #expect(drain(&outbox) == [])
    for number in 1...5000 { outbox.set("m\(number)", bytes("x"), .momentary) }
    #expect(drain(&outbox).count == Outbox.maximumMomentary)
  }
}
