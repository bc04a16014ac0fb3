struct TOMLCursor {
  typealias Problem = TOMLDocument.Problem

  let bytes: [UInt8]
  private(set) var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { offset >= bytes.count }

  /// The next byte as a character, or `nil` at the end. Correct for ASCII only.
  var next: Unicode.Scalar? { isAtEnd ? nil : Unicode.Scalar(bytes[offset]) }

  func starts(with text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - offset >= count else { return false }
    return "\(text)".utf8.elementsEqual(bytes[offset..<offset + count])
  }

  func problem(_ message: String) -> Problem { Problem(message, at: offset) }

  mutating func advance(_ count: Int = 1) { offset = min(offset + count, bytes.count) }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard next == character else { return false }
    offset += 1
    return true
  }

  mutating func skipSpace() {
    while next == " " || next == "\t" { offset += 1 }
  }

  mutating func skipByteOrderMark() {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
  }

  mutating func skipLine() {
    while let character = next {
      offset += 1
      if character == "\n" { return }
    }
  }

  /// Skips a comment and the end of the line. Returns `false` if something else follows.
  mutating func skipLineEnd() throws(Problem) -> Bool {
    if next == "#" {
      while let character = next, character != "\n", !starts(with: "\r\n") {
        try check(character)
        offset += 1
      }
    }
    if starts(with: "\r\n") { offset += 1 }
    return isAtEnd || skip("\n")
  }

  mutating func skipSpaceAndLines() throws(Problem) {
    skipSpace()
    while next == "#" || next == "\n" || starts(with: "\r\n") {
      guard try skipLineEnd(), !isAtEnd else { return }
      skipSpace()
    }
  }

  /// The offset of the first byte that is not UTF-8.
  var invalidUTF8: Int? {
    do throws(UTF8.ValidationError) {
      _ = try UTF8Span(validating: bytes.span)
      return nil
    } catch {
      return error.byteOffsets.lowerBound
    }
  }

  mutating func readBareKey() -> String {
    let start = offset
    while let character = next, Self.isBare(character) { offset += 1 }
    return text(from: start)
  }

  /// Reads a string, in which a quotation mark `"` makes backslashes begin escapes.
  mutating func readString(_ quote: Unicode.Scalar) throws(Problem) -> String {
    let start = offset
    offset += 1
    var content: [UInt8] = []
    while let character = next, character != "\n", character != "\r" {
      if skip(quote) { return String(decoding: content, as: UTF8.self) }
      if character == "\\", quote == "\"" {
        try readEscape(into: &content)
      } else {
        try readCharacter(into: &content)
      }
    }
    throw open(start, "\(quote)")
  }

  mutating func readMultilineString(_ quote: Unicode.Scalar) throws(Problem) -> String {
    let start = offset
    var content: [UInt8] = []
    offset += 3
    if starts(with: "\r\n") { offset += 2 } else { _ = skip("\n") }
    while let character = next {
      if character == quote {
        if let text = endLines(quote, &content) { return text }
      } else if character == "\\", quote == "\"" {
        if !skipContinuation() { try readEscape(into: &content) }
      } else {
        if starts(with: "\r\n") { offset += 1 }
        if skip("\n") {
          content.append(UInt8(ascii: "\n"))
        } else {
          try readCharacter(into: &content)
        }
      }
    }
    throw open(start, "\(quote)\(quote)\(quote)")
  }

  private func open(_ start: Int, _ quotes: String) -> Problem {
    Problem("the text that begins here has no end; close it with \(quotes)", at: start)
  }

  /// Reads up to five quotes, and returns the string if they close it.
  private mutating func endLines(_ quote: Unicode.Scalar, _ content: inout [UInt8]) -> String? {
    var count = 0
    // Up to two quotes of the content may precede the closing three.
    while count < 5, skip(quote) { count += 1 }
    let inside = count < 3 ? count : count - 3
    content += Array(repeating: UInt8(ascii: quote), count: inside)
    return count < 3 ? nil : String(decoding: content, as: UTF8.self)
  }

  private mutating func readCharacter(into content: inout [UInt8]) throws(Problem) {
    guard let character = next else { return }
    try check(character)
    content.append(bytes[offset])
    offset += 1
  }

  private func check(_ character: Unicode.Scalar) throws(Problem) {
    guard character.value >= 0x20 && character.value != 0x7F || character == "\t" else {
      throw problem(
        "a control character cannot stand here; in double quotes it is written as an escape such as \\n"
      )
    }
  }

  /// Skips a backslash and all white space after it if the backslash ends its line.
  private mutating func skipContinuation() -> Bool {
    let start = offset
    offset += 1
    skipSpace()
    guard next == "\n" || starts(with: "\r\n") else {
      offset = start
      return false
    }
    while next == " " || next == "\t" || next == "\n" || starts(with: "\r\n") { offset += 1 }
    return true
  }

  private mutating func readEscape(into content: inout [UInt8]) throws(Problem) {
    let start = offset
    offset += 1
    let escapes: [Unicode.Scalar: Unicode.Scalar] = [
      "b": "\u{8}", "t": "\t", "n": "\n", "f": "\u{C}", "r": "\r", "\"": "\"", "\\": "\\",
    ]
    guard let character = next else { throw Problem("expected a character after \\", at: start) }
    offset += 1
    if let plain = escapes[character] {
      content.append(UInt8(ascii: plain))
      return
    }
    let count = character == "u" ? 4 : character == "U" ? 8 : 0
    let digits = bytes[offset..<min(offset + count, bytes.count)]
    guard count > 0, digits.count == count, digits.allSatisfy({ Self.digitValue($0) < 16 }),
      let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
      let scalar = Unicode.Scalar(value)
    else {
      throw Problem(
        "this is not an escape; valid are \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX and \\UXXXXXXXX, and 'text' in "
          + "single quotes needs none", at: start)
    }
    offset += count
    content += String(Character(scalar)).utf8
  }

  mutating func readWord() throws(Problem) -> TOMLItem.Value {
    let start = offset
    skipWord()
    // A space may separate a date from a time of day.
    if TOMLTime.isDay(text(from: start)), next == " ", bytes.count > offset + 3,
      bytes[offset + 3] == UInt8(ascii: ":")
    {
      offset += 1
      skipWord()
    }
    let word = text(from: start)
    guard !word.isEmpty else { throw Problem("expected a value: \(Self.valid)", at: start) }
    if word == "true" || word == "false" { return .boolean(word == "true") }
    if TOMLTime.isValid(word) { return .time(word) }
    if let integer = Self.integer(word) {
      guard let integer else {
        throw Problem("the number \(word) is too large; the largest is \(Int.max)", at: start)
      }
      return .integer(integer)
    }
    if let float = Self.float(word) { return .float(float) }
    throw Problem("\(word) is not a value; valid is \(Self.valid)", at: start)
  }

  private mutating func skipWord() {
    while let character = next, Self.isBare(character) || "+.:".unicodeScalars.contains(character) {
      offset += 1
    }
  }

  private static let valid =
    "\"text\" in quotes, a number, true, false, a date, an array or a table"

  /// Reads an integer. The outer value is `nil` if the word is not one, the inner if it overflows.
  private static func integer(_ word: String) -> Int?? {
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where word.hasPrefix(prefix) {
      return digits(word.dropFirst(2), radix: radix).map { Int($0, radix: radix) }
    }
    let unsigned = word.first == "+" || word.first == "-" ? word.dropFirst() : word[...]
    guard let plain = digits(unsigned), plain == "0" || !plain.hasPrefix("0") else { return nil }
    return .some(Int((word.hasPrefix("-") ? "-" : "") + plain))
  }

  private static func float(_ word: String) -> Double? {
    let isNegative = word.hasPrefix("-")
    let unsigned = isNegative || word.hasPrefix("+") ? word.dropFirst() : word[...]
    if unsigned == "inf" { return isNegative ? -.infinity : .infinity }
    if unsigned == "nan" { return .nan }
    let parts = unsigned.split(
      maxSplits: 1, omittingEmptySubsequences: false, whereSeparator: { $0 == "e" || $0 == "E" })
    if parts.count == 2 {
      let exponent =
        parts[1].first == "+" || parts[1].first == "-" ? parts[1].dropFirst() : parts[1]
      guard digits(exponent) != nil else { return nil }
    }
    let sides = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    guard sides.count <= 2, sides.count + parts.count > 2,
      sides.allSatisfy({ digits($0) != nil }),
      sides[0].count == 1 || !sides[0].hasPrefix("0")
    else { return nil }
    return Double(word.filter { $0 != "_" })
  }

  /// Returns digits without underscores, or `nil` if there is anything else, or an underscore is
  /// not between two digits.
  private static func digits(_ text: Substring, radix: Int = 10) -> String? {
    let plain = text.filter { $0 != "_" }
    guard !plain.isEmpty, text.first != "_", text.last != "_", !text.contains("__"),
      plain.utf8.allSatisfy({ digitValue($0) < radix })
    else { return nil }
    return plain
  }

  private static func digitValue(_ byte: UInt8) -> Int {
    Character(Unicode.Scalar(byte)).hexDigitValue ?? .max
  }

  static func isBare(_ character: Unicode.Scalar) -> Bool {
    switch character {
    case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
    default: false
    }
  }

  private func text(from start: Int) -> String {
    String(decoding: bytes[start..<offset], as: UTF8.self)
  }
}

