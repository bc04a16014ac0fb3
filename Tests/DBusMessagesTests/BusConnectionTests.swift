import DBusMessages
import Foundation
import TestDaemons
import TestSupport
import Testing

/// Connections to a real bus of each test's own.
@Suite(.blocking) struct BusConnectionTests {
  private let scratch: Scratch
  private let daemon: BusDaemon
  private var address: BusAddress { .address(daemon.address) }

  init() throws {
    scratch = try Scratch()
    daemon = try BusDaemon(
      in: scratch,
      rules: #"<deny send_interface="org.example.I" send_member="Forbidden"/>"#)
  }

  private static let name = "org.example.Service"

  /// A call of the peers of these tests.
  private static func call(_ member: String, _ body: BusValue...) -> BusMessage {
    BusMessage(call: member, of: "org.example.I", at: "/o", to: name, body: body)
  }

  private static func signal(_ member: String, to: String? = nil, _ body: BusValue) -> BusMessage {
    BusMessage(signal: member, of: "org.example.I", at: "/o", to: to, body)
  }

  // MARK: Calls

  @Test func valuesPassTheBus() throws {
    let peer = try Peer(daemon.address, names: [Self.name]) { bus, call in
      try bus.reply(to: call, with: call.body)
    }
    let bus = try BusConnection(address)
    #expect(bus.uniqueName.hasPrefix(":") && bus.uniqueName != peer.name)
    #expect(try bus.owner(of: Self.name) == peer.name)
    for value in BusValueTests.values {
      #expect(try bus.call(Self.call("Echo", value, .byte(7))) == [value, .byte(7)])
    }
    #expect(bus.droppedMessages == 0)
  }

  @Test func errors() throws {
    let peer = try Peer(daemon.address, names: [Self.name]) { bus, call in
      guard call.kind == .call else { return }
      try bus.replyError(to: call, name: BusError.Name.unknownMethod, message: "no \(call.member!)")
    }
    let bus = try BusConnection(address)
    #expect(throws: BusError.failed(name: BusError.Name.unknownMethod, message: "no Method")) {
      try bus.call(Self.call("Method"))
    }
    // A policy of the bus.
    let refused = #expect(throws: BusError.self) { try bus.call(Self.call("Forbidden")) }
    guard case .notPermitted = refused else { throw try #require(refused) }
    #expect(refused?.name == BusError.Name.accessDenied)
    // A name without an owner, and one that was never valid.
    let missing = #expect(throws: BusError.self) {
      try bus.call(BusMessage(call: "M", of: "a.b", at: "/", to: "org.example.Nobody"))
    }
    #expect(missing?.name == BusError.Name.serviceUnknown)
    #expect(try bus.owner(of: "org.example.Nobody") == nil)
    let invalid = #expect(throws: BusError.self) {
      try bus.call(BusMessage(call: "M", of: "a.b", at: "/", to: "nonsense"))
    }
    #expect(isInvalid(invalid))
    let rule = #expect(throws: BusError.self) { try bus.addMatch(BusMatch(path: "nonsense")) }
    #expect(rule?.name == "org.freedesktop.DBus.Error.MatchRuleInvalid")
    // None of them ends the connection.
    #expect(try bus.owner(of: Self.name) == peer.name)
  }

  /// What comes during a call is there afterwards, in order, and calls among it can be answered.
  @Test func orderDuringACall() throws {
    let peer = try Peer(daemon.address, names: [Self.name]) { bus, message in
      guard message.kind == .call else { return }
      for number in 0..<100 as Range<UInt32> {
        try bus.send(
          number % 10 == 5
            ? BusMessage(
              call: "Question", of: "org.example.I", at: "/", to: message.sender,
              body: [.uint32(number)])
            : Self.signal("Number", to: message.sender, .uint32(number)))
      }
      try bus.reply(to: message, with: [.string("done")])
    }
    let bus = try BusConnection(address)
    #expect(try bus.call(Self.call("Burst")) == [.string("done")])
    let messages = try bus.receive(waitingAtMost: 0).filter { $0.sender == peer.name }
    #expect(messages.map(\.body) == (0..<100).map { [.uint32($0)] })
    #expect(messages.filter { $0.kind == .call && $0.expectsReply }.count == 10)
    for call in messages where call.kind == .call { try bus.reply(to: call) }
    #expect(try bus.call(Self.call("Burst")) == [.string("done")])
  }

  /// A call that is not answered ends in time, and its late reply comes as a message.
  @Test func lateReply() throws {
    let bus = try BusConnection(address)
    let silent = try BusConnection(address)
    let call = BusMessage(call: "Wait", of: "org.example.I", at: "/", to: silent.uniqueName)
    #expect(throws: BusError.timedOut(member: "Wait")) {
      try bus.call(call, timeout: 50_000_000)
    }
    let received = try #require(silent.receive(1, of: .call).first)
    #expect(received.sender == bus.uniqueName)
    try silent.reply(to: received, with: [.byte(1)])
    let late = try #require(bus.receive(1, of: .reply).first)
    #expect(late.replySerial == received.serial && late.body == [.byte(1)])
    // One that was only sent is answered the same way.
    let serial = try bus.send(call)
    try silent.reply(to: #require(silent.receive(1, of: .call).first), with: [.byte(2)])
    let reply = try #require(bus.receive(1, of: .reply).first)
    #expect(reply.replySerial == serial && reply.body == [.byte(2)])
  }

  /// The bus answers for a service that goes away.
  @Test func serviceEndsDuringACall() throws {
    let peer = try Peer(daemon.address, names: [Self.name]) { bus, call in
      if call.member == "End" { bus.close() }
    }
    let bus = try BusConnection(address)
    let error = #expect(throws: BusError.self) { try bus.call(Self.call("End")) }
    #expect(error?.name == BusError.Name.noReply)
    _ = peer
  }

  // MARK: Signals

  @Test func signalsAreMatchedAtTheBus() throws {
    let bus = try BusConnection(address)
    let sender = try BusConnection(address)
    let rule = BusMatch(sender: sender.uniqueName, interface: "org.example.I", member: "Wanted")
    try bus.addMatch(rule)
    for number in 0..<5 as Range<UInt32> {
      try sender.send(Self.signal("Unwanted", .uint32(number)))
      try sender.send(Self.signal("Wanted", .uint32(number)))
    }
    let signals = try bus.receive(5)
    #expect(signals.map(\.member) == [String?](repeating: "Wanted", count: 5))
    #expect(signals.map(\.body) == (0..<5).map { [.uint32($0)] })
    #expect(signals.allSatisfy { $0.sender == sender.uniqueName && $0.path == "/o" })

    _ = try bus.call(.toBus("RemoveMatch", .string(rule.text)))
    try sender.send(Self.signal("Wanted", .uint32(9)))
    try sender.send(Self.signal("Last", to: bus.uniqueName, .uint32(10)))
    #expect(try bus.receive(1).map(\.member) == ["Last"])
  }

  @Test func ownersOfAName() throws {
    let bus = try BusConnection(address)
    try bus.addMatch(.owner(of: Self.name))
    let first = try BusConnection(address)
    try first.takeName(Self.name)
    try first.takeName("org.example.Other")
    first.close()
    var changes = try bus.receive(2).compactMap(\.ownerChange)
    let second = try BusConnection(address)
    try second.takeName(Self.name)
    changes += try bus.receive(1).compactMap(\.ownerChange)
    #expect(changes.map(\.name) == [String](repeating: Self.name, count: 3))
    #expect(changes.map(\.owner) == [first.uniqueName, nil, second.uniqueName])
    // Another than the bus cannot report it.
    try second.send(
      BusMessage(
        signal: "NameOwnerChanged", of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus",
        to: bus.uniqueName, .string(Self.name), .string(""), .string("")))
    #expect(try bus.receive(1).map { $0.ownerChange == nil } == [true])
  }

  @Test func managedObjects() throws {
    typealias Objects = ManagedObjectsTests
    let service = try Peer(daemon.address, names: [Self.name]) { bus, call in
      guard call.kind == .call else { return }
      try bus.send(Objects.added("/a", ["i.Early": [:]], sender: nil))
      try bus.send(Objects.removed("/a", ["i.Early"], sender: nil))
      try bus.reply(to: call, with: Objects.reply(["/a": ["i.A": ["x": .int16(-1)]]]))
      try bus.send(Objects.changed("/a", "i.A", ["x": .int16(-2)], [], sender: nil))
      try bus.send(Objects.added("/b", ["i.B": [:]], sender: nil))
    }
    let bus = try BusConnection(address)
    for rule in ManagedObjects.matches(service: Self.name) { try bus.addMatch(rule) }
    var objects = ManagedObjects(owner: service.name)
    objects.reset(try bus.call(ManagedObjects.request(to: Self.name)))
    #expect(objects.objects == ["/a": ["i.A": ["x": .int16(-1)]]])
    let changes = try bus.receive(4).flatMap { objects.apply($0) }
    #expect(changes == ["i.Early", "i.Early", "i.A", "i.B"])
    #expect(objects.objects == ["/a": ["i.A": ["x": .int16(-2)]], "/b": ["i.B": [:]]])
  }

  // MARK: Waiting

  /// A wait ends by the other descriptor, and takes no processor time.
  @Test func waiting() throws {
    let bus = try BusConnection(address)
    // Its own name, which the bus reports first, is here before the answer.
    _ = try bus.owner(of: Self.name)
    _ = try bus.receive(waitingAtMost: 0)
    let start = Self.processorTime
    #expect(try bus.receive(waitingAtMost: 300_000_000).isEmpty)
    #expect(Self.processorTime - start < 100_000_000)

    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data([1]))
    let wakeUp = pipe.fileHandleForReading.fileDescriptor
    #expect(try bus.receive(waitingAtMost: .max, orUntil: wakeUp).isEmpty)
    // What is there is returned all the same.
    let sender = try BusConnection(address)
    try sender.send(Self.signal("S", to: bus.uniqueName, .byte(1)))
    _ = try sender.owner(of: Self.name)
    var received: [BusMessage] = []
    eventually {
      received += (try? bus.receive(waitingAtMost: .max, orUntil: wakeUp)) ?? []
      return !received.isEmpty
    }
    #expect(received.map(\.member) == ["S"])
  }

  /// The time that this thread has run, in nanoseconds.
  private static var processorTime: Int64 {
    var time = timespec()
    // The structure outlives the call.
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  // MARK: Bounds

  /// A call keeps a bounded number of a flood's messages, and counts the others.
  @Test func floodDuringACall() throws {
    var limits = BusLimits()
    limits.messages = 100
    let bus = try BusConnection(address, limits: limits)
    let sender = try BusConnection(address)
    for number in 0..<1000 as Range<UInt32> {
      try sender.send(Self.signal("Flood", to: bus.uniqueName, .uint32(number)))
    }
    // The bus has passed on all of them.
    #expect(try sender.owner(of: bus.uniqueName) == bus.uniqueName)
    #expect(try bus.owner(of: sender.uniqueName) == sender.uniqueName)
    let kept = try bus.receive(waitingAtMost: 0).filter { $0.member == "Flood" }
    #expect((90...100).contains(kept.count))
    #expect(kept.map(\.body) == kept.indices.map { [.uint32(UInt32($0))] })
    #expect(bus.droppedMessages == 1000 - kept.count)
  }

  /// Without a call nothing is dropped: what is not yet wanted stays in the bus.
  @Test func floodInBatches() throws {
    var limits = BusLimits()
    limits.messages = 64
    limits.decodedBytes = 1 << 20
    let bus = try BusConnection(address, limits: limits)
    let sender = try BusConnection(address)
    let payload = BusValue.bytes([UInt8](repeating: 7, count: 100_000))
    var received = 0
    for _ in 0..<20 {
      for _ in 0..<5 { try sender.send(Self.signal("Flood", to: bus.uniqueName, payload)) }
      _ = try sender.owner(of: bus.uniqueName)
    }
    while received < 100 {
      let batch = try bus.receive(waitingAtMost: 60_000_000_000)
      try #require(!batch.isEmpty)
      // A megabyte, and the message that exceeded it.
      #expect(batch.count <= 12)
      received += batch.count { $0.body == [payload] }
    }
    #expect(bus.droppedMessages == 0)
  }

  /// One message that is too long ends the connection before it is stored, and no other connection.
  @Test func hugeMessage() throws {
    var limits = BusLimits()
    limits.messageBytes = 1 << 20
    let bus = try BusConnection(address, limits: limits)
    let sender = try BusConnection(address)
    let payload = BusValue.bytes([UInt8](repeating: 7, count: 2 << 20))
    try sender.send(Self.signal("Small", to: bus.uniqueName, .byte(1)))
    try sender.send(Self.signal("Huge", to: bus.uniqueName, payload))
    _ = try sender.owner(of: "org.example.Nobody")
    #expect(try bus.receive(1).map(\.member) == ["Small"])
    #expect(throws: BusError.disconnected) { while true { _ = try bus.receive(1) } }
    #expect(!bus.isConnected)
    let again = try BusConnection(address)
    try sender.send(Self.signal("Huge", to: again.uniqueName, payload))
    _ = try sender.owner(of: "org.example.Nobody")
    #expect(try again.receive(1).first?.body == [payload])
  }

  /// A reply with more values than they may take is an error; a signal is dropped and counted.
  @Test func tooManyValues() throws {
    let values = BusValue.array(
      element: "v", [BusValue](repeating: .variant(.byte(1)), count: 10_000))
    let peer = try Peer(daemon.address, names: [Self.name]) { bus, call in
      guard call.kind == .call else { return }
      try bus.send(Self.signal("Many", to: call.sender, values))
      try bus.reply(to: call, with: [values])
    }
    var limits = BusLimits()
    limits.decodedBytes = 1 << 20
    let bus = try BusConnection(address, limits: limits)
    let error = #expect(throws: BusError.self) { try bus.call(Self.call("M")) }
    #expect(isInvalid(error))
    #expect(bus.droppedMessages == 1)
    #expect(bus.isConnected)
    _ = peer
  }

  // MARK: The bus's end

  @Test func theBusEnds() throws {
    let bus = try BusConnection(address)
    let sender = try BusConnection(address)
    try sender.send(Self.signal("Last", to: bus.uniqueName, .byte(1)))
    _ = try sender.owner(of: bus.uniqueName)
    daemon.kill()
    // What came before the end is not lost.
    #expect(try bus.receive(1).map(\.member) == ["Last"])
    for _ in 0..<2 {
      #expect(throws: BusError.disconnected) { try bus.receive(waitingAtMost: .max) }
      #expect(throws: BusError.disconnected) { try bus.call(Self.call("M")) }
      #expect(throws: BusError.disconnected) { try bus.send(Self.call("M")) }
    }
    #expect(throws: BusError.disconnected) { try sender.call(Self.call("M")) }
    bus.close()

    #expect(isUnavailable { try BusConnection(address) })
    let next = try BusDaemon(in: scratch)
    #expect(try BusConnection(.address(next.address)).owner(of: Self.name) == nil)
  }

  /// A bus that is stopped answers nothing in time, and is used again when it goes on.
  @Test func theBusStops() throws {
    var limits = BusLimits()
    limits.unsentBytes = 100_000
    let bus = try BusConnection(address, limits: limits)
    daemon.pause()
    defer { daemon.resume() }
    #expect(throws: BusError.timedOut(member: "GetNameOwner")) {
      try bus.call(.toBus("GetNameOwner", .string(Self.name)), timeout: 50_000_000)
    }
    #expect(isUnavailable { try BusConnection(address, timeout: 50_000_000) })
    let payload = BusValue.bytes([UInt8](repeating: 7, count: 50_000))
    var sent = 0
    let error = #expect(throws: BusError.self) {
      while sent < 1000 {
        try bus.send(Self.signal("S", to: bus.uniqueName, payload))
        sent += 1
      }
    }
    guard case .congested = error else { throw try #require(error) }
    daemon.resume()
    #expect(try bus.receive(sent).count == sent)
    try bus.send(Self.signal("S", to: bus.uniqueName, payload))
    #expect(try bus.receive(1).count == 1)
  }

  @Test func noBus() throws {
    #expect(isUnavailable { try BusConnection(.address("unix:path=\(scratch["none"])")) })
    try scratch.write([], "file")
    #expect(isUnavailable { try BusConnection(.address("unix:path=\(scratch["file"])")) })
    for address in ["", "nonsense", "unix:path", "unix:path=/a\0b"] {
      let error = #expect(throws: BusError.self) { try BusConnection(.address(address)) }
      #expect(isInvalid(error) || isUnavailable { throw try #require(error) }, "\(address)")
    }
  }

  @Test func aBusThatRefusesTheUser() throws {
    let scratch = try Scratch()
    let daemon = try BusDaemon(in: scratch, rules: #"<deny user="*"/>"#)
    let error = #expect(throws: BusError.self) { try BusConnection(.address(daemon.address)) }
    guard case .notPermitted = error else { throw try #require(error) }
  }

  @Test func aClosedConnection() throws {
    let bus = try BusConnection(address)
    let other = try BusConnection(address)
    try bus.send(Self.signal("Last", to: other.uniqueName, .byte(1)))
    bus.close()
    bus.close()
    #expect(throws: BusError.disconnected) { try bus.send(Self.call("M")) }
    #expect(throws: BusError.disconnected) { try bus.receive(waitingAtMost: .max) }
    #expect(try other.receive(1).map(\.member) == ["Last"])
  }
}

/// Whether no bus answers.
private func isUnavailable<Value>(_ body: () throws -> Value) -> Bool {
  do {
    _ = try body()
    return false
  } catch BusError.unavailable {
    return true
  } catch {
    return false
  }
}
