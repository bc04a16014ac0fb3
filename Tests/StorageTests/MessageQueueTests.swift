import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite(.blocking) struct MessageQueueTests {
  /// A queue that the macros of tests can use, which copy what they examine.
  private final class Queue {
    private var queue: MessageQueue

    init(_ path: String, _ limits: MessageQueue.Limits) throws {
      queue = try MessageQueue(path, limits: limits)
    }

    var waiting: Int { queue.waiting }
    var dropped: Int { queue.dropped }
    var fault: StorageError? { queue.fault }
    func append(_ topic: String, _ payload: [UInt8]) { queue.append(topic, payload) }
    func next() -> MessageQueue.Message? { queue.next() }
    func acknowledge(_ token: UInt64) { queue.acknowledge(token) }
    func rewind() { queue.rewind() }
  }

  private func open(
    _ scratch: Scratch, bytes: Int = 1 << 20, messages: Int = 86400, memory: Int = 4 << 20
  ) throws -> Queue {
    var limits = MessageQueue.Limits(bytes: bytes)
    limits.messages = messages
    limits.memory = memory
    return try Queue(scratch["outbox"], limits)
  }

  private func payload(_ number: Int) -> [UInt8] {
    Array("\(number)".utf8)
      + Array(repeating: UInt8(truncatingIfNeeded: number), count: number % 97)
  }

  private func number(_ message: MessageQueue.Message) -> Int? {
    let text = message.payload.prefix { (0x30...0x39).contains($0) }
    return (1...text.count).lazy.compactMap {
      Int(String(decoding: text.prefix($0), as: UTF8.self))
    }
    .first { payload($0) == message.payload && message.topic == "topic/\($0)" }
  }

  /// Random steps, beside a plain list. The queue is opened again without notice, as after a kill.
  @Test(arguments: [UInt64(1), 2, 3, .random(in: 0...UInt64.max)])
  func nothingIsLostOrOutOfOrder(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SplitMix64(seed: seed)
    let scratch = try Scratch()
    var queue = try open(scratch)
    var waiting: [Int] = []
    var sent: [(token: UInt64, number: Int)] = []
    var appended = 0
    for _ in 0..<4000 {
      switch random.next() % 16 {
      case 0..<6:
        appended += 1
        queue.append("topic/\(appended)", payload(appended))
        waiting.append(appended)
      case 6..<10:
        let message = queue.next()
        let expected = sent.count < 20 ? waiting.dropFirst(sent.count).first : nil
        #expect(message.flatMap(number) == expected)
        if let message, let expected { sent.append((message.token, expected)) }
      case 10..<14:
        guard let first = sent.first else { continue }
        queue.acknowledge(first.token)
        sent.removeFirst()
        waiting.removeFirst()
      case 14:
        queue.rewind()
        sent = []
      default:
        guard random.next() % 8 == 0 else { continue }
        // The lock is released with the old value.
        queue = try open(try Scratch())
        queue = try open(scratch)
        sent = []
      }
      #expect(queue.waiting == waiting.count && queue.dropped == 0 && queue.fault == nil)
    }
    #expect(appended > 1000)
  }

  @Test func acknowledgmentsOutOfOrder() throws {
    let scratch = try Scratch()
    let queue = try open(scratch)
    for number in 1...3 { queue.append("topic/\(number)", payload(number)) }
    let tokens = (1...3).compactMap { _ in queue.next()?.token }
    queue.acknowledge(tokens[2])
    #expect(queue.waiting == 3)
    queue.acknowledge(tokens[0])
    #expect(queue.waiting == 2)
    queue.acknowledge(tokens[1])
    #expect(queue.waiting == 0)
    // Without messages, the files have their headers alone.
    #expect(try scratch.bytes("outbox.1").count == 32 && scratch.bytes("outbox.2").count == 32)
  }

  /// A power cut may leave a file without its end.
  @Test func everyPrefixOfAFileIsRead() throws {
    let scratch = try Scratch()
    let queue = try open(scratch)
    for number in 1...5 { queue.append("topic/\(number)", payload(number)) }
    let names = ["outbox.1", "outbox.2"]
    let name = try #require(try names.first { try scratch.bytes($0).count > 32 })
    let bytes = try scratch.bytes(name)
    var least = 0
    for count in 0...bytes.count {
      let copy = try Scratch()
      try copy.write(Array(bytes.prefix(count)), name)
      let cut = try open(copy)
      var numbers: [Int] = []
      while let message = cut.next() { numbers.append(number(message) ?? 0) }
      #expect(numbers == Array(1...5).prefix(numbers.count).map { $0 })
      #expect(numbers.count >= least && cut.dropped == 0)
      least = numbers.count
      cut.append("topic/9", payload(9))
      #expect(cut.next().flatMap(number) == 9)
    }
    #expect(least == 5)
  }

  @Test func aDamagedMessageIsDropped() throws {
    let scratch = try Scratch()
    do {
      let queue = try open(scratch)
      for number in 1...3 { queue.append("topic/\(number)", payload(number)) }
    }
    let names = ["outbox.1", "outbox.2"]
    let name = try #require(try names.first { try scratch.bytes($0).count > 32 })
    var bytes = try scratch.bytes(name)
    bytes[32 + 8] ^= 1
    try scratch.write(bytes, name)
    let queue = try open(scratch)
    #expect(queue.next().flatMap(number) == 2)
    #expect(queue.dropped == 1 && queue.waiting == 2)
  }

  @Test func theOldestMakeRoom() throws {
    let scratch = try Scratch()
    let queue = try open(scratch, bytes: 20000)
    for number in 1...2000 { queue.append("topic/\(number)", payload(number)) }
    let sizes = try ["outbox.1", "outbox.2"].map { try scratch.bytes($0).count }
    #expect(sizes.reduce(0, +) <= 20000 + 64)
    #expect(queue.dropped > 0 && queue.waiting == 2000 - queue.dropped)
    // At least half of the bytes are kept.
    #expect(sizes.reduce(0, +) > 9000)
    let first = queue.dropped + 1
    for expected in first...2000 {
      let message = try #require(queue.next())
      #expect(number(message) == expected)
      queue.acknowledge(message.token)
    }
    #expect(queue.waiting == 0 && queue.next() == nil)
  }

  @Test func theOldestOfTooManyAreDroppedWhileTheyAreSent() throws {
    let scratch = try Scratch()
    let queue = try open(scratch, messages: 10)
    for number in 1...10 { queue.append("topic/\(number)", payload(number)) }
    let first = try #require(queue.next())
    let second = try #require(queue.next())
    queue.append("topic/11", payload(11))
    #expect(queue.waiting == 10 && queue.dropped == 1)
    queue.acknowledge(first.token)
    #expect(queue.waiting == 10)
    queue.acknowledge(second.token)
    #expect(queue.waiting == 9)
    #expect(queue.next().flatMap(number) == 3)
  }

  @Test func anotherFileIsNotChanged() throws {
    let scratch = try Scratch()
    let bytes = Array("Notes of the kiosk, which nobody wants to lose.".utf8)
    try scratch.write(bytes, "outbox.1")
    #expect(throws: StorageError.self) { _ = try open(scratch) }
    #expect(try scratch.bytes("outbox.1") == bytes)
  }

  @Test(.enabled(if: SmallDisk.isPossible)) func aFullDiskLosesNothing() throws {
    let disk = try SmallDisk()
    var queue = try open(disk.scratch)
    try disk.scratch.write(Array(repeating: 1, count: 400 << 10), "other")
    var appended = 0
    while queue.fault == nil, appended < 10000 {
      appended += 1
      queue.append("topic/\(appended)", payload(appended))
    }
    #expect(queue.fault?.isOfDisk == true)
    for _ in 0..<100 {
      appended += 1
      queue.append("topic/\(appended)", payload(appended))
    }
    #expect(queue.waiting == appended && queue.dropped == 0)
    // It is sent from memory too.
    for expected in 1...appended - 5 {
      let message = try #require(queue.next())
      #expect(number(message) == expected)
      queue.acknowledge(message.token)
    }
    try FileManager.default.removeItem(atPath: disk.scratch["other"])
    appended += 1
    queue.append("topic/\(appended)", payload(appended))
    #expect(queue.fault == nil && queue.waiting == 6)
    queue = try open(try Scratch())
    queue = try open(disk.scratch)
    for expected in appended - 5...appended { #expect(queue.next().flatMap(number) == expected) }
  }

  /// Messages in memory are given up, not those that the disk has.
  @Test(.enabled(if: SmallDisk.isPossible)) func aDiskThatStaysFullKeepsWhatItHas() throws {
    let disk = try SmallDisk()
    let queue = try open(disk.scratch, memory: 2000)
    try disk.scratch.write(Array(repeating: 1, count: 400 << 10), "other")
    var stored = 0
    while queue.fault == nil, stored < 10000 {
      stored += 1
      queue.append("topic/\(stored)", payload(stored))
    }
    for number in stored + 1...stored + 200 { queue.append("topic/\(number)", payload(number)) }
    #expect(queue.dropped > 100 && queue.waiting == stored + 200 - queue.dropped)
    for expected in 1..<stored {
      let message = try #require(queue.next())
      #expect(number(message) == expected)
      queue.acknowledge(message.token)
    }
    var last = 0
    while let message = queue.next() {
      last = number(message) ?? 0
      queue.acknowledge(message.token)
    }
    #expect(last == stored + 200)
  }

  /// Printed, not checked: a machine may be busy.
  @Test func cost() throws {
    let scratch = try Scratch()
    let queue = try open(scratch, bytes: 256_000_000)
    let report = [UInt8](repeating: 0x20, count: 4000)
    let clock = ContinuousClock()
    let appending = clock.measure { for _ in 0..<1000 { queue.append("topic", report) } }
    let sending = clock.measure {
      while let message = queue.next() { queue.acknowledge(message.token) }
    }
    print("of 1000 messages of 4000 bytes: append \(appending), send \(sending)")
    #expect(queue.waiting == 0)
  }
}
