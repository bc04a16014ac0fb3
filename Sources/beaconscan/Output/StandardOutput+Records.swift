import Records

extension StandardOutput {
  /// Writes a record as a line of JSON.
  func writeLine<Value>(_ value: Value, _ record: RecordType<Value>) throws {
    try write { record.appendLine(value, to: &$0) }
  }

  /// Writes records as comma-separated values, below a header where nothing was written before.
  func writeRows<Value>(_ values: [Value], _ record: RecordType<Value>) throws {
    try writeHeader(record.csvHeader)
    for value in values { try writeRow(record.csvRow(value)) }
  }

  /// Writes the names of columns where nothing was written before.
  func writeHeader(_ names: [String]) throws {
    if !hasWritten { try write(names.joined(separator: ",") + "\n") }
  }

  /// Writes a row of comma-separated values.
  func writeRow(_ values: [FieldValue]) throws {
    try write { appendRow(values, to: &$0) }
  }

  /// Writes lines of text.
  func write(lines: [String]) throws {
    for line in lines { try write(line + "\n") }
  }
}
