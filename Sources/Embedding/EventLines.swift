import DequeModule

/// The lines of JSON that wait for a program, at most so many.
///
/// A live ranging report takes the place of the one before that still waits. Where there is no room, the oldest of the
/// other lines are dropped and counted.
struct EventLines<Token> {
  /// A line, with what the program has dealt with when it takes the next one.
  struct Entry {
    var line: [UInt8]
    var token: Token?
  }

  private struct Numbered {
    var number: UInt64
    var entry: Entry
  }

  /// The number of lines that wait at most, without those of the latest ranging report.
  let limit: Int
  private var lines = Deque<Numbered>()
  private var ranging: [Numbered] = []
  private var latest: UInt64 = 0
  /// How many were dropped since ``takeMissed()``.
  private var missed = 0

  init(limit: Int) { self.limit = limit }

  var isEmpty: Bool { lines.isEmpty && ranging.isEmpty && missed == 0 }

  /// Appends a line, and returns what belonged to one that was dropped for it.
  mutating func append(_ line: [UInt8], _ token: Token? = nil) -> Token? {
    var dropped: Token?
    if lines.count >= limit {
      dropped = lines.popFirst()?.entry.token
      missed += 1
    }
    latest += 1
    lines.append(Numbered(number: latest, entry: Entry(line: line, token: token)))
    return dropped
  }

  /// Puts the lines of a ranging report in the place of those that wait of an earlier one.
  mutating func replaceRanging(with report: [[UInt8]]) {
    ranging = report.map { line in
      latest += 1
      return Numbered(number: latest, entry: Entry(line: line))
    }
  }

  /// Removes and returns how many lines were dropped; `nil` if none were.
  mutating func takeMissed() -> Int? {
    defer { missed = 0 }
    return missed > 0 ? missed : nil
  }

  /// Removes and returns the oldest line.
  mutating func removeFirst() -> Entry? {
    guard let report = ranging.first, report.number < lines.first?.number ?? .max else {
      return lines.popFirst()?.entry
    }
    ranging.removeFirst()
    return report.entry
  }

  /// Removes every line, and returns what belonged to them.
  mutating func removeAll() -> [Token] {
    var tokens: [Token] = []
    while let entry = removeFirst() {
      if let token = entry.token { tokens.append(token) }
    }
    missed = 0
    return tokens
  }
}
