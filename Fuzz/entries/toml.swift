// TOML documents, and changes to them. Input: a document.

import TOMLDocuments

func check(_ bytes: [UInt8]) {
  let document = TOMLDocument(bytes)
  for problem in document.problems {
    require((0...bytes.count).contains(problem.offset), "\(problem) is outside the document")
    require(!problem.message.isEmpty, "a problem without a message")
    let position = document.position(of: problem.offset)
    require(position.line >= 1 && position.column >= 1, "a position before the document")
  }
  guard document.problems.isEmpty else { return }
  let values = text(document.root)
  checkRanges(document.root, bytes)
  for path in [[], ["new"], ["a"], ["a", "new"]] {
    do throws(TOMLDocument.Problem) {
      let key = "a key that no input has"
      let changed = try document.setting(key, to: "[1, 'x']", in: path)
      require(changed.problems.isEmpty, "\(changed.problems) after a change at \(path)")
      var table: TOMLTable? = changed.root
      for name in path { table = table?.table(name) }
      require(table?[key].map { text($0.value) } == "[1 'x']", "a value that was set is not there")
      if path.isEmpty {
        let others = changed.root.entries.filter { $0.key != key }
        require(text(others) == values, "a change has changed something else")
      }
    } catch {
      require((0...bytes.count).contains(error.offset), "\(error) is outside the document")
    }
  }
}

/// Each value, read by itself, is the same.
private func checkRanges(_ table: TOMLTable, _ bytes: [UInt8]) {
  for entry in table.entries {
    let key = TOMLDocument(Array(bytes[entry.range] + " = 1".utf8))
    require(key.root.entries.map(\.key) == [entry.key], "a key stands elsewhere")
    switch entry.item.value {
    case .tables(let tables): for table in tables { checkRanges(table, bytes) }
    case .table(let table) where bytes[entry.item.range].first != UInt8(ascii: "{"):
      checkRanges(table, bytes)
    default:
      let alone = TOMLDocument(Array("v = ".utf8 + bytes[entry.item.range]))
      require(alone.problems.isEmpty, "\(alone.problems) in a value by itself")
      require(
        alone.root["v"].map { text($0.value) } == text(entry.item.value), "a value stands elsewhere"
      )
    }
  }
}

private func text(_ value: TOMLItem.Value) -> String {
  switch value {
  case .string(let text): "'\(text)'"
  case .integer(let number): "\(number)"
  case .float(let number): "\(number)"
  case .boolean(let isTrue): "\(isTrue)"
  case .time(let text): text
  case .array(let items): "[" + items.map { text($0.value) }.joined(separator: " ") + "]"
  case .table(let table): text(table)
  case .tables(let tables): "[" + tables.map { text($0) }.joined(separator: " ") + "]"
  }
}

private func text(_ table: TOMLTable) -> String { text(table.entries) }

private func text(_ entries: [TOMLTable.Entry]) -> String {
  "{" + entries.map { "\($0.key)=\(text($0.item.value))" }.joined(separator: " ") + "}"
}