/// Dates and times of day as in RFC 3339, with or without an offset; either part may be absent.
enum TOMLTime {
  static func isDay(_ word: String) -> Bool { numbers(word, "dddd-dd-dd") != nil }

  static func isValid(_ word: String) -> Bool {
    guard word.utf8.count > 10, word.utf8.dropFirst(4).first == UInt8(ascii: "-") else {
      return isValidDay(word) || isValidClock(word)
    }
    let separator = word.dropFirst(10).first
    guard let separator, "Tt ".contains(separator), isValidDay(String(word.prefix(10))) else {
      return false
    }
    var clock = String(word.dropFirst(11))
    if clock.hasSuffix("Z") || clock.hasSuffix("z") {
      clock.removeLast()
    } else if let sign = clock.utf8.lastIndex(where: {
      $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
    }) {
      guard let offset = numbers(String(clock[clock.utf8.index(after: sign)...]), "dd:dd"),
        offset[0] < 24, offset[1] < 60
      else { return false }
      clock = String(clock[..<sign])
    }
    return isValidClock(clock)
  }

  private static func isValidDay(_ word: String) -> Bool {
    guard let parts = numbers(word, "dddd-dd-dd"), (1...12).contains(parts[1]) else { return false }
    let isLeap = parts[0] % 4 == 0 && (parts[0] % 100 != 0 || parts[0] % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...days[parts[1] - 1]).contains(parts[2])
  }

  private static func isValidClock(_ word: String) -> Bool {
    guard let parts = numbers(String(word.prefix(8)), "dd:dd:dd"), parts[0] < 24, parts[1] < 60,
      parts[2] <= 60
    else { return false }
    let fraction = word.dropFirst(8)
    return fraction.isEmpty
      || fraction.hasPrefix(".") && fraction.count > 1
        && fraction.utf8.dropFirst().allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }

  /// Returns the numbers in a text, or `nil` if it does not match a shape in which d is a digit.
  private static func numbers(_ text: String, _ shape: String) -> [Int]? {
    guard text.utf8.count == shape.utf8.count else { return nil }
    var numbers = [0]
    for (byte, form) in zip(text.utf8, shape.utf8) {
      if form != UInt8(ascii: "d") {
        guard byte == form else { return nil }
        numbers.append(0)
      } else {
        guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
        numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(byte - UInt8(ascii: "0"))
      }
    }
    return numbers
  }
}
