/// One field of a record: its key, its schema, its column, and how it is read.
package struct Field<Value>: Sendable {
  /// Whether a record has the field.
  package enum Presence: Equatable, Sendable {
    case always
    case sometimes
    /// With all other fields of a group, or with none of them.
    case together(String)
  }

  /// What a row of comma-separated values has of the field.
  package enum CSV: Sendable {
    case none
    /// A column under the field's key.
    case sameName
    case named(String)
  }

  let key: String
  let schema: Schema
  let presence: Presence
  let csv: [CSVColumn<Value>]
  let columns: [Column<Value>]
  let value: @Sendable (Value) -> FieldValue
  /// The key as it stands before its value.
  let prefix: [UInt8]

  private init(
    _ key: String, _ schema: Schema, _ presence: Presence, csv: [CSVColumn<Value>],
    columns: [Column<Value>], value: @escaping @Sendable (Value) -> FieldValue
  ) {
    (self.key, self.schema, self.presence) = (key, schema, presence)
    (self.csv, self.columns, self.value) = (csv, columns, value)
    prefix = Array("\"\(key)\":".utf8)
  }

  /// Describes a field.
  package init<Part: FieldValueConvertible>(
    _ key: String, _ schema: Schema, _ presence: Presence = .always, csv: CSV = .sameName,
    column: Column<Value>? = nil, _ part: @escaping @Sendable (Value) -> Part
  ) {
    self.init(key, schema, presence, csv, column) { part($0).fieldValue }
  }

  /// Describes a number that is rounded to some decimals, and is `null` where it is not finite.
  package init(
    _ key: String, _ schema: Schema, _ presence: Presence = .always, decimals: Int,
    csv: CSV = .sameName, column: Column<Value>? = nil,
    _ part: @escaping @Sendable (Value) -> Double?
  ) {
    self.init(key, schema, presence, csv, column) { .number(part($0), decimals) }
  }

  private init(
    _ key: String, _ schema: Schema, _ presence: Presence, _ csv: CSV, _ column: Column<Value>?,
    _ value: @escaping @Sendable (Value) -> FieldValue
  ) {
    let csvColumn: [CSVColumn<Value>] =
      switch csv {
      case .none: []
      case .sameName: [CSVColumn(name: key, value: value)]
      case .named(let name): [CSVColumn(name: name, value: value)]
      }
    self.init(
      key, schema, presence, csv: csvColumn,
      columns: column.map { [$0.filled(key.uppercased()) { value($0).text }] } ?? [], value: value)
  }

  /// Describes a record within the record. Comma-separated values have its columns in place of it.
  package init<Part>(
    _ key: String, _ record: RecordType<Part>, isNullable: Bool = false,
    columns: [Column<Value>] = [], _ part: @escaping @Sendable (Value) -> Part?
  ) {
    self.init(
      key, isNullable ? record.schema.orNull : record.schema, .always,
      csv: record.fields.flatMap(\.csv).map { $0.lifted(part) }, columns: columns
    ) { value in
      part(value).map { part in .json { record.append(part, to: &$0) } } ?? .null
    }
  }

  /// Describes a list of records within the record.
  package init<Part>(
    _ key: String, each record: RecordType<Part>, _ parts: @escaping @Sendable (Value) -> [Part]
  ) {
    self.init(key, .list(of: record.schema), .always, csv: [], columns: []) { value in
      .list(parts(value)) { record.append($0, to: &$1) }
    }
  }
}

/// A column of comma-separated values.
struct CSVColumn<Value>: Sendable {
  let name: String
  let value: @Sendable (Value) -> FieldValue

  /// The same column of values that hold such values.
  func lifted<Outer>(_ part: @escaping @Sendable (Outer) -> Value?) -> CSVColumn<Outer> {
    CSVColumn<Outer>(name: name) { part($0).map(value) ?? .null }
  }
}
