/// A JSON value (RFC 8259). It uses at most about 50 bytes of memory per byte of text.
///
/// The reason of an error names what is expected at its offset.
package enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  /// A finite number; one that is too large for a `Double` is ``null``.
  case number(Double)
  case string(String)
  case array([JSONValue])
  /// An object, with the last value of each key.
  case object([String: JSONValue])

  private static let maximumDepth = 16

  /// Reads one value, which only white space may follow.
  package init(parsing bytes: RawSpan) throws(ParseError) {
    var cursor = ByteCursor(bytes)
    self = try .init(parsing: &cursor, depth: 0)
    Self.skipSpace(&cursor)
    guard cursor.remaining == 0 else {
      throw ParseError(.invalid("nothing more"), at: cursor.offset)
    }
  }

  private init(parsing cursor: inout ByteCursor, depth: Int) throws(ParseError) {
    Self.skipSpace(&cursor)
    let start = cursor.offset
    let next = Self.peek(cursor)
    guard depth < Self.maximumDepth || next != UInt8(ascii: "{") && next != UInt8(ascii: "[") else {
      throw ParseError(.invalid("at most 16 lists in one another"), at: start)
    }
    switch next {
    case UInt8(ascii: "{"):
      var values: [String: JSONValue] = [:]
      try Self.readList(&cursor, to: UInt8(ascii: "}")) { cursor throws(ParseError) in
        guard Self.peek(cursor) == UInt8(ascii: "\"") else {
          throw ParseError(.invalid("a key in double quotes"), at: cursor.offset)
        }
        let key = try Self.readString(&cursor)
        Self.skipSpace(&cursor)
        guard Self.skip(&cursor, UInt8(ascii: ":")) else {
          throw ParseError(.invalid("a colon"), at: cursor.offset)
        }
        values[key] = try JSONValue(parsing: &cursor, depth: depth + 1)
      }
      self = .object(values)
    case UInt8(ascii: "["):
      var values: [JSONValue] = []
      try Self.readList(&cursor, to: UInt8(ascii: "]")) { cursor throws(ParseError) in
        values.append(try JSONValue(parsing: &cursor, depth: depth + 1))
      }
      self = .array(values)
    case UInt8(ascii: "\""): self = .string(try Self.readString(&cursor))
    default: self = try Self.readWord(&cursor)
    }
  }

  private static func peek(_ cursor: borrowing ByteCursor) -> UInt8? {
    cursor.peek(1)?.littleEndian(UInt8.self, at: 0)
  }

  private static func skip(_ cursor: inout ByteCursor, _ byte: UInt8) -> Bool {
    peek(cursor) == byte && cursor.pass(1)
  }

  private static func skipSpace(_ cursor: inout ByteCursor) {
    while let byte = peek(cursor), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      _ = cursor.pass(1)
    }
  }

  /// Reads the elements of an array or an object, starting at its opening bracket.
  private static func readList(
    _ cursor: inout ByteCursor, to end: UInt8,
    _ element: (inout ByteCursor) throws(ParseError) -> Void
  ) throws(ParseError) {
    _ = cursor.pass(1)
    skipSpace(&cursor)
    if skip(&cursor, end) { return }
    repeat {
      skipSpace(&cursor)
      try element(&cursor)
      skipSpace(&cursor)
    } while skip(&cursor, UInt8(ascii: ","))
    guard skip(&cursor, end) else {
      let isObject = end == UInt8(ascii: "}")
      throw ParseError(.invalid(isObject ? "a comma or }" : "a comma or ]"), at: cursor.offset)
    }
  }

  /// Reads a string, starting at its quotation mark. Bytes that are not UTF-8 become replacement
  /// characters.
  private static func readString(_ cursor: inout ByteCursor) throws(ParseError) -> String {
    _ = cursor.pass(1)
    var text = ""
    while true {
      let plain = readText(&cursor) {
        $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
      }
      if skip(&cursor, UInt8(ascii: "\"")) { return text.isEmpty ? plain : text + plain }
      guard skip(&cursor, UInt8(ascii: "\\")) else {
        throw ParseError(.invalid("the end of the text in double quotes"), at: cursor.offset)
      }
      text += plain
      text += try readEscape(&cursor)
    }
  }

  /// Reads the bytes up to the first one that does not belong to the text.
  private static func readText(
    _ cursor: inout ByteCursor, limit: Int = .max, where belongs: (UInt8) -> Bool
  ) -> String {
    let rest = cursor.rest
    var count = 0
    while count < min(rest.byteCount, limit), belongs(rest.littleEndian(UInt8.self, at: count)) {
      count += 1
    }
    _ = cursor.pass(count)
    // The bytes are copied.
    return unsafe rest.part(unchecked: 0, count: count).withUnsafeBytes {
      unsafe String(decoding: $0, as: UTF8.self)
    }
  }

  private static func readEscape(_ cursor: inout ByteCursor) throws(ParseError) -> String {
    let start = cursor.offset
    switch try cursor.readUInt8() {
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      var units = [try readUnit(&cursor)]
      // If the second half of a surrogate pair does not follow, the first becomes U+FFFD.
      let isPair = cursor.peek(2)?.bigEndian(UInt16.self, at: 0) == 0x5C75  // \u
      if isPair, UTF16.isLeadSurrogate(units[0]) {
        _ = cursor.pass(2)
        units.append(try readUnit(&cursor))
      }
      return String(decoding: units, as: UTF16.self)
    case let byte where [UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/")].contains(byte):
      return String(UnicodeScalar(byte))
    default: throw ParseError(.invalid("an escape such as \\n"), at: start)
    }
  }

  private static func readUnit(_ cursor: inout ByteCursor) throws(ParseError) -> UInt16 {
    let start = cursor.offset
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Character(UnicodeScalar(try cursor.readUInt8())).hexDigitValue else {
        throw ParseError(.invalid("four hexadecimal digits"), at: start)
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  /// Reads a number, `true`, `false` or `null`. gpsd writes `nan` for an unknown number.
  private static func readWord(_ cursor: inout ByteCursor) throws(ParseError) -> JSONValue {
    let start = cursor.offset
    let text = readText(&cursor, limit: 64, where: isWordByte)
    switch text {
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "null", "nan", "-nan": return .null
    default:
      let isDecimal = text.utf8.first.map { (0x30...0x39).contains($0) || $0 == 0x2D } ?? false
      guard isDecimal, !text.utf8.contains(UInt8(ascii: "x")), let number = Double(text) else {
        throw ParseError(.invalid("a value"), at: start)
      }
      return number.isFinite ? .number(number) : .null
    }
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x61...0x7A: true
    case UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
  }

  /// A member of an object, or `nil` for any other value.
  package subscript(key: String) -> JSONValue? {
    if case .object(let values) = self { values[key] } else { nil }
  }

  package var asString: String? { if case .string(let text) = self { text } else { nil } }
  package var asDouble: Double? { if case .number(let number) = self { number } else { nil } }
  /// The number, if it is an integer that fits an `Int`.
  package var asInt: Int? { asDouble.flatMap { Int(exactly: $0) } }
  package var asBool: Bool? { if case .boolean(let value) = self { value } else { nil } }
  package var asArray: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
}
