struct TOMLReader {
  typealias Problem = TOMLDocument.Problem
  private typealias Key = (name: String, range: Range<Int>)

  let root = TOMLTable(.header, range: 0..<0)
  private(set) var problems: [Problem] = []

  var cursor: TOMLCursor
  private var current: TOMLTable
  /// The number of headers and open inline tables; dotted keys extend only a table of the same
  /// part.
  private var part = 0

  private static let maximumProblems = 100
  private static let maximumDepth = 32

  init(_ bytes: [UInt8]) {
    cursor = TOMLCursor(bytes)
    current = root
  }

  mutating func read() {
    if cursor.bytes.count > TOMLDocument.maximumBytes {
      return problems.append(
        Problem(
          "the file has more than \(TOMLDocument.maximumBytes) bytes, which is the most", at: 0))
    }
    if let offset = cursor.invalidUTF8 {
      return problems.append(Problem("this is not UTF-8; save the file as UTF-8", at: offset))
    }
    cursor.skipByteOrderMark()
    while !cursor.isAtEnd, problems.count < Self.maximumProblems {
      do throws(Problem) {
        try readLine()
      } catch {
        problems.append(error)
        cursor.skipLine()
      }
    }
  }

  private mutating func readLine() throws(Problem) {
    cursor.skipSpace()
    switch cursor.next {
    case nil, "\n", "\r", "#": break
    case "[": try readHeader()
    default: try readPair(into: current)
    }
    try endLine()
  }

  private mutating func endLine() throws(Problem) {
    cursor.skipSpace()
    guard try cursor.skipLineEnd() else {
      throw cursor.problem("expected the end of the line")
    }
  }

  private mutating func readHeader() throws(Problem) {
    let start = cursor.offset
    cursor.advance()
    let isArray = cursor.skip("[")
    cursor.skipSpace()
    // Keys after a faulty header go to this table, which is not part of the document.
    current = TOMLTable(.header, range: start..<start)
    let keys = try readKey()
    cursor.skipSpace()
    guard cursor.skip("]"), !isArray || cursor.skip("]") else {
      throw cursor.problem("expected \(isArray ? "]]" : "]") after the table's name")
    }
    let range = start..<cursor.offset
    part += 1
    var table = root
    for key in keys.dropLast() { table = try step(to: key, in: table, range) }
    guard let key = keys.last else { return }
    let new = TOMLTable(.header, range: range)
    switch table[key.name]?.value {
    case nil:
      table.add(
        key.name, at: key.range,
        TOMLItem(value: isArray ? .tables([new]) : .table(new), range: range))
      current = new
    case .tables(let tables) where isArray:
      table.replace(key.name, with: .tables(tables + [new]))
      current = new
    case .table(let old) where !isArray && old.form == .implicit:
      old.form = .header
      old.range = range
      current = old
    default: throw twice(key)
    }
  }

  private func step(
    to key: Key, in table: TOMLTable, _ range: Range<Int>
  ) throws(Problem) -> TOMLTable {
    switch table[key.name]?.value {
    case nil:
      let new = TOMLTable(.implicit, range: range)
      table.add(key.name, at: key.range, TOMLItem(value: .table(new), range: range))
      return new
    case .table(let old) where old.form != .inline: return old
    case .tables(let tables):
      if let last = tables.last { return last }
      throw twice(key)
    default: throw twice(key)
    }
  }

  private func twice(_ key: Key) -> Problem {
    Problem("'\(key.name)' is there already; give it once", at: key.range.lowerBound)
  }

  private mutating func readPair(into table: TOMLTable, depth: Int = 0) throws(Problem) {
    let keys = try readKey()
    cursor.skipSpace()
    guard cursor.skip("=") else { throw cursor.problem("expected = after the key") }
    cursor.skipSpace()
    let item = try readValue(depth: depth)
    var table = table
    for key in keys.dropLast() {
      switch table[key.name]?.value {
      case nil:
        let new = TOMLTable(.dotted(part: part), range: key.range)
        table.add(key.name, at: key.range, TOMLItem(value: .table(new), range: key.range))
        table = new
      case .table(let old) where old.form == .implicit || old.form == .dotted(part: part):
        old.form = .dotted(part: part)
        table = old
      default: throw twice(key)
      }
    }
    guard let key = keys.last else { return }
    guard table[key.name] == nil else { throw twice(key) }
    table.add(key.name, at: key.range, item)
  }

  private mutating func readKey() throws(Problem) -> [Key] {
    var keys: [Key] = []
    repeat {
      cursor.skipSpace()
      let start = cursor.offset
      let name: String
      switch cursor.next {
      case let quote? where quote == "\"" || quote == "'": name = try cursor.readString(quote)
      default:
        name = cursor.readBareKey()
        if name.isEmpty {
          throw cursor.problem("expected a key of letters, digits, - and _, or a key in quotes")
        }
      }
      keys.append((name, start..<cursor.offset))
      guard keys.count <= Self.maximumDepth else {
        throw Problem("a key has at most \(Self.maximumDepth) parts", at: start)
      }
      cursor.skipSpace()
    } while cursor.skip(".")
    return keys
  }

  private mutating func readValue(depth: Int) throws(Problem) -> TOMLItem {
    let start = cursor.offset
    guard depth <= Self.maximumDepth else {
      throw Problem(
        "arrays and tables are at most \(Self.maximumDepth) deep in each other", at: start)
    }
    let value: TOMLItem.Value
    switch cursor.next {
    case let quote? where quote == "\"" || quote == "'":
      let hasLines = cursor.starts(with: quote == "'" ? "'''" : "\"\"\"")
      value = .string(try hasLines ? cursor.readMultilineString(quote) : cursor.readString(quote))
    case "[": value = .array(try readArray(depth: depth))
    case "{": value = .table(try readInlineTable(depth: depth))
    default: value = try cursor.readWord()
    }
    return TOMLItem(value: value, range: start..<cursor.offset)
  }

  private mutating func readArray(depth: Int) throws(Problem) -> [TOMLItem] {
    cursor.advance()
    var items: [TOMLItem] = []
    while true {
      try cursor.skipSpaceAndLines()
      if cursor.skip("]") { return items }
      items.append(try readValue(depth: depth + 1))
      try cursor.skipSpaceAndLines()
      if cursor.skip("]") { return items }
      guard cursor.skip(",") else { throw cursor.problem("expected a comma or ]") }
    }
  }

  private mutating func readInlineTable(depth: Int) throws(Problem) -> TOMLTable {
    let start = cursor.offset
    part += 1
    defer { part -= 1 }
    cursor.advance()
    let table = TOMLTable(.header, range: start..<start)
    cursor.skipSpace()
    var isOver = cursor.skip("}")
    while !isOver {
      try readPair(into: table, depth: depth + 1)
      cursor.skipSpace()
      isOver = cursor.skip("}")
      guard isOver || cursor.skip(",") else { throw cursor.problem("expected a comma or }") }
    }
    // From here on, nothing outside the braces can be added.
    table.form = .inline
    table.range = start..<cursor.offset
    return table
  }
}
