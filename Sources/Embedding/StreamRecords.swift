import Records

/// The records that a library's stream has beside those of the command.
enum StreamRecord {
  /// So many of the oldest lines were dropped, because the program did not take them.
  static let missed = RecordType<Int>("missed", [Field("count", .count) { $0 }])
  /// Nothing will come any more, and why, where that is a failure.
  static let end = RecordType<String?>("end", [Field("error", .text.orNull) { $0 }])
}

extension RecordType {
  /// Returns a record as JSON, without the end of the line.
  func bytes(_ value: Value) -> [UInt8] {
    var bytes: [UInt8] = []
    append(value, to: &bytes)
    return bytes
  }
}
