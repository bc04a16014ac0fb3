/// A kind of output record. Its fields define its JSON, schema, CSV and table.
///
/// Scanning writes many lines, so keys are stored as bytes and fields append to the line directly.
package struct RecordType<Value>: Sendable {
  package let fields: [Field<Value>]
  /// The value of the first key, `type`, or `nil` if it is missing or a field.
  package let typeName: String?
  package let columns: [Column<Value>]

  private let name: String?
  private let summary: String?
  private let start: [UInt8]
  /// What a line needs of each field, since a copy of a whole field takes longer than its value.
  private let parts: [(prefix: [UInt8], value: Field<Value>.Reader)]
  private let csvColumns: [Field<Value>.CSVColumn]

  /// Creates a kind of record. In the schema it has the name of its type by default; without a
  /// name, it has no definition of its own. The summary is the schema's description.
  package init(
    _ typeName: String?, named name: String? = nil, summary: String? = nil,
    _ groups: [Field<Value>]...
  ) {
    fields = groups.flatMap { $0 }
    self.typeName = typeName
    self.name = name ?? typeName
    self.summary = summary
    parts = fields.map { ($0.prefix, $0.value) }
    csvColumns = fields.flatMap(\.csv)
    let columns = fields.compactMap(\.column)
    self.columns = columns.filter { !$0.isLate } + columns.filter(\.isLate)
    start = Array(("{" + (typeName.map { "\"type\":\"\($0)\"" } ?? "")).utf8)
  }

  package func omitting(keys: Set<String>) -> RecordType {
    RecordType(typeName, named: name, summary: summary, fields.filter { !keys.contains($0.key) })
  }
}

extension RecordType {
  package func appendLine(_ value: Value, to bytes: inout [UInt8]) {
    append(value, to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
  }

  package func json(_ value: Value) -> [UInt8] {
    var bytes: [UInt8] = []
    append(value, to: &bytes)
    return bytes
  }

  package func append(_ value: Value, to bytes: inout [UInt8]) {
    bytes += start
    var needsComma = start.count > 1
    for part in parts {
      let fieldValue = part.value(value)
      if case .absent = fieldValue { continue }
      if needsComma { bytes.append(UInt8(ascii: ",")) }
      needsComma = true
      bytes += part.prefix
      fieldValue.append(to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  package var schema: Schema {
    var keys = fields.map {
      (key: $0.key, node: $0.schema.node, isRequired: $0.presence == .always)
    }
    if let typeName { keys.insert(("type", ["const": .text(typeName)], true), at: 0) }
    var node: JSONNode = [:]
    if let summary { node["description"] = .text(summary) }
    node["type"] = "object"
    node["properties"] = .object(keys.map { .init(key: $0.key, value: $0.node) })
    node["required"] = .array(keys.filter(\.isRequired).map { .text($0.key) })
    let together = fields.compactMap { field -> JSONNode.Member? in
      guard case .together = field.presence else { return nil }
      let others = fields.filter { $0.presence == field.presence && $0.key != field.key }
      return .init(key: field.key, value: .array(others.map { .text($0.key) }))
    }
    if !together.isEmpty { node["dependentRequired"] = .object(together) }
    node["additionalProperties"] = false
    let schema = Schema(node, using: fields.flatMap(\.schema.definitions))
    return name.map { schema.named($0) } ?? schema
  }
}

// CSV (RFC 4180).
extension RecordType {
  package var csvHeader: [String] { csvColumns.map(\.name) }

  package func csvRow(_ value: Value) -> [FieldValue] { csvColumns.map { $0.value(value) } }
}

/// Appends a row of CSV. Control characters become `?`, since RFC 4180 does not allow them and a
/// row must be one line.
package func appendRow(_ values: [FieldValue], to bytes: inout [UInt8]) {
  for (index, value) in values.enumerated() {
    if index > 0 { bytes.append(UInt8(ascii: ",")) }
    guard var text = value.text else { continue }
    // Comparing bytes is ten times faster than comparing characters.
    guard value.mayNeedQuotes, text.utf8.contains(where: { !isPlain($0) }) else {
      bytes += text.utf8
      continue
    }
    text = text.withoutControls
    let isQuoted = text.utf8.contains { ",\"".utf8.contains($0) }
    if isQuoted { bytes.append(UInt8(ascii: "\"")) }
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") { bytes.append(byte) }
      bytes.append(byte)
    }
    if isQuoted { bytes.append(UInt8(ascii: "\"")) }
  }
  bytes.append(UInt8(ascii: "\n"))
}

/// Returns whether a byte needs neither quotes nor a replacement.
private func isPlain(_ byte: UInt8) -> Bool {
  (0x20..<0x7F).contains(byte) && !",\"".utf8.contains(byte)
}
