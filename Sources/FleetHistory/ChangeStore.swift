import DequeModule
package import FleetPicture
import Synchronization

/// The changes of room that a fleet has had.
package protocol ChangeStore: Sendable {
  /// Returns changes of a site, or of one beacon of it, ordered by second and beacon: for each
  /// beacon the last one before `from`, which says where the beacon was at `from`, and those from
  /// `from` to before `to`, in seconds since 1970.
  ///
  /// If there are more than `limit`, it returns the oldest.
  func changes(
    site: String, beacon: String?, from: Int64, to: Int64, limit: Int
  ) throws -> [RoomChange]
}

extension ChangeStore {
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

/// The newest changes of a fleet without a database, in memory.
package final class MemoryChangeStore: ChangeStore {
  private struct Key: Hashable {
    var site: String
    var beacon: String
  }

  private struct State {
    var changes: [String: [String: [(second: Int64, change: RoomChange)]]] = [:]
    /// The beacon of each change, in the order in which they came.
    var order: Deque<Key> = []

    /// Removes the oldest change, but rather one that is not the only one of its beacon: that one
    /// says where the beacon is.
    mutating func removeOldest() {
      for attempt in 0..<16 {
        guard let key = order.popFirst() else { return }
        guard var list = changes[key.site]?.removeValue(forKey: key.beacon) else { continue }
        if list.count == 1, attempt < 15 {
          changes[key.site]?[key.beacon] = list
          order.append(key)
          continue
        }
        list.removeFirst()
        if !list.isEmpty { changes[key.site]?[key.beacon] = list }
        if changes[key.site]?.isEmpty == true { changes[key.site] = nil }
        return
      }
    }
  }

  private let state = Mutex(State())
  private let limit: Int

  package init(limit: Int = 100_000) { self.limit = max(1, limit) }

  /// Adds a change that is not there yet. The oldest gives way to it.
  package func add(_ change: RoomChange) {
    guard let second = change.second else { return }
    let key = Key(site: change.site, beacon: change.beacon)
    state.withLock { state in
      var list = state.changes[key.site]?[key.beacon] ?? []
      let place = list.firstIndex { $0.second >= second } ?? list.count
      guard place == list.count || list[place].second > second else { return }
      list.insert((second, change), at: place)
      state.changes[key.site, default: [:]][key.beacon] = list
      state.order.append(key)
      if state.order.count > limit { state.removeOldest() }
    }
  }

  package func changes(
    site: String, beacon: String?, from: Int64, to: Int64, limit: Int
  ) throws -> [RoomChange] {
    let found = state.withLock { state in
      let beacons = state.changes[site] ?? [:]
      let lists = beacon.map { [beacons[$0] ?? []] } ?? Array(beacons.values)
      return lists.flatMap { list in
        let first = list.lastIndex { $0.second < from } ?? 0
        return list[first...].filter { $0.second < to || $0.second < from }
      }
    }
    return found.sorted { ($0.second, $0.change.beacon) < ($1.second, $1.change.beacon) }
      .prefix(max(0, limit)).map(\.change)
  }
}

/// The changes in a database. Calls take turns, on one connection.
package final class DatabaseChangeStore: ChangeStore {
  private let configuration: DatabaseConfiguration
  private let database = Mutex<HistoryDatabase?>(nil)

  package init(_ configuration: DatabaseConfiguration) { self.configuration = configuration }

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
