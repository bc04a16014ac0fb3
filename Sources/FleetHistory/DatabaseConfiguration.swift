import CPostgreSQL

/// A database of PostgreSQL, and how to use it.
package struct DatabaseConfiguration: Sendable, Equatable {
  /// libpq's connection string: a URI, or words such as `host=/run/postgresql dbname=fleet`. It may
  /// have a password, so nothing prints it.
  let connection: String
  /// Whether the connection string has a password. libpq also takes one from `PGPASSWORD` or
  /// `PGPASSFILE`.
  package let hasPassword: Bool
  /// The seconds that the server may take to answer.
  package var answerTime = 30.0
  /// The shortest and longest pause between attempts to connect, in seconds.
  package var reconnectDelay: ClosedRange<Double> = 0.25...30

  /// Creates a configuration from libpq's connection string.
  ///
  /// - Throws: `DatabaseError` if the string is not valid or libpq cannot be loaded.
  package init(_ connection: String) throws(DatabaseError) {
    guard let hasPassword = try PostgreSQLLibrary.shared.get().parse(connection) else {
      throw DatabaseError(
        .usage,
        "the connection string of the database is not valid; give one such as "
          + "postgresql:///fleet?host=/run/postgresql or 'host=db.local user=fleet dbname=fleet'")
    }
    self.connection = connection
    self.hasPassword = hasPassword
  }
}

package struct DatabaseError: Error, Hashable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// The connection string is not valid.
    case usage
    /// libpq cannot be loaded.
    case library
    /// The server cannot be reached, or the connection ended.
    case connection
    /// The schema is newer than this version, or there is none.
    case schema
    /// The server refused a statement because of the values in it.
    case values
    /// The server refused a statement for another reason.
    case refusal
    /// The caller ended the wait.
    case canceled
  }

  package var kind: Kind
  package var description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
