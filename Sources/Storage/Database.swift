import CSQLite
import Glibc
import SystemPackage

/// A connection to an SQLite database, which closes when the value and its statements end.
@safe struct Database: ~Copyable {
  let path: FilePath
  private let handle: OpaquePointer

  enum Access {
    case readingAndWriting
    case reading
    /// Takes no locks and ignores the log. Valid only while nobody writes.
    case readingWithoutLocks
  }

  init(_ path: FilePath, for access: Access = .readingAndWriting) throws(StorageError) {
    var opened: OpaquePointer?
    var name = path.string
    var flags = access == .readingAndWriting ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    flags |= SQLITE_OPEN_NOMUTEX
    if access == .readingWithoutLocks {
      name = Self.address(path) + "?immutable=1"
      flags |= SQLITE_OPEN_URI
    }
    let status = unsafe sqlite3_open_v2(name, &opened, flags, nil)
    guard status == SQLITE_OK, let handle = unsafe opened else {
      let error = unsafe Self.error(opened, path)
      unsafe sqlite3_close(opened)
      throw error
    }
    unsafe sqlite3_extended_result_codes(handle, 1)
    unsafe sqlite3_busy_timeout(handle, 500)
    self.path = path
    unsafe self.handle = handle
  }

  deinit { unsafe sqlite3_close_v2(handle) }

  /// Returns a path as a URI, with the characters `?`, `#` and `%` escaped.
  private static func address(_ path: FilePath) -> String {
    let escapes: [Unicode.Scalar: String] = ["?": "%3f", "#": "%23", "%": "%25"]
    return "file:" + path.string.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
  }

  func execute(_ text: String) throws(StorageError) {
    guard unsafe sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else {
      throw unsafe Self.error(handle, path)
    }
  }

  /// Runs a body in a transaction, which is rolled back if the body throws.
  func transaction(_ body: (borrowing Database) throws(StorageError) -> Void) throws(StorageError) {
    try execute("BEGIN IMMEDIATE")
    do throws(StorageError) {
      try body(self)
      try execute("COMMIT")
    } catch {
      // After some errors, SQLite has rolled back already.
      try? execute("ROLLBACK")
      throw error
    }
  }

  /// Returns the first column of a query's first row, or 0 if there is no row.
  func integer(_ text: String) throws(StorageError) -> Int64 {
    let statement = try prepare(text)
    return try statement.step() ? statement.integer(0) : 0
  }

  func prepare(_ text: String) throws(StorageError) -> Statement {
    var statement: OpaquePointer?
    guard unsafe sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK,
      let compiled = unsafe statement
    else { throw unsafe Self.error(handle, path) }
    return unsafe Statement(handle: compiled, database: handle, path: path)
  }

  fileprivate static func error(_ handle: OpaquePointer?, _ path: FilePath) -> StorageError {
    // SQLite does not keep the system's error of a COMMIT.
    let last = errno
    let code = unsafe sqlite3_extended_errcode(handle)
    // The message is copied at once.
    let message = unsafe String(cString: sqlite3_errmsg(handle))
    let kept = unsafe sqlite3_system_errno(handle)
    let system = Errno(rawValue: kept == 0 ? last : kept)
    let problem: StorageError.Problem =
      switch code & 0xFF {
      case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged(message)
      case SQLITE_BUSY, SQLITE_LOCKED: .inUse(process: nil, name: nil)
      case SQLITE_FULL: .failed(call: "write", .noSpace)
      case SQLITE_READONLY: .failed(call: "open", .permissionDenied)
      case SQLITE_IOERR where system.rawValue != 0: .failed(call: "read or write", system)
      case SQLITE_CANTOPEN where system.rawValue != 0: .failed(call: "open", system)
      default: .sqlite(code: code, message)
      }
    return StorageError(file: path.string, problem: problem)
  }
}

/// A compiled statement. It keeps SQLite's connection alive, so no use of it is unsafe.
@safe struct Statement: ~Copyable {
  enum Value {
    case integer(Int64)
    case real(Double?)
    case bytes([UInt8]?)

    static func text(_ text: String?) -> Value { .bytes(text.map { Array($0.utf8) }) }
  }

  private let handle: OpaquePointer
  private let database: OpaquePointer
  private let path: FilePath

  fileprivate init(handle: OpaquePointer, database: OpaquePointer, path: FilePath) {
    unsafe (self.handle, self.database) = (handle, database)
    self.path = path
  }

  deinit { unsafe sqlite3_finalize(handle) }

  func run(_ values: [Value]) throws(StorageError) {
    try bind(values)
    _ = try step()
  }

  func bind(_ values: [Value]) throws(StorageError) {
    unsafe sqlite3_reset(handle)
    for (index, value) in zip(Int32(1)..., values) {
      let status: Int32
      switch value {
      case .integer(let number): status = unsafe sqlite3_bind_int64(handle, index, number)
      case .real(let number?): status = unsafe sqlite3_bind_double(handle, index, number)
      case .real(nil), .bytes(nil): status = unsafe sqlite3_bind_null(handle, index)
      case .bytes(let bytes?):
        // SQLite copies the bytes during the call.
        status = unsafe bytes.withUnsafeBytes {
          unsafe csqlite_bind_bytes(
            handle, index, $0.baseAddress, Int32(truncatingIfNeeded: $0.count))
        }
      }
      guard status == SQLITE_OK else { throw unsafe Database.error(database, path) }
    }
  }

  func step() throws(StorageError) -> Bool {
    switch unsafe sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw unsafe Database.error(database, path)
    }
  }

  func rows<Value>(_ value: (borrowing Statement) -> Value) throws(StorageError) -> [Value] {
    var values: [Value] = []
    while try step() { values.append(value(self)) }
    return values
  }

  func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  func real(_ column: Int32) -> Double? {
    guard unsafe sqlite3_column_type(handle, column) != SQLITE_NULL else { return nil }
    return unsafe sqlite3_column_double(handle, column)
  }

  func bytes(_ column: Int32) -> [UInt8]? {
    guard unsafe sqlite3_column_type(handle, column) != SQLITE_NULL else { return nil }
    guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
    // The bytes are valid until the next step, and are copied at once.
    return unsafe [UInt8](
      UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }

  func text(_ column: Int32) -> String { String(decoding: bytes(column) ?? [], as: UTF8.self) }
}
