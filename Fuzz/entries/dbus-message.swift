// Messages that programs on a D-Bus bus send. Input: one message, or the length of a signature below 64, the
// signature and a body, which are made a message, so that a change of them is not a wrong length.

import DBusMessages

func check(_ input: [UInt8]) {
  let bytes = input.first.map { $0 < 64 } ?? false ? wrapped(input) : input
  guard let message = try? BusMessage(parsing: bytes) else { return }
  var reader = PlainBusReader(bytes)
  let plain = reader.message()
  // Not by ==, for which a number that is none is not itself.
  require("\(message.body)" == "\(plain.body)", "other values: \(message.body), \(plain.body)")
  let fields = [
    1: message.path, 2: message.interface, 3: message.member, 4: message.errorName,
    6: message.destination, 7: message.sender,
  ]
  for (code, text) in fields {
    require(text == plain.fields[UInt8(code)]?.asString, "another field \(code)")
  }
  require(message.serial == plain.serial, "another serial")
  require(Int(message.replySerial) == plain.fields[5]?.asInt ?? 0, "another reply serial")
  require(
    (try? BusMessage(parsing: Array(bytes.prefix(reader.next - 1)))) == nil, "a prefix is read")
  if !message.body.isEmpty {
    require((try? BusMessage(parsing: bytes, limit: 64)) == nil, "values without memory")
  }

  // It is sent as it was received, but for what only the bus sends.
  do {
    let sent = try message.encoded()
    let again = try BusMessage(parsing: sent)
    require("\(again)" == "\(message)", "sent as another: \(again), \(message)")
    require(try again.encoded() == sent, "sent otherwise the second time")
  } catch {
    let isLocal =
      message.path == "/org/freedesktop/DBus/Local"
      || message.interface == "org.freedesktop.DBus.Local"
    let hasDescriptor = "\(message.body)".contains("fileDescriptor")
    require(isLocal || hasDescriptor, "not sent: \(error)")
  }

  var objects = ManagedObjects(maximumBytes: 4096)
  objects.reset(message.body)
  _ = objects.apply(message)
  let interfaces = objects.objects.values.reduce(0) { $0 + $1.count }
  require(interfaces <= 8, "\(interfaces) interfaces in 4 KiB")
  objects.reset([])
  require(objects.objects.isEmpty, "not all objects were removed")
}

/// Returns a signature and a body as a method call.
private func wrapped(_ input: [UInt8]) -> [UInt8] {
  var feed = Feed(input)
  let signature = feed.bytes(Int(feed.byte()))
  let body = feed.rest()
  func number(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
  func padded(_ bytes: [UInt8]) -> [UInt8] {
    bytes + [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
  }
  let fields =
    padded([1, 1, UInt8(ascii: "o"), 0] + number(1) + [UInt8(ascii: "/"), 0])
    + padded([3, 1, UInt8(ascii: "s"), 0] + number(1) + [UInt8(ascii: "M"), 0])
    + [8, 1, UInt8(ascii: "g"), 0, UInt8(signature.count)] + signature + [0]
  let head = [UInt8(ascii: "l"), 1, 0, 1] + number(body.count) + number(1) + number(fields.count)
  return padded(head + fields) + body
}

/// Reads a message that was found to be valid, the plainest way, as D-Bus's specification has it.
struct PlainBusReader {
  /// The first byte that was not read.
  private(set) var next = 0
  private let bytes: [UInt8]
  private let isBig: Bool

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    isBig = bytes[0] == UInt8(ascii: "B")
  }

  mutating func message() -> (serial: UInt32, fields: [UInt8: BusValue], body: [BusValue]) {
    next = 4
    _ = number(4)
    let serial = UInt32(number(4))
    var fields: [UInt8: BusValue] = [:]
    for field in value(of: "a(yv)").asArray ?? [] {
      guard let parts = field.asArray, case .byte(let code) = parts[0] else { continue }
      fields[code] = parts[1].unwrapped
    }
    align(8)
    var types = Substring(fields[8]?.asString ?? "")
    var body: [BusValue] = []
    while !types.isEmpty { body.append(value(of: first(of: &types))) }
    return (serial, fields, body)
  }

  private mutating func align(_ size: Int) { next = (next + size - 1) / size * size }

  private mutating func number(_ size: Int) -> UInt64 {
    align(size)
    defer { next += size }
    let part = bytes[next..<next + size]
    return (isBig ? Array(part) : part.reversed()).reduce(0) { $0 << 8 | UInt64($1) }
  }

  private mutating func text(_ count: Int) -> String {
    defer { next += count + 1 }
    return String(decoding: bytes[next..<next + count], as: UTF8.self)
  }

  private mutating func value(of type: String) -> BusValue {
    var inner = type.dropFirst()
    switch type.first {
    case "y": return .byte(UInt8(number(1)))
    case "b": return .boolean(number(4) != 0)
    case "n": return .int16(Int16(bitPattern: UInt16(number(2))))
    case "q": return .uint16(UInt16(number(2)))
    case "i": return .int32(Int32(bitPattern: UInt32(number(4))))
    case "u": return .uint32(UInt32(number(4)))
    case "x": return .int64(Int64(bitPattern: number(8)))
    case "t": return .uint64(number(8))
    case "d": return .double(Double(bitPattern: number(8)))
    case "s": return .string(text(Int(number(4))))
    case "o": return .objectPath(text(Int(number(4))))
    case "g": return .signature(text(Int(number(1))))
    case "h":
      _ = number(4)
      return .fileDescriptor
    case "v":
      let type = text(Int(number(1)))
      return .variant(value(of: type))
    case "(":
      align(8)
      var values: [BusValue] = []
      while inner != ")" { values.append(value(of: first(of: &inner))) }
      return .structure(values)
    default: return array(of: inner)
    }
  }

  private mutating func array(of element: Substring) -> BusValue {
    let count = Int(number(4))
    switch element.first {
    case "x", "t", "d", "(", "{": align(8)
    case "i", "u", "b", "s", "o", "a", "h": align(4)
    case "n", "q": align(2)
    default: break
    }
    let end = next + count
    if element == "y" {
      defer { next = end }
      return .bytes(Array(bytes[next..<end]))
    }
    if element.first == "{" {
      let key = String(element.dropFirst().prefix(1))
      let type = String(element.dropFirst(2).dropLast())
      var entries: [BusValue.Entry] = []
      while next < end {
        align(8)
        entries.append(BusValue.Entry(value(of: key), value(of: type)))
      }
      return .dictionary(key: key, value: type, entries)
    }
    var values: [BusValue] = []
    while next < end { values.append(value(of: String(element))) }
    return .array(element: String(element), values)
  }

  /// Takes the first complete type off a signature.
  private func first(of types: inout Substring) -> String {
    let start = types
    var depth = 0
    var isArray = true
    while isArray || depth > 0 {
      let type = types.removeFirst()
      if type == "(" || type == "{" { depth += 1 }
      if type == ")" || type == "}" { depth -= 1 }
      isArray = type == "a" && depth == 0
    }
    return String(start.prefix(upTo: types.startIndex))
  }
}
