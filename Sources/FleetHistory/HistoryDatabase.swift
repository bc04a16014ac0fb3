import Clocks
import FleetEngine
import FleetPicture
import FoundationEssentials

/// The statements on the history's tables, on one connection. It belongs to one thread.
final class HistoryDatabase {
  /// The changes that a step of the retention looks at.
  static let step = 1000
  private static let stream = "transitions"
  private static let columns = """
    second, probability, runner_up_probability, former_is_outside, is_outside, id, site, beacon, \
    former, room, runner_up, missing
    """

  let connection: PostgreSQLConnection

  /// Connects to a database, and brings its tables to the newest version.
  init(
    _ configuration: DatabaseConfiguration, isCanceled: @escaping () -> Bool
  ) throws(DatabaseError) {
    connection = try PostgreSQLConnection(configuration, isCanceled: isCanceled)
    try HistorySchema.migrate(connection)
  }

  /// Connects to a database that has the tables.
  init(reading configuration: DatabaseConfiguration) throws(DatabaseError) {
    connection = try PostgreSQLConnection(configuration)
    try HistorySchema.check(connection)
  }

  /// The place from which the stream is read next, or `nil` for its beginning.
  func position() throws(DatabaseError) -> StreamPosition? {
    let row = try connection.execute(
      "SELECT next, last_id FROM positions WHERE stream = $1", [Self.stream]
    ).first
    guard let row, row.count == 2, let next = row[0].flatMap({ UInt64($0) }) else { return nil }
    return StreamPosition(next: next, lastID: row[1])
  }

  // MARK: - Writing

  /// Writes changes that are not there yet, and the position after them, in one transaction.
  func write(_ changes: [RoomChange], _ position: StreamPosition) throws(DatabaseError) {
    try connection.execute(
      """
      WITH written AS (\(Self.insertion(into: "changes"))) \
      INSERT INTO positions VALUES ($2, $3::bigint, $4) \
      ON CONFLICT (stream) DO UPDATE SET next = EXCLUDED.next, last_id = EXCLUDED.last_id
      """, [Self.rows(changes), Self.stream, "\(position.next)", position.lastID])
  }

  /// Writes the changes of entries by a function, which gets the place after the last one. If the
  /// database refuses values, the function gets the changes in halves, so that only those are skipped
  /// which the database refuses alone.
  ///
  /// - Returns: The number of entries that are skipped.
  func store(
    _ entries: [StreamEntry],
    _ write: ([RoomChange], StreamPosition) throws(DatabaseError) -> Void
  ) throws(DatabaseError) -> Int {
    guard let last = entries.last else { return 0 }
    let changes = entries.compactMap { RoomChange($0) }
    do throws(DatabaseError) {
      try write(changes, StreamPosition(after: last))
      return entries.count - changes.count
    } catch {
      guard error.kind == .values else { throw error }
    }
    guard entries.count > 1 else {
      try write([], StreamPosition(after: last))
      return 1
    }
    let half = entries.count / 2
    return try store(Array(entries[..<half]), write) + store(Array(entries[half...]), write)
  }

  private static func insertion(into table: String) -> String {
    """
    INSERT INTO \(table) (\(columns)) SELECT \(columns) \
    FROM jsonb_populate_recordset(NULL::changes, $1::jsonb) ON CONFLICT (id) DO NOTHING
    """
  }

