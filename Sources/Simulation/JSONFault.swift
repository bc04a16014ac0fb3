import Bytes

/// The place of a syntax error in JSON, which FoundationEssentials' decoder does not report.
struct JSONFault: CustomStringConvertible {
  var line = 1
  var column = 1
  var expected: String

  var description: String { "line \(line), column \(column): expected \(expected)" }

  /// Returns the first syntax error, or `nil` if this package's own reader finds none.
  static func first(in bytes: [UInt8]) -> JSONFault? {
    do throws(ParseError) {
      // The array outlives the call.
      _ = unsafe try JSONValue(parsing: bytes.span.bytes)
      return nil
    } catch {
      var fault = JSONFault(expected: "\(error.reason)")
      // Only an escape is read without a look at what is left.
      if case .truncated = error.reason { fault.expected = "the end of the text in double quotes" }
      for byte in bytes.prefix(error.offset) {
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
}
