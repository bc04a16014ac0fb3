package import FleetPicture
import Synchronization

/// The changes in a database. Calls take turns, on one connection.
package final class DatabaseChangeStore: Sendable {
  private let configuration: DatabaseConfiguration
  private let database = Mutex<HistoryDatabase?>(nil)

  package init(_ configuration: DatabaseConfiguration) { self.configuration = configuration }

  /// Returns changes of a site, or of one beacon of it, ordered by second and beacon: for each
  /// beacon the last one before `from`, which says where the beacon was at `from`, and those from
  /// `from` to before `to`, in seconds since 1970.
  ///
  /// If there are more than `limit`, it returns the oldest.
  package func changes(
    site: String, beacon: String?, from: Int64, to: Int64, limit: Int
  ) throws -> [RoomChange] {
    guard !site.utf8.contains(0), beacon?.utf8.contains(0) != true else { return [] }
    return try database.withLock { database throws(DatabaseError) in
      let isNew = database == nil
      do throws(DatabaseError) {
        return try Self.use(&database, configuration).changes(
          site: site, beacon: beacon, from: from, to: to, limit: limit)
      } catch {
        database = nil
        // The server may have ended the connection since the last call.
        guard error.kind == .connection, !isNew else { throw error }
      }
      return try Self.use(&database, configuration).changes(
        site: site, beacon: beacon, from: from, to: to, limit: limit)
    }
  }

  private static func use(
    _ database: inout HistoryDatabase?, _ configuration: DatabaseConfiguration
  ) throws(DatabaseError) -> HistoryDatabase {
    if let database { return database }
    let new = try HistoryDatabase(reading: configuration)
    database = new
    return new
  }
}

extension DatabaseChangeStore {
  /// Passes all changes in parts, each second's in one.
  package func forEachPart(
    site: String, beacon: String?, from: Int64, to: Int64, size: Int = 10_000,
    _ body: ([RoomChange]) throws -> Void
  ) throws {
    var start = from
    var limit = size
    while true {
      var part = try changes(site: site, beacon: beacon, from: start, to: to, limit: limit)
      let (isLast, last) = (part.count < limit, part.last?.second ?? start)
      // Those before the start were in the first part.
      if start > from { part.removeAll { ($0.second ?? 0) < start } }
      if isLast { return try body(part) }
      guard last > start else {
        limit *= 2
        continue
      }
      // The limit may have cut the last second.
      part.removeAll { ($0.second ?? 0) >= last }
      try body(part)
      start = last
    }
  }
}
