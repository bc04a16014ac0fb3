/// The place of a syntax error in JSON, which FoundationEssentials' decoder does not report.
struct JSONFault: CustomStringConvertible {
  var line = 1
  var column = 1
  var expected: String

  var description: String { "line \(line), column \(column): expected \(expected)" }

  /// Returns the first syntax error, or `nil` if this simple reader finds none.
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

/// A JSON reader without recursion. A stack holds the closing brackets of open arrays and objects.
private struct Reader {
  let bytes: [UInt8]
  var next = 0
  var closers: [Unicode.Scalar] = []

  /// Reads up to the first syntax error, and returns the token expected there.
  mutating func fault() -> String? {
    repeat {
      // A value, in an object preceded by its key; or the end of an empty array or object.
      if closers.last == "}" {
        guard peek() == "\"" else { return "a key in double quotes" }
        guard string() else { return "the end of the text in double quotes" }
        guard skip(":") else { return "a colon" }
      }
      let opened: Unicode.Scalar? = skip("{") ? "}" : skip("[") ? "]" : nil
      if let opened {
        closers.append(opened)
        if peek() != opened { continue }
      } else if peek() == "\"" {
        guard string() else { return "the end of the text in double quotes" }
      } else {
        guard word() else { return "a value" }
      }
      while let closer = closers.last, skip(closer) { closers.removeLast() }
      guard let closer = closers.last else { break }
      guard skip(",") else { return "a comma or \(closer)" }
      if peek() == closer { return closer == "}" ? "another key" : "another value" }
    } while true
    return peek() == nil ? nil : "nothing more"
  }

  private mutating func peek() -> Unicode.Scalar? {
    while next < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[next]) { next += 1 }
    return next < bytes.count ? Unicode.Scalar(bytes[next]) : nil
  }

  private mutating func skip(_ mark: Unicode.Scalar) -> Bool {
    guard peek() == mark else { return false }
    next += 1
    return true
  }

  private mutating func string() -> Bool {
    var index = next + 1
    while index < bytes.count, bytes[index] >= 0x20, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    let isClosed = index < bytes.count && bytes[index] == UInt8(ascii: "\"")
    next = min(isClosed ? index + 1 : index, bytes.count)
    return isClosed
  }

  private mutating func word() -> Bool {
    let end = bytes[next...].firstIndex { !Self.isWord(Character(Unicode.Scalar($0))) }
    let text = String(decoding: bytes[next..<(end ?? bytes.count)], as: UTF8.self)
    guard ["true", "false", "null"].contains(text) || Double(text) != nil else { return false }
    next = end ?? bytes.count
    return true
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber) || "+-.".contains(character)
  }
}
