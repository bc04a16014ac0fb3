/// The lines of a stream, which come in parts. A line that is too long is left out and counted.
struct LineBuffer {
  private let maximumLength: Int
  private var part: [UInt8] = []
  private var isTooLong = false
  /// The number of lines that were left out.
  private(set) var droppedLines = 0

  init(maximumLength: Int) { self.maximumLength = maximumLength }

  /// Adds bytes, and returns the lines that they end, without their ends.
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
    if part.count + bytes.count > maximumLength {
      (part, isTooLong) = ([], true)
      droppedLines += 1
    } else {
      part += bytes
    }
  }
}
