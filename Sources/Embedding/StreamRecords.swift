import Records

/// The records that only the library's stream has, not the command's.
enum StreamRecord {
  /// The number of oldest lines that were dropped because the program did not take them.
  static let missed = RecordType<Int>("missed", [Field("count", .count) { $0 }])
  /// The end of the stream, with the failure if there was one.
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
