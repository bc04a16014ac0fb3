import DBusMessages
import TestDaemons
import TestSupport
import Testing

@Suite struct BusValueTests {
  static let values: [BusValue] = [
    .byte(0), .byte(255), .boolean(true), .boolean(false), .int16(.min), .uint16(.max),
    .int32(.min), .uint32(.max), .int64(.min), .uint64(.max), .double(-0.5), .double(.infinity),
    .string(""), .string("Grüße, 🏬"), .objectPath("/"), .objectPath("/org/bluez/hci0"),
    .signature(""), .signature("a{sv}"), .bytes([]), .bytes([0, 1, 255]),
    .array(element: "s", []), .strings(["a", ""]),
    .array(element: "ay", [.bytes([1]), .bytes([])]),
    .array(element: "(nq)", [.structure([.int16(-1), .uint16(1)])]),
    .array(element: "v", [.variant(.byte(1)), .variant(.string("x"))]),
    .dictionary(key: "s", value: "v", []), .properties(["b": .int16(-70), "a": .bytes([76, 0])]),
    .dictionary(key: "q", value: "v", [BusValue.Entry(.uint16(76), .variant(.bytes([2, 21])))]),
    .dictionary(
      key: "o", value: "a{sa{sv}}",
      [
        BusValue.Entry(
          .objectPath("/a"),
          .dictionary(
            key: "s", value: "a{sv}",
            [BusValue.Entry(.string("i"), .properties(["x": .boolean(true)]))]))
      ]),
    .structure([.byte(1), .structure([.double(2), .strings(["3"])])]),
    .variant(.variant(.structure([.uint64(1)]))),
  ]

  @Test(arguments: values) func roundTrip(_ value: BusValue) throws {
    let message = Self.message(value, .byte(7), value)
    let bytes = try message.encoded()
    let read = try BusMessage(parsing: bytes)
    #expect(read == message)
    #expect(try read.encoded() == bytes)
  }

  @Test func everyPartOfAHeader() throws {
    var message = BusMessage(.error, body: [.string("why")])
    message.sender = ":1.7"
    message.destination = "org.example.A"
    message.errorName = "org.example.Error"
    message.serial = 1
    message.replySerial = .max
    let read = try BusMessage(parsing: message.encoded())
    #expect(read == message)
    #expect(read.error == .failed(name: "org.example.Error", message: "why"))

    var call = BusMessage(call: "M", of: nil, at: "/a/b_1", to: nil)
    call.serial = 3
    call.startsService = false
    #expect(try BusMessage(parsing: call.encoded()) == call)
  }

