/// The lines of a file, one after another, in bounded memory.
struct LineReader: ~Copyable {
  enum Line {
    /// A line without its end.
    case whole([UInt8])
    /// A line that is longer than any that was written.
    case tooLong
  }

  private var bytes = [UInt8](repeating: 0, count: 2 * JournalLine.longest)
  private var start = 0
  private var end = 0
  private var isAtEnd = false
  /// How many bytes of the file lie in whole lines that were given.
  private(set) var offset = 0

  /// The next line; `nil` where no further line ends.
  mutating func next(of file: borrowing OpenFile) throws(StoreError) -> Line? {
    var isTooLong = false
    var searched = start
    while true {
      if let line = bytes[searched..<end].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = line + 1 }
        offset += line + 1 - start
        return isTooLong ? .tooLong : .whole(Array(bytes[start..<line]))
      }
      if isAtEnd { return nil }
      if end - start >= JournalLine.longest {
        offset += end - start
        (start, end, isTooLong) = (0, 0, true)
      }
      searched = end - start
      try fill(from: file)
    }
  }

  private mutating func fill(from file: borrowing OpenFile) throws(StoreError) {
    if start > 0 {
      for index in start..<end { bytes[index - start] = bytes[index] }
      (start, end) = (0, end - start)
    }
    var room = [UInt8](repeating: 0, count: JournalLine.longest)
    let count = try file.read(at: offset + end, into: &room)
    isAtEnd = count == 0
    for index in 0..<min(count, bytes.count - end) { bytes[end + index] = room[index] }
    end += count
  }
}
