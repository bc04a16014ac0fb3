extension TOMLDocument {
  /// Returns the document with a key set to a value, given as TOML: in place of the old value, or
  /// after the table's other keys, or in a new table at the end.
  ///
  /// - Throws: `Problem` if the path leads to a value or to a table that cannot be extended there.
  package func setting(
    _ key: String, to value: String, in path: [String] = []
  ) throws(Problem) -> TOMLDocument {
    let line = "\(Self.key(key)) = \(value)"
    var table = root
    for name in path {
      guard let item = table[name] else {
        guard table.form != .inline else {
          throw Problem(
            "this table is written in braces; give it a header, as in [\(path[0])]",
            at: table.range.lowerBound)
        }
        return appending(path, line)
      }
      guard case .table(let next) = item.value else {
        throw Problem(
          "'\(name)' is not a table here; give it a header such as [\(name)]",
          at: item.range.lowerBound)
      }
      table = next
    }
    if table.form == .implicit, table[key] == nil { return appending(path, line) }
    return try setting(key, to: value, in: table)
  }

  /// Returns the document with a key of a table set to a value, given as TOML: in place of the old
  /// value, or after the table's other keys.
  ///
  /// - Throws: `Problem` if the table has no header and is not in braces.
  package func setting(
    _ key: String, to value: String, in table: TOMLTable
  ) throws(Problem) -> TOMLDocument {
    if let item = table[key] { return replacing(item.range, with: value) }
    let line = "\(Self.key(key)) = \(value)"
    switch table.form {
    case .inline:
      let end = Self.end(of: table)
      let place = end ?? table.range.lowerBound + 1
      return replacing(place..<place, with: end == nil ? " \(line) " : ", \(line)")
    case .implicit, .dotted:
      throw Problem(
        "this table is written by dotted keys; give it a header, such as [name]",
        at: table.range.lowerBound)
    case .header: return inserting(line, into: table)
    }
  }

  package static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  private static func key(_ key: String) -> String {
    let isBare = !key.isEmpty && key.unicodeScalars.allSatisfy(TOMLCursor.isBare)
    return isBare ? key : quoted(key)
  }

  /// Returns the document with texts in place of ranges of its bytes, which do not overlap.
  package func replacing(_ edits: [(range: Range<Int>, text: String)]) -> TOMLDocument {
    var edited: [UInt8] = []
    var place = 0
    for (range, text) in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      edited += bytes[place..<range.lowerBound] + text.utf8
      place = range.upperBound
    }
    return TOMLDocument(edited + bytes[place...])
  }

  private func replacing(_ range: Range<Int>, with text: String) -> TOMLDocument {
    replacing([(range, text)])
  }

  private func appending(_ path: [String], _ line: String) -> TOMLDocument {
    let header = "[\(path.map(Self.key).joined(separator: "."))]\n\(line)\n"
    let isEnded = bytes.isEmpty || bytes.last == UInt8(ascii: "\n")
    let before = isEnded ? (bytes.isEmpty ? "" : "\n") : "\n\n"
    return replacing(bytes.count..<bytes.count, with: before + header)
  }

  private func inserting(_ line: String, into table: TOMLTable) -> TOMLDocument {
    // The root has no header. Without keys of its own, its first key goes above all headers.
    if table === root, Self.end(of: table) == nil, let first = Self.firstHeader(in: table) {
      let place = startOfComments(above: first)
      return replacing(place..<place, with: "\(line)\n\n")
    }
    var place = max(Self.end(of: table) ?? 0, table.range.upperBound)
    while place < bytes.count, bytes[place] != UInt8(ascii: "\n") { place += 1 }
    guard place < bytes.count else {
      let isEnded = bytes.isEmpty || bytes.last == UInt8(ascii: "\n")
      return replacing(place..<place, with: (isEnded ? "" : "\n") + line + "\n")
    }
    return replacing(place + 1..<place + 1, with: line + "\n")
  }

  /// Returns the offset after the last value of a table, excluding tables with headers below it.
  private static func end(of table: TOMLTable) -> Int? {
    table.entries.compactMap { entry in
      switch entry.item.value {
      case .tables: nil
      case .table(let inner):
        switch inner.form {
        case .inline: entry.item.range.upperBound
        case .dotted: end(of: inner)
        case .header, .implicit: nil
        }
      default: entry.item.range.upperBound
      }
    }.max()
  }

  private static func firstHeader(in table: TOMLTable) -> Int? {
    table.entries.compactMap { entry in
      switch entry.item.value {
      case .tables(let tables): tables.first?.range.lowerBound
      case .table(let inner):
        switch inner.form {
        case .inline: nil
        case .dotted: firstHeader(in: inner)
        case .header, .implicit: min(inner.range.lowerBound, firstHeader(in: inner) ?? .max)
        }
      default: nil
      }
    }.min()
  }

  /// Returns the start of the comment above a line, or of the line if the comment is at the top.
  private func startOfComments(above offset: Int) -> Int {
    func start(_ offset: Int) -> Int {
      var start = offset
      while start > 0, bytes[start - 1] != UInt8(ascii: "\n") { start -= 1 }
      return start
    }
    let line = start(offset)
    var first = line
    while first > 0, bytes[start(first - 1)] == UInt8(ascii: "#") { first = start(first - 1) }
    return first == 0 ? line : first
  }
}
