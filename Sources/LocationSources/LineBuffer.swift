/// A buffer that splits a stream of gpsd's into lines. It drops and counts lines that are too long.
struct LineBuffer {
  private var part: [UInt8] = []
  private var isTooLong = false
  private(set) var droppedLines = 0

  /// Appends bytes, and returns the lines that they complete, without line ends.
  mutating func append(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var rest = bytes
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      add(rest[..<end])
      if !isTooLong, !part.isEmpty { lines.append(part) }
      (part, isTooLong) = ([], false)
      rest = rest[(end + 1)...]
    }
    add(rest)
    return lines
  }

  private mutating func add(_ bytes: ArraySlice<UInt8>) {
    guard !isTooLong else { return }
    if part.count + bytes.count > GPSDMessage.maximumLength {
      (part, isTooLong) = ([], true)
      droppedLines += 1
    } else {
      part += bytes
    }
  }
}
