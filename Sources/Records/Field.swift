package enum FieldPresence: Equatable, Sendable {
  case always
  case sometimes
  /// If the record has all other fields of this group.
  case together(String)
}

/// A field of a record: its key, JSON schema, columns, and value.
package struct Field<Value>: Sendable {
  typealias Reader = @Sendable (Value) -> FieldValue
  typealias CSVColumn = (name: String, value: Reader)

  let key: String
  let schema: Schema
  let presence: FieldPresence
  private(set) var csv: [CSVColumn]
  let column: Column<Value>?
  let value: Reader
  /// The key in quotes and a colon.
  let prefix: [UInt8]

  private init(
    _ key: String, _ schema: Schema, _ presence: FieldPresence = .always, isInCSV: Bool = false,
    _ column: Column<Value>? = nil, value: @escaping Reader
  ) {
    self.key = key
    self.schema = schema
    self.presence = presence
    self.value = value
    self.column = column?.filled(key.uppercased()) { value($0).text }
    csv = isInCSV ? [(key, value)] : []
    prefix = Array("\"\(key)\":".utf8)
  }

  package init<Part: FieldValueConvertible>(
    _ key: String, _ schema: Schema, _ presence: FieldPresence = .always, isInCSV: Bool = true,
    column: Column<Value>? = nil, _ part: @escaping @Sendable (Value) -> Part
  ) {
    self.init(key, schema, presence, isInCSV: isInCSV, column) { part($0).fieldValue }
  }

  /// Creates a field for a number, rounded to some decimals. It is `null` if it is not finite.
  package init(
    _ key: String, _ schema: Schema, _ presence: FieldPresence = .always, decimals: Int,
    isInCSV: Bool = true, column: Column<Value>? = nil,
    _ part: @escaping @Sendable (Value) -> Double?
  ) {
    self.init(key, schema, presence, isInCSV: isInCSV, column) { .number(part($0), decimals) }
  }

  /// Creates a field for a nested record. In CSV, its columns take the place of the field, if the
  /// record always has it.
  package init<Part>(
    _ key: String, _ record: RecordType<Part>, _ presence: FieldPresence = .always,
    isNullable: Bool = false, _ part: @escaping @Sendable (Value) -> Part?
  ) {
    let isAlways = presence == .always
    self.init(key, isNullable ? record.schema.orNull : record.schema, presence) {
      part($0).map { part in .json { record.append(part, to: &$0) } }
        ?? (isAlways ? .null : .absent)
    }
    guard isAlways else { return }
    csv = record.fields.flatMap(\.csv).map { inner -> CSVColumn in
      (inner.name, { part($0).map(inner.value) ?? .null })
    }
  }

  package init<Part>(
    _ key: String, each record: RecordType<Part>, _ parts: @escaping @Sendable (Value) -> [Part]
  ) {
    self.init(key, .list(of: record.schema)) { value in
      .list(parts(value)) { record.append($0, to: &$1) }
    }
  }
}
