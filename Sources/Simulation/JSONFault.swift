/// The place where a text stops being JSON, which FoundationEssentials' decoder does not report.
struct JSONFault: CustomStringConvertible {
  var line = 1
  var column = 1
  var expected: String

  var description: String { "line \(line), column \(column): expected \(expected)" }

  /// The first fault of a text; `nil` where this simple reader finds none.
  static func first(in bytes: [UInt8]) -> JSONFault? {
    var reader = Reader(bytes: bytes)
    guard let expected = reader.fault() else { return nil }
    var fault = JSONFault(expected: expected)
    for byte in bytes[..<min(reader.next, bytes.count)] {
      if byte == UInt8(ascii: "\n") {
        fault.line += 1
        fault.column = 1
      } else if byte & 0xC0 != 0x80 {  // not the rest of a UTF-8 character
        fault.column += 1
      }
    }
    return fault
  }
}

/// Walks JSON without recursion: what is open stands on a stack.
private struct Reader {
  let bytes: [UInt8]
  var next = 0
  var closers: [UInt8] = []

  /// Reads to the first fault and says what should stand there.
  mutating func fault() -> String? {
    repeat {
      // A value, or in an object a key before it, or the end of what has just been opened.
      if let closer = closers.last, closer == UInt8(ascii: "}") {
        guard peek() == UInt8(ascii: "\"") else { return "a key in double quotes" }
        guard string() else { return "the end of the text in double quotes" }
        guard skip(":") else { return "a colon" }
      }
      var opened: UInt8?
      switch peek() {
      case UInt8(ascii: "{"): opened = open("}")
      case UInt8(ascii: "["): opened = open("]")
      case UInt8(ascii: "\""):
        guard string() else { return "the end of the text in double quotes" }
      default:
        guard word() else { return "a value" }
      }
      if let closer = opened, peek() != closer { continue }
      while let closer = closers.last, peek() == closer {
        next += 1
        closers.removeLast()
      }
      guard let closer = closers.last else { break }
      guard skip(",") else { return "a comma or \(Character(UnicodeScalar(closer)))" }
      if peek() == closer { return closer == UInt8(ascii: "}") ? "another key" : "another value" }
    } while true
    return peek() == nil ? nil : "nothing more"
  }

  private mutating func open(_ closer: Unicode.Scalar) -> UInt8 {
    next += 1
    closers.append(UInt8(ascii: closer))
    return UInt8(ascii: closer)
  }

  /// The next byte that is no space.
  private mutating func peek() -> UInt8? {
    while next < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[next]) { next += 1 }
    return next < bytes.count ? bytes[next] : nil
  }

  private mutating func skip(_ mark: Unicode.Scalar) -> Bool {
    guard peek() == UInt8(ascii: mark) else { return false }
    next += 1
    return true
  }

  private mutating func string() -> Bool {
    var index = next + 1
    while index < bytes.count, bytes[index] >= 0x20 {
      if bytes[index] == UInt8(ascii: "\"") {
        next = index + 1
        return true
      }
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    next = min(index, bytes.count)
    return false
  }

  /// A number, `true`, `false` or `null`.
  private mutating func word() -> Bool {
    let end = bytes[next...].firstIndex { !Self.isWord($0) } ?? bytes.count
    let text = String(decoding: bytes[next..<end], as: UTF8.self)
    guard ["true", "false", "null"].contains(text) || Double(text) != nil else { return false }
    next = end
    return true
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    let character = Character(UnicodeScalar(byte))
    return byte < 0x80 && (character.isLetter || character.isNumber || "+-.".contains(character))
  }
}
