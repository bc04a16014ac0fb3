/// The tables of the history, in versions.
enum HistorySchema {
  /// The statements that lead from each version to the next one. They never change; a new version
  /// adds a list.
  private static let migrations: [[String]] = [
    [
      // The bytes' order does not depend on the server's locale, and compares faster.
      """
      CREATE TABLE changes (
        second bigint NOT NULL,
        probability real NOT NULL, runner_up_probability real NOT NULL,
        former_is_outside boolean NOT NULL, is_outside boolean NOT NULL,
        id text COLLATE "C" PRIMARY KEY,
        site text COLLATE "C" NOT NULL, beacon text COLLATE "C" NOT NULL,
        former text, room text, runner_up text, missing text[] NOT NULL)
      """,
      "CREATE INDEX changes_of_beacons ON changes (site, beacon, second)",
      "CREATE INDEX changes_of_sites ON changes (site, second)",
      // For the retention: a few kilobytes, because changes come in the order of time.
      "CREATE INDEX changes_in_time ON changes USING brin (second)",
      // The offset from which a stream is read next.
      "CREATE TABLE positions (stream text PRIMARY KEY, next bigint NOT NULL)",
    ],
    // The id of the entry before it. An engine that was set up anew has another one there.
    ["ALTER TABLE positions ADD COLUMN last_id text"],
  ]

  static var newest: Int { migrations.count }

  /// Returns the version of a database, or `nil` if it has no history.
  private static func version(_ connection: PostgreSQLConnection) throws(DatabaseError) -> Int? {
    guard try connection.execute("SELECT to_regclass('fleet_schema')").first?.first != .some(nil)
    else { return nil }
    return try connection.execute("SELECT version FROM fleet_schema").first?.first?
      .flatMap { Int($0) } ?? 0
  }

  /// Brings a database to the newest version, in one transaction.
  static func migrate(_ connection: PostgreSQLConnection) throws(DatabaseError) {
    try connection.execute("BEGIN")
    // One process at a time; any number that means nothing else.
    try connection.execute("SELECT pg_advisory_xact_lock(6044290131457105222)")
    let version = try version(connection)
    try check(version ?? newest)
    if version == nil { try connection.execute("CREATE TABLE fleet_schema (version int NOT NULL)") }
    for statement in migrations.dropFirst(version ?? 0).joined() {
      try connection.execute(statement)
    }
    if version != newest {
      try connection.execute("DELETE FROM fleet_schema")
      try connection.execute("INSERT INTO fleet_schema VALUES ($1::int)", ["\(newest)"])
    }
    try connection.execute("COMMIT")
  }

  /// Checks that a database can be read, without a change of it.
  static func check(_ connection: PostgreSQLConnection) throws(DatabaseError) {
    guard let version = try version(connection) else {
      throw DatabaseError(
        .schema,
        "the database has no history yet; beaconscan-fleet serve --database or rebuild makes it")
    }
    guard version >= newest else {
      throw DatabaseError(
        .schema,
        "the database's history has version \(version), and this program reads version \(newest); "
          + "beaconscan-fleet serve --database or rebuild updates it")
    }
    try check(version)
  }

  private static func check(_ version: Int) throws(DatabaseError) {
    guard version <= newest else {
      throw DatabaseError(
        .schema,
        "the database's history has version \(version), and this program has version \(newest); "
          + "use a newer beaconscan-fleet, or another database")
    }
  }
}
