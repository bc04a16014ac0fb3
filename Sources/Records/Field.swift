/// The condition for a record to have a field.
package enum FieldPresence: Equatable, Sendable {
  case always
  case sometimes
  /// If the record has all other fields of this group.
  case together(String)
}

/// A field of a record: its key, JSON schema, columns, and value.
package struct Field<Value>: Sendable {
  /// The column in CSV.
  package enum CSV: Sendable {
    case none
    /// A column named by the field's key.
    case sameName
    case named(String)
  }

  typealias Reader = @Sendable (Value) -> FieldValue
  typealias CSVColumn = (name: String, value: Reader)

  let key: String
  let schema: Schema
  let presence: FieldPresence
  let csv: [CSVColumn]
  let columns: [Column<Value>]
  let value: Reader
  /// The key in quotes and a colon.
  let prefix: [UInt8]

  private init(
    _ key: String, _ schema: Schema, _ presence: FieldPresence = .always, csv: [CSVColumn] = [],
    columns: [Column<Value>] = [], value: @escaping Reader
  ) {
    (self.key, self.schema, self.presence) = (key, schema, presence)
    (self.csv, self.columns, self.value) = (csv, columns, value)
    prefix = Array("\"\(key)\":".utf8)
  }

  private init(
    _ key: String, _ schema: Schema, _ presence: FieldPresence, _ csv: CSV,
    _ column: Column<Value>?, _ value: @escaping Reader
  ) {
    let csv: [CSVColumn] =
      switch csv {
      case .none: []
      case .sameName: [(key, value)]
      case .named(let name): [(name, value)]
      }
    let columns = column.map { [$0.filled(key.uppercased()) { value($0).text }] } ?? []
    self.init(key, schema, presence, csv: csv, columns: columns, value: value)
  }

  package init<Part: FieldValueConvertible>(
    _ key: String, _ schema: Schema, _ presence: FieldPresence = .always, csv: CSV = .sameName,
    column: Column<Value>? = nil, _ part: @escaping @Sendable (Value) -> Part
  ) {
    self.init(key, schema, presence, csv, column) { part($0).fieldValue }
  }

  /// Creates a field for a number, rounded to some decimals. It is `null` if it is not finite.
  package init(
    _ key: String, _ schema: Schema, _ presence: FieldPresence = .always, decimals: Int,
    csv: CSV = .sameName, column: Column<Value>? = nil,
    _ part: @escaping @Sendable (Value) -> Double?
  ) {
    self.init(key, schema, presence, csv, column) { .number(part($0), decimals) }
  }

  /// Creates a field for a nested record. In CSV, its columns take the place of the field.
  package init<Part>(
    _ key: String, _ record: RecordType<Part>, isNullable: Bool = false,
    columns: [Column<Value>] = [], _ part: @escaping @Sendable (Value) -> Part?
  ) {
    let csv = record.fields.flatMap(\.csv).map { inner -> CSVColumn in
      (inner.name, { part($0).map(inner.value) ?? .null })
    }
    self.init(key, isNullable ? record.schema.orNull : record.schema, csv: csv, columns: columns) {
      part($0).map { part in .json { record.append(part, to: &$0) } } ?? .null
    }
  }

  /// Creates a field for a list of nested records.
  package init<Part>(
    _ key: String, each record: RecordType<Part>, _ parts: @escaping @Sendable (Value) -> [Part]
  ) {
    self.init(key, .list(of: record.schema)) { value in
      .list(parts(value)) { record.append($0, to: &$1) }
    }
  }
}
