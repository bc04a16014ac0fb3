import Bytes

/// Returns the place of the first JSON syntax error, which FoundationEssentials does not report.
func jsonFault(in bytes: [UInt8]) -> String? {
  do throws(ParseError) {
    // The array outlives the call.
    _ = unsafe try JSONValue(parsing: bytes.span.bytes)
    return nil
  } catch {
    // Only an escape is read without a look at what is left.
    let isCut = if case .truncated = error.reason { true } else { false }
    let expected = isCut ? "the end of the text in double quotes" : "\(error.reason)"
    var line = 1
    var column = 1
    for byte in bytes.prefix(error.offset) {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {  // not the rest of a UTF-8 character
        column += 1
      }
    }
    return "line \(line), column \(column): expected \(expected)"
  }
}