  private static func rows(_ changes: [RoomChange]) -> String {
    let encoder = JSONEncoder()
    // Texts and finite numbers, which JSON has.
    let bytes = (try? encoder.encode(changes.map(Row.init))) ?? Data("[]".utf8)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Deletes some of the changes before a second. Returns whether there may be more.
  ///
  /// The last change of each beacon before that second stays if it has a room: the beacon is still
  /// there at that second.
  func deleteChanges(before second: Int64, limit: Int = step) throws(DatabaseError) -> Bool {
    let deleted = try connection.execute(
      """
      DELETE FROM changes WHERE ctid = ANY (ARRAY( \
        SELECT c.ctid FROM changes c WHERE c.second < $1::bigint AND ( \
          EXISTS (SELECT FROM changes l WHERE l.site = c.site AND l.beacon = c.beacon \
            AND l.second > c.second AND l.second < $1::bigint) \
          OR c.room IS NULL AND NOT EXISTS (SELECT FROM changes e WHERE e.site = c.site \
            AND e.beacon = c.beacon AND e.second < c.second)) \
        LIMIT $2::bigint)) \
      RETURNING 1
      """, ["\(second)", "\(limit)"])
    // A change without a room goes after those before it.
    return !deleted.isEmpty
  }

  // MARK: - Rebuilding

  /// Makes an empty table for a rebuilt history, which ends with the connection.
  func beginRebuilding() throws(DatabaseError) {
    try connection.execute(
      "CREATE TEMPORARY TABLE rebuilt (LIKE changes INCLUDING DEFAULTS, UNIQUE (id))")
  }

  func writeRebuilt(_ changes: [RoomChange]) throws(DatabaseError) {
    try connection.execute(Self.insertion(into: "rebuilt"), [Self.rows(changes)])
  }

  /// Replaces the changes of each site from its first rebuilt one on, and the position, in one
  /// transaction. What a service has written meanwhile after the last rebuilt one stays, and so do
  /// changes before the second `oldest` that are not rebuilt.
  func replaceByRebuilt(oldest: Int64, _ position: StreamPosition) throws(DatabaseError) {
    try connection.execute("ANALYZE rebuilt")
    try connection.execute("BEGIN")
    try connection.execute(
      """
      DELETE FROM changes c USING ( \
        SELECT site, min(second) AS first, max(second) AS last FROM rebuilt GROUP BY site) s \
      WHERE c.site = s.site AND c.second >= s.first AND ( \
        c.second >= $1::bigint AND c.second < s.last \
        OR EXISTS (SELECT FROM rebuilt r WHERE r.id = c.id))
      """, ["\(oldest)"])
    try connection.execute(
      """
      INSERT INTO changes (\(Self.columns)) SELECT \(Self.columns) FROM rebuilt \
      ON CONFLICT (id) DO NOTHING
      """)
    try write([], position)
    try connection.execute("COMMIT")
  }

  // MARK: - Reading

  /// Returns the changes of a site, and of one beacon if given: for each beacon the last one before
  /// `from`, and those from `from` to before `to`, the oldest first.
  func changes(
    site: String, beacon: String?, from: Int64, to: Int64, limit: Int
  ) throws(DatabaseError) -> [RoomChange] {
    let filter = beacon == nil ? "" : "AND beacon = $5"
    let former =
      beacon == nil
      ? """
      (WITH RECURSIVE beacons (beacon) AS ( \
        (SELECT beacon FROM changes WHERE site = $1 ORDER BY beacon LIMIT 1) \
        UNION ALL SELECT (SELECT c.beacon FROM changes c WHERE c.site = $1 \
          AND c.beacon > b.beacon ORDER BY c.beacon LIMIT 1) \
        FROM beacons b WHERE b.beacon IS NOT NULL) \
      SELECT f.* FROM beacons b CROSS JOIN LATERAL ( \
        SELECT \(Self.columns) FROM changes c WHERE c.site = $1 AND c.beacon = b.beacon \
        AND c.second < $2::bigint ORDER BY c.second DESC LIMIT 1) f)
      """
      : """
      (SELECT \(Self.columns) FROM changes WHERE site = $1 AND beacon = $5 \
      AND second < $2::bigint ORDER BY second DESC LIMIT 1)
      """
    let rows = try connection.execute(
      """
      SELECT second, probability, runner_up_probability, former_is_outside, is_outside, beacon, \
      former, room, runner_up, array_to_json(missing) FROM ( \
      \(former) UNION ALL SELECT \(Self.columns) FROM changes WHERE site = $1 \(filter) \
      AND second >= $2::bigint AND second < $3::bigint) AS found \
      ORDER BY second, beacon LIMIT $4::bigint
      """,
      [site, "\(from)", "\(to)", "\(max(0, limit))"] + (beacon.map { [$0] } ?? []))
    let decoder = JSONDecoder()
    return rows.compactMap { RoomChange(site: site, row: $0, decoder) }
  }
}

/// A row as PostgreSQL reads it from JSON.
private struct Row: Encodable {
  var second: Int64
  var probability: Double
  var runner_up_probability: Double
  var former_is_outside: Bool
  var is_outside: Bool
  var id: String
  var site: String
  var beacon: String
  var former: String?
  var room: String?
  var runner_up: String?
  var missing: [String]

  init(_ change: RoomChange) {
    second = change.second ?? 0
    probability = change.probability
    runner_up_probability = change.runnerUpProbability
    former_is_outside = change.formerIsOutside
    is_outside = change.isOutside
    id = change.id
    site = change.site
    beacon = change.beacon
    former = change.former
    room = change.room
    runner_up = change.runnerUp
    missing = change.missing
  }
}

extension RoomChange {
  fileprivate init?(site: String, row: [String?], _ decoder: JSONDecoder) {
    guard row.count == 10, let second = row[0].flatMap({ Int64($0) }),
      let probability = row[1].flatMap({ Double($0) }),
      let runnerUpProbability = row[2].flatMap({ Double($0) }), let beacon = row[5],
      let missing = row[9],
      let receivers = missing == "[]"
        ? [] : try? decoder.decode([String].self, from: Data(missing.utf8))
    else { return nil }
    self.init(
      site: site, second: second, time: WallClockTime(second: second).description, beacon: beacon,
      former: row[6], formerIsOutside: row[3] == "t", room: row[7], isOutside: row[4] == "t",
      probability: probability, runnerUp: row[8], runnerUpProbability: runnerUpProbability,
      missing: receivers)
  }
}
