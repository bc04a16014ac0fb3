import DequeModule

/// The lines of JSON that wait for a program, up to a limit. A live value replaces a waiting one of
/// its kind. At the limit, the oldest other line is dropped and counted. Lines that are kept until
/// the program has dealt with them go last: the service bounds their number, and stores the others.
struct EventLines<Token> {
  /// A line, with the token that is done when the program takes the next line.
  struct Entry {
    fileprivate let number: UInt64
    let line: [UInt8]
    let token: Token?
  }

  enum ValueKind: Hashable { case ranging, fix, heading }

  let limit: Int
  private var lines = Deque<Entry>()
  private var values: [ValueKind: Deque<Entry>] = [:]
  private var latest: UInt64 = 0
  /// The number of lines dropped since ``takeMissed()``.
  private var missed = 0

  init(limit: Int) { self.limit = limit }

  var isEmpty: Bool { lines.isEmpty && values.isEmpty && missed == 0 }

  /// Appends a line. Returns the token of a line that was dropped for it.
  mutating func append(_ line: [UInt8], _ token: Token? = nil) -> Token? {
    var dropped: Token?
    if lines.count >= limit {
      dropped = lines.remove(at: lines.firstIndex { $0.token == nil } ?? lines.startIndex).token
      missed += 1
    }
    latest += 1
    lines.append(Entry(number: latest, line: line, token: token))
    return dropped
  }

  mutating func replace(_ kind: ValueKind, with lines: [[UInt8]]) {
    let numbered = lines.map { line in
      latest += 1
      return Entry(number: latest, line: line, token: nil)
    }
    values[kind] = numbered.isEmpty ? nil : Deque(numbered)
  }

  mutating func takeMissed() -> Int? {
    defer { missed = 0 }
    return missed > 0 ? missed : nil
  }

  mutating func removeFirst() -> Entry? {
    let next = values.compactMap { kind, lines in lines.first.map { (kind, $0.number) } }
      .min { $0.1 < $1.1 }
    guard let (kind, number) = next, number < lines.first?.number ?? .max else {
      return lines.popFirst()
    }
    defer { if values[kind]?.isEmpty == true { values[kind] = nil } }
    return values[kind]?.popFirst()
  }

  mutating func removeAll() -> [Token] {
    defer { self = EventLines(limit: limit) }
    return lines.compactMap(\.token)
  }
}
