import DequeModule

/// The lines of JSON that wait for a program, at most so many.
///
/// A live value takes the place of the one of its kind before that still waits. Where there is no room, the oldest of the
/// other lines are dropped and counted; those that are kept until the program has dealt with them are the last to go, as
/// the service bounds their number and has the others wait in its store.
struct EventLines<Token> {
  /// A line, with what the program has dealt with when it takes the next one.
  struct Entry {
    var line: [UInt8]
    var token: Token?
  }

  /// The kinds of values, of which the latest one counts.
  enum ValueKind: Hashable { case ranging, fix, heading }

  private struct Numbered {
    var number: UInt64
    var entry: Entry
  }

  /// The number of lines that wait at most, without those of the latest values.
  let limit: Int
  private var lines = Deque<Numbered>()
  /// At least one line for each kind that waits.
  private var values: [ValueKind: Deque<Numbered>] = [:]
  private var latest: UInt64 = 0
  /// How many were dropped since ``takeMissed()``.
  private var missed = 0

  init(limit: Int) { self.limit = limit }

  var isEmpty: Bool { lines.isEmpty && values.isEmpty && missed == 0 }

  /// Appends a line, and returns what belonged to one that was dropped for it.
  mutating func append(_ line: [UInt8], _ token: Token? = nil) -> Token? {
    var dropped: Token?
    if lines.count >= limit {
      dropped =
        lines.remove(at: lines.firstIndex { $0.entry.token == nil } ?? lines.startIndex).entry.token
      missed += 1
    }
    latest += 1
    lines.append(Numbered(number: latest, entry: Entry(line: line, token: token)))
    return dropped
  }

  /// Puts the lines of a value in the place of those that wait of an earlier one of its kind.
  mutating func replace(_ kind: ValueKind, with lines: [[UInt8]]) {
    let numbered = lines.map { line in
      latest += 1
      return Numbered(number: latest, entry: Entry(line: line))
    }
    values[kind] = numbered.isEmpty ? nil : Deque(numbered)
  }

  /// Removes and returns how many lines were dropped; `nil` if none were.
  mutating func takeMissed() -> Int? {
    defer { missed = 0 }
    return missed > 0 ? missed : nil
  }

  /// Removes and returns the oldest line.
  mutating func removeFirst() -> Entry? {
    let next = values.compactMap { kind, lines in lines.first.map { (kind, $0.number) } }
      .min { $0.1 < $1.1 }
    guard let (kind, number) = next, number < lines.first?.number ?? .max else {
      return lines.popFirst()?.entry
    }
    defer { if values[kind]?.isEmpty == true { values[kind] = nil } }
    return values[kind]?.popFirst()?.entry
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
