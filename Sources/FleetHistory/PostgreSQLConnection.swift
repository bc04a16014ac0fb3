import CPostgreSQL
import Clocks
import Glibc

@safe struct PostgreSQLLibrary: @unchecked Sendable {
  // The table never changes. Each connection belongs to one thread.
  fileprivate let table: cpostgresql

  /// libpq, or the reason that it cannot be used. It is never unloaded.
  static let shared = Result<PostgreSQLLibrary, DatabaseError> { () throws(DatabaseError) in
    var table = cpostgresql()
    // The table outlives the call, and the system's text is copied at once.
    guard unsafe cpostgresql_load(&table) != 0 else {
      let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "a function is missing"
      throw DatabaseError(
        .library,
        "the fleet's history needs libpq, which cannot be loaded (\(reason)); install it: "
          + "apt-get install libpq5")
    }
    return PostgreSQLLibrary(table: table)
  }

  /// Returns whether a connection string has a password, or `nil` if it is not valid.
  func parse(_ connection: String) -> Bool? {
    guard !connection.utf8.contains(0) else { return nil }
    var table = table
    var hasPassword: Int32 = 0
    // The arguments outlive the call.
    guard unsafe cpostgresql_parse(&table, connection, &hasPassword) != 0 else { return nil }
    return hasPassword != 0
  }
}

/// A libpq connection to one database.
///
/// It belongs to one thread. Every pointer below is valid because of this: arguments live during
/// the call, and libpq copies them before it returns; texts that libpq returns live until the next
/// call or until their result is cleared, and are copied before.
@safe final class PostgreSQLConnection {
  /// The rows of a result: texts as PostgreSQL writes them, or `nil` for null.
  typealias Rows = [[String?]]

  private static let turnTime: Int32 = 50

  private let table: cpostgresql
  private let handle: OpaquePointer
  private let answerTime: Double
  private let isCanceled: () -> Bool

  /// Connects to a database. All waits end soon after `isCanceled` returns `true`.
  init(
    _ configuration: DatabaseConfiguration, isCanceled: @escaping () -> Bool = { false }
  ) throws(DatabaseError) {
    table = try PostgreSQLLibrary.shared.get().table
    answerTime = configuration.answerTime
    self.isCanceled = isCanceled
    var table = table
    guard let handle = unsafe cpostgresql_connect(&table, configuration.connection) else {
      throw DatabaseError(.connection, "libpq has no memory for a connection")
    }
    unsafe self.handle = handle
    try connect()
  }

  // This also runs if the initializer throws after setting the handle, the last property.
  deinit { unsafe table.finish(handle) }

  private func connect() throws(DatabaseError) {
    let deadline = deadline
    var state = PGRES_POLLING_WRITING
    while state != PGRES_POLLING_OK {
      guard state != PGRES_POLLING_FAILED, unsafe table.status(handle) != CONNECTION_BAD else {
        throw connectionError("cannot connect to the database")
      }
      try wait(forWriting: state == PGRES_POLLING_WRITING, until: deadline)
      state = unsafe table.connectPoll(handle)
    }
    guard unsafe table.setnonblocking(handle, 1) == 0 else {
      throw connectionError("cannot use the connection to the database")
    }
  }

  /// Runs one statement with its parameters, and returns its rows.
  @discardableResult
  func execute(_ statement: String, _ parameters: [String?] = []) throws(DatabaseError) -> Rows {
    guard parameters.allSatisfy({ $0?.utf8.contains(0) != true }) else {
      throw DatabaseError(.values, "the database cannot store a text with the byte 0")
    }
    try send(statement, parameters)
    let deadline = deadline
    var rows: Result<Rows, DatabaseError> = .success([])
    while true {
      try waitForResult(until: deadline)
      guard let result = unsafe table.getResult(handle) else { break }
      rows = unsafe read(result)
      unsafe table.clear(result)
    }
    guard unsafe table.status(handle) == CONNECTION_OK else {
      throw connectionError("the connection to the database ended")
    }
    return try rows.get()
  }