  /// The specification's marshaling, byte by byte, in both byte orders.
  @Test(arguments: [false, true]) func bytesOfTheSpecification(_ isBig: Bool) throws {
    func number(_ value: UInt32) -> [UInt8] {
      let bytes = (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
      return isBig ? bytes.reversed() : bytes
    }
    func padded(_ bytes: [UInt8]) -> [UInt8] {
      bytes + [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
    }
    func field(_ code: UInt8, _ type: Character, _ text: String) -> [UInt8] {
      [code, 1, type.asciiValue ?? 0, 0] + number(UInt32(text.utf8.count)) + text.utf8 + [0]
    }
    let header =
      padded(field(1, "o", "/a")) + padded(field(2, "s", "b.c")) + padded(field(3, "s", "D"))
      + [8, 1, 0x67, 0, 5] + Array("(ny)u".utf8) + [0]
    let body = (isBig ? [0xFF, 0xFE] : [0xFE, 0xFF]) + [7, 0] + number(0x0102_0304)
    let whole =
      padded(
        [isBig ? 0x42 : 0x6C, 4, 1, 1] + number(UInt32(body.count)) + number(9)
          + number(UInt32(header.count)) + header) + body
    let message = try BusMessage(parsing: whole)
    #expect(message.isSignal("D", of: "b.c"))
    #expect(message.path == "/a" && message.serial == 9)
    #expect(message.body == [.structure([.int16(-2), .byte(7)]), .uint32(0x0102_0304)])
  }

  /// No prefix is a message, and no changed byte ends the process.
  @Test func damagedMessages() throws {
    let bytes = try Self.message(Self.values.suffix(8).map { $0 }).encoded()
    for count in 0..<bytes.count {
      #expect(throws: BusError.self) { try BusMessage(parsing: Array(bytes.prefix(count))) }
    }
    var random = SplitMix64(seed: 11)
    for index in bytes.indices {
      for _ in 0..<8 {
        var changed = bytes
        changed[index] = UInt8.random(in: 0...255, using: &random)
        guard let message = try? BusMessage(parsing: changed) else { continue }
        do throws(BusError) {
          #expect(try BusMessage(parsing: message.encoded()).body.count == message.body.count)
        } catch {
          // A type that is only received, or the interface of a connection's own messages.
          #expect(isInvalid(error))
        }
      }
    }
  }

  static let refusedValues: [BusValue] = [
    .string("a\0b"), .objectPath(""), .objectPath("a"), .objectPath("/a/"), .objectPath("/a\0"),
    .signature("a"), .signature("{sv}"), .fileDescriptor, .array(element: "", []),
    .array(element: "ss", []), .array(element: "s", [.byte(1)]), .array(element: "{sv}", []),
    .structure([]), .dictionary(key: "v", value: "s", []),
    .dictionary(key: "s", value: "", []), .dictionary(key: "s", value: "s}a{ss", []),
    .dictionary(key: "s", value: "v", [BusValue.Entry(.byte(1), .variant(.byte(1)))]),
    .dictionary(key: "s", value: "v", [BusValue.Entry(.string(""), .byte(1))]),
    .variant(.structure([])), .structure([BusValue](repeating: .byte(1), count: 254)),
  ]

  @Test(arguments: refusedValues.indices) func refusedValue(_ index: Int) throws {
    let error = #expect(throws: BusError.self) {
      try Self.message(Self.refusedValues[index]).encoded()
    }
    #expect(isInvalid(error))
  }

  @Test(
    arguments: [
      { $0.path = "no/path" }, { $0.path = nil }, { $0.member = "a.b" }, { $0.member = nil },
      { $0.member = "" }, { $0.interface = "one" }, { $0.interface = "a.b\0" },
      { $0.destination = "org" }, { $0.destination = ".a.b" }, { $0.sender = "1" },
      { $0.errorName = "x" }, { $0.interface = "org.freedesktop.DBus.Local" },
      { $0.path = "/org/freedesktop/DBus/Local" }, { $0.kind = .reply }, { $0.kind = .error },
      { $0.serial = 0 }, { $0.member = String(repeating: "m", count: 256) },
    ] as [@Sendable (inout BusMessage) -> Void])
  func refusedHeader(_ change: @Sendable (inout BusMessage) -> Void) throws {
    var message = Self.message()
    change(&message)
    let error = #expect(throws: BusError.self) { try message.encoded() }
    #expect(isInvalid(error))
  }

  /// As deep as libdbus reads, and no deeper.
  @Test func depth() throws {
    func nested(_ depth: Int) -> BusValue {
      (0..<depth).reduce(.byte(1)) { value, _ in .variant(value) }
    }
    let message = Self.message(nested(64))
    #expect(try BusMessage(parsing: message.encoded()) == message)
    #expect(throws: BusError.self) { try Self.message(nested(65)).encoded() }
    let arrays = (0..<32).reduce(BusValue.strings([])) { value, _ in
      .array(element: value.typeSignature, [value])
    }
    #expect(throws: BusError.self) { try Self.message(arrays).encoded() }
  }

  /// A message whose values would take more memory than they may is refused, however short it is.
  @Test func manyValues() throws {
    let values = [BusValue](repeating: .variant(.byte(1)), count: 100_000)
    let bytes = try Self.message(.array(element: "v", values)).encoded()
    #expect(bytes.count < 500_000)
    #expect(try BusMessage(parsing: bytes, limit: 32 << 20).body[0].asArray?.count == 100_000)
    let error = #expect(throws: BusError.self) { try BusMessage(parsing: bytes, limit: 8 << 20) }
    #expect(isInvalid(error))
  }

  @Test func accessors() {
    let properties = BusValue.variant(.properties(["RSSI": .int16(-60), "Name": .string("x")]))
    #expect(properties.asProperties == ["RSSI": .int16(-60), "Name": .string("x")])
    #expect(properties.asProperties?["RSSI"]?.asInt == -60)
    #expect(BusValue.variant(.variant(.objectPath("/a"))).asString == "/a")
    #expect(BusValue.uint64(.max).asInt == nil)
    #expect(BusValue.uint64(5).asInt == 5)
    #expect(BusValue.string("5").asInt == nil)
    #expect(BusValue.strings(["a"]).asArray == [.string("a")])
    #expect(BusValue.bytes([1]).asBytes == [1])
    #expect(BusValue.dictionary(key: "q", value: "y", []).asProperties == [:])
    #expect(
      BusValue.dictionary(key: "q", value: "y", [BusValue.Entry(.uint16(1), .byte(2))])
        .asProperties == nil)
  }

  @Test func ruleText() {
    #expect(
      BusMatch(sender: "org.bluez", interface: "a.b", arg0: "it's").text
        == "type='signal',sender='org.bluez',interface='a.b',arg0='it'\\''s'")
    #expect(BusMatch(path: "/", member: "M").text == "type='signal',path='/',member='M'")
  }

  private static func message(_ body: BusValue...) -> BusMessage { message(body) }

  private static func message(_ body: [BusValue]) -> BusMessage {
    var message = BusMessage(
      call: "Member", of: "org.example.Interface", at: "/path", to: ":1.5", body: body)
    message.serial = 0x0102_0304
    return message
  }
}

/// Whether a message was refused before it was made.
func isInvalid(_ error: BusError?) -> Bool {
  if case .invalid = error { true } else { false }
}
