import Records

extension StandardOutput {
  func writeLine<Value>(_ value: Value, _ record: RecordType<Value>) throws {
    try write { record.appendLine(value, to: &$0) }
  }

  func writeLine<Value>(
    _ value: Value, _ record: RecordType<Value>, _ format: OutputFormat
  ) throws {
    try writeHeader(record, format)
    switch format {
    case .json: try writeLine(value, record)
    case .csv: try writeRow(record.csvRow(value))
    case .table: try write(table(record.columns).line(value) + "\n")
    }
  }

  func writeHeader<Value>(_ record: RecordType<Value>, _ format: OutputFormat) throws {
    switch format {
    case .json: break
    case .csv: try writeHeader(record.csvHeader)
    case .table: try writeHeader(table(record.columns))
    }
  }

  func table<Row>(_ columns: [Column<Row>]) -> Table<Row> {
    Table(columns, zone, width: width, hasColor: hasColor)
  }

  /// Writes the header of a table that is written line by line, at the start and when the
  /// terminal's width has changed it.
  func writeHeader<Row>(_ table: Table<Row>) throws {
    guard !hasWritten || isTerminal else { return }
    let header = table.header
    guard header != self.header else { return }
    self.header = header
    try write(header + "\n")
  }

  func write<Value>(_ values: [Value], _ record: RecordType<Value>, _ format: OutputFormat) throws {
    if format == .table { return try write(lines: table(record.columns).lines(values)) }
    try writeHeader(record, format)
    for value in values { try writeLine(value, record, format) }
  }

  func writeHeader(_ names: [String]) throws {
    if !hasWritten { try write(names.joined(separator: ",") + "\n") }
  }

  func writeRow(_ values: [FieldValue]) throws {
    try write { appendRow(values, to: &$0) }
  }

  /// Writes a sentence after a prefix. On a terminal its lines are wrapped and indented.
  func write(sentence: String, after start: String = "", indent: Int = 2) throws {
    var lines = [sentence]
    if let width, (start.isEmpty ? 0 : indent) + sentence.columns > width {
      lines = sentence.wrapped(to: max(20, width - indent), cutsWords: false)
    }
    try write(start + lines.joined(separator: "\n" + String(repeating: " ", count: indent)) + "\n")
  }

  func write(lines: [String]) throws {
    for line in lines { try write(line + "\n") }
  }
}
