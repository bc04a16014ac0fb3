/// A kind of output record, described once: its JSON, its schema, its comma-separated values and its
/// table all come from its fields.
///
/// ```swift
/// let record = RecordType<Sighting>("sighting", [
///   Field("measuredPower", .power, column: Column("POWER", .right)) { $0.measuredPower },
///   Field("rssi", .rssi, column: Column(nil, .right)) { $0.rssi },
/// ])
/// record.appendLine(sighting, to: &bytes)
/// ```
///
/// The lines of a scan are a hot path: keys are bytes already, and nothing stands between a field and
/// the line.
package struct RecordType<Value>: Sendable {
  /// The key `type`, which comes first.
  package enum TypeKey: Sendable {
    /// The record's name.
    case name
    case constant(String)
    case one([String], @Sendable (Value) -> String)
    case none
  }

  /// The fields, in the order of their keys.
  package let fields: [Field<Value>]
  /// The value of the key `type`, where every record has the same.
  package let typeName: String?
  private let name: String?
  private let type: TypeKey
  private let summary: String?
  private let start: [UInt8]
  private let csvColumns: [CSVColumn<Value>]
  /// The columns of a table.
  package let columns: [Column<Value>]

  private static var typeKey: String { "type" }

  /// Describes a kind of record.
  ///
  /// - Parameters:
  ///   - name: The name in the schema; `nil` where the schema has it in place of a reference.
  ///   - type: The key `type`.
  ///   - summary: The description in the schema.
  ///   - typeColumn: The place of the type among the columns of comma-separated values and of a table,
  ///     and its column in a table.
  ///   - groups: The fields, in the order of their keys.
  package init(
    _ name: String?, type: TypeKey = .name, summary: String? = nil,
    typeColumn: (place: Int, column: Column<Value>)? = nil, _ groups: [Field<Value>]...
  ) {
    let fields = groups.flatMap { $0 }
    (self.name, self.type, self.summary, self.fields) = (name, type, summary, fields)
    var csvColumns = fields.flatMap(\.csv)
    let columns = fields.flatMap(\.columns)
    var ordered = columns.filter { !$0.isLate } + columns.filter(\.isLate)
    if let typeColumn, case .one(_, let text) = type {
      csvColumns.insert(
        CSVColumn(name: Self.typeKey) { .plain(text($0)) }, at: typeColumn.place)
      ordered.insert(typeColumn.column, at: typeColumn.place)
    }
    (self.csvColumns, self.columns) = (csvColumns, ordered)
    typeName =
      switch type {
      case .name: name
      case .constant(let text): text
      case .one, .none: nil
      }
    start = Array("{".utf8) + (typeName.map { Array("\"\(Self.typeKey)\":\"\($0)\"".utf8) } ?? [])
  }

  /// The same without some of its fields.
  package func omitting(_ presence: Field<Value>.Presence) -> RecordType {
    RecordType(name, type: type, summary: summary, fields.filter { $0.presence != presence })
  }
}

// JSON.
extension RecordType {
  /// Appends a record as one line of JSON.
  package func appendLine(_ value: Value, to bytes: inout [UInt8]) {
    append(value, to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Appends a record as a JSON object.
  package func append(_ value: Value, to bytes: inout [UInt8]) {
    bytes += start
    var needsComma = start.count > 1
    if case .one(_, let type) = type {
      bytes += "\"\(Self.typeKey)\":\"\(type(value))\"".utf8
      needsComma = true
    }
    for field in fields {
      let part = field.value(value)
      if case .absent = part { continue }
      if needsComma { bytes.append(UInt8(ascii: ",")) }
      needsComma = true
      bytes += field.prefix
      part.append(to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// The schema of the record.
  package var schema: Schema {
    let types: JSONNode? =
      if let typeName {
        ["const": .text(typeName)]
      } else if case .one(let texts, _) = type {
        Schema.one(of: texts).node
      } else {
        nil
      }
    var properties = types.map { [JSONNode.Member(key: Self.typeKey, value: $0)] } ?? []
    let required =
      properties.map(\.key) + fields.filter { $0.presence == .always }.map(\.key)
    properties += fields.map { .init(key: $0.key, value: $0.schema.node) }
    var node: JSONNode = [:]
    if let summary { node["description"] = .text(summary) }
    node["type"] = "object"
    node["properties"] = .object(properties)
    node["required"] = .array(required.map { .text($0) })
    node["dependentRequired"] = dependencies
    node["additionalProperties"] = false
    let definitions = fields.flatMap(\.schema.definitions)
    return name.map { Schema(named: $0, node, using: definitions) }
      ?? Schema(node, using: definitions)
  }

  /// Which keys come with which.
  private var dependencies: JSONNode? {
    let members = fields.compactMap { field -> JSONNode.Member? in
      guard case .together = field.presence else { return nil }
      let others = fields.filter { $0.presence == field.presence && $0.key != field.key }
      return .init(key: field.key, value: .array(others.map { .text($0.key) }))
    }
    return members.isEmpty ? nil : .object(members)
  }
}

// Comma-separated values (RFC 4180).
extension RecordType {
  /// The names of the columns.
  package var csvHeader: [String] { csvColumns.map(\.name) }

  /// A row.
  package func csvRow(_ value: Value) -> [FieldValue] { csvColumns.map { $0.value(value) } }
}

/// Appends a row of comma-separated values.
package func appendRow(_ values: [FieldValue], to bytes: inout [UInt8]) {
  for (index, value) in values.enumerated() {
    if index > 0 { bytes.append(UInt8(ascii: ",")) }
    guard let text = value.text else { continue }
    // Bytes are looked at: finding characters is ten times slower.
    guard case .text = value, text.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else {
      bytes += text.utf8
      continue
    }
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") { bytes.append(byte) }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }
  bytes.append(UInt8(ascii: "\n"))
}