  private func send(_ statement: String, _ parameters: [String?]) throws(DatabaseError) {
    let copies = unsafe parameters.map { unsafe $0.map { unsafe strdup($0) } ?? nil }
    defer { unsafe copies.forEach { unsafe free($0) } }
    let values = unsafe copies.map { unsafe UnsafePointer($0) }
    let isSent = unsafe table.sendQueryParams(
      handle, statement, Int32(values.count), nil, values, nil, nil, 0)
    guard isSent == 1 else { throw connectionError("cannot send to the database") }
  }

  private func waitForResult(until deadline: MonotonicTime) throws(DatabaseError) {
    while true {
      let state = unsafe table.flush(handle)
      guard state >= 0 else { throw connectionError("the connection to the database ended") }
      if state == 0, unsafe table.isBusy(handle) == 0 { return }
      try wait(forWriting: state > 0, until: deadline)
      guard unsafe table.consumeInput(handle) == 1 else {
        throw connectionError("the connection to the database ended")
      }
    }
  }

  private func read(_ result: OpaquePointer) -> Result<Rows, DatabaseError> {
    switch unsafe table.resultStatus(result) {
    case PGRES_COMMAND_OK: return .success([])
    case PGRES_TUPLES_OK:
      let (count, columns) = unsafe (table.ntuples(result), table.nfields(result))
      return .success(
        (0..<count).map { row in
          (0..<columns).map { column in
            guard unsafe table.getisnull(result, row, column) == 0 else { return nil }
            return unsafe String(
              decoding: UnsafeRawBufferPointer(
                start: table.getvalue(result, row, column),
                count: Int(table.getlength(result, row, column))), as: UTF8.self)
          }
        })
    default:
      let state = unsafe field(CPOSTGRESQL_STATE, of: result) ?? ""
      let text = unsafe field(CPOSTGRESQL_MESSAGE, of: result) ?? "the connection ended"
      // Classes of values: data exceptions, constraints, and limits of the program.
      let isOfValues = ["22", "23", "54"].contains(state.prefix(2))
      // Without a state libpq itself ended the connection; class 57 is the end of the server.
      let isOfConnection = state.isEmpty || state.hasPrefix("57P") || state.hasPrefix("08")
      return .failure(
        DatabaseError(
          isOfValues ? .values : isOfConnection ? .connection : .refusal,
          "the database refused a statement: \(text)\(state.isEmpty ? "" : " (\(state))")"))
    }
  }

  private func field(_ code: Int, of result: OpaquePointer) -> String? {
    unsafe table.resultErrorField(result, Int32(code)).map { unsafe String(cString: $0) }
  }

  private var deadline: MonotonicTime { MonotonicTime.now.advanced(bySeconds: answerTime) }

  private func wait(
    forWriting isWriting: Bool, until deadline: MonotonicTime
  ) throws(DatabaseError) {
    while true {
      guard !isCanceled() else { throw DatabaseError(.canceled, "the wait was ended") }
      guard deadline > .now else {
        throw DatabaseError(.connection, "the database has not answered for \(answerTime) s")
      }
      var entry = pollfd(
        fd: unsafe table.socket(handle), events: Int16(POLLIN | (isWriting ? POLLOUT : 0)),
        revents: 0)
      // The entry outlives the call.
      if unsafe poll(&entry, 1, Self.turnTime) > 0 { return }
    }
  }

  /// The error of the connection, in one line.
  private func connectionError(_ what: String) -> DatabaseError {
    let text = unsafe table.errorMessage(handle).map { unsafe String(cString: $0) } ?? ""
    let words = text.split { $0.isWhitespace }.joined(separator: " ")
    return DatabaseError(.connection, words.isEmpty ? what : "\(what): \(words)")
  }
}
