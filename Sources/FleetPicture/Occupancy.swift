/// The beacons in a room in an hour, or in the part of it that was asked for.
package struct RoomHour: Codable, Hashable, Sendable {
  /// The hour's first second, since 1970.
  package var hour: Int64
  package var room: String
  /// The mean number of beacons in the room.
  package var mean: Double
  /// The largest number of beacons in the room in a second.
  package var maximum: Int
  /// The beacons that came into the room, each as often as it did.
  package var visits: Int
  /// The median of the visits that ended in the hour, in seconds; `nil` if none did.
  package var medianDwell: Double?
}

/// A beacon's change from one room, or none, to another.
package struct RoomMove<Beacon: Hashable> {
  package var second: Int64
  package var beacon: Beacon
  package var former: String?
  package var room: String?

  package init(_ beacon: Beacon, from former: String?, to room: String?, at second: Int64) {
    self.second = second
    self.beacon = beacon
    self.former = former
    self.room = room
  }
}

extension RoomHour {
  /// Computes occupancy from a site's changes: for each beacon the last one before `from`, and all
  /// from `from` to before `to`.
  package static func hours(_ changes: [RoomChange], from: Int64, to: Int64) -> [RoomHour] {
    let moves = changes.compactMap { change in
      change.second.map { RoomMove(change.beacon, from: change.former, to: change.room, at: $0) }
    }
    return hours(moves, from: from, to: to)
  }

  /// Computes occupancy from a site's moves: for each beacon the last one before `from`, and all from
  /// `from` to before `to`.
  ///
  /// A beacon is in its room from the second of its move on, and no longer in the second of the next
  /// one. One without a move before `from` was in the former room of its first move since an unknown
  /// time: this visit has no length. Hours in which a room had neither a beacon nor the end of a visit
  /// are left out.
  package static func hours<Beacon>(
    _ moves: [RoomMove<Beacon>], from: Int64, to: Int64
  ) -> [RoomHour] {
    let from = min(max(from, RoomChange.seconds.lowerBound), RoomChange.seconds.upperBound)
    let to = min(max(to, from), RoomChange.seconds.upperBound)
    var meter = OccupancyMeter<Beacon>(from: from, to: to)
    let ordered = moves.enumerated().sorted {
      ($0.element.second, $0.offset) < ($1.element.second, $1.offset)
    }.map(\.element)
    var known: Set<Beacon> = []
    for move in ordered where known.insert(move.beacon).inserted && move.second >= from {
      meter.begin(move.beacon, in: move.former)
    }
    for move in ordered where move.second < to { meter.add(move) }
    return meter.end()
  }
}

private struct OccupancyMeter<Beacon: Hashable> {
  private struct Room {
    var count = 0
    /// The second up to which the count is in the hours.
    var second: Int64
    var hours: [Int64: Hour] = [:]

    /// Counts the beacons up to a second.
    mutating func advance(to end: Int64) {
      while second < end {
        let hour = second - second % 3600
        let next = min(end, hour + 3600)
        if count > 0 {
          hours[hour, default: Hour()].sum += Int64(count) * (next - second)
          hours[hour, default: Hour()].maximum = max(hours[hour]?.maximum ?? 0, count)
        }
        second = count > 0 ? next : end
      }
    }
  }

  private struct Hour {
    /// Beacons × seconds.
    var sum: Int64 = 0
    var maximum = 0
    var visits = 0
    var dwells: [Int64] = []
  }

  private struct Stay {
    var room: String?
    var since: Int64?
  }

  private let from: Int64
  private let to: Int64
  private var rooms: [String: Room] = [:]
  private var stays: [Beacon: Stay] = [:]
  /// The rooms after the moves of the current second, by beacon.
  private var current: [Beacon: String?] = [:]
  private var second: Int64 = .min

  init(from: Int64, to: Int64) {
    (self.from, self.to) = (from, to)
  }

  /// Notes where a beacon was before the range, since an unknown time.
  mutating func begin(_ beacon: Beacon, in room: String?) {
    stays[beacon] = Stay(room: room)
    if let room { count(room, by: 1, at: from) }
  }

  /// Adds a move, which is not earlier than those before. Of a beacon's moves in one second the last
  /// one counts.
  mutating func add(_ move: RoomMove<Beacon>) {
    if move.second != second {
      finishSecond()
      second = move.second
    }
    current[move.beacon] = .some(move.room)
  }

  mutating func end() -> [RoomHour] {
    finishSecond()
    for name in rooms.keys { count(name, by: 0, at: to) }
    return rooms.flatMap { name, room in
      room.hours.map { hour, value in
        RoomHour(
          hour: hour, room: name,
          mean: Double(value.sum) / Double(min(hour + 3600, to) - max(hour, from)),
          maximum: value.maximum, visits: value.visits, medianDwell: value.dwells.median)
      }
    }.sorted { ($0.hour, $0.room) < ($1.hour, $1.room) }
  }

  private mutating func finishSecond() {
    let second = second
    for (beacon, room) in current {
      let stay = stays[beacon]
      guard stay?.room != room else { continue }
      stays[beacon] = Stay(room: room, since: second)
      if let former = stay?.room {
        count(former, by: -1, at: second)
        if second >= from, let since = stay?.since {
          note(former) { $0.dwells.append(second - since) }
        }
      }
      if let room {
        count(room, by: 1, at: second)
        if second >= from { note(room) { $0.visits += 1 } }
      }
    }
    current.removeAll(keepingCapacity: true)
  }

  private mutating func note(_ room: String, _ body: (inout Hour) -> Void) {
    let hour = second - second % 3600
    body(&rooms[room, default: Room(second: from)].hours[hour, default: Hour()])
  }

  /// Changes the number of a room's beacons from a second on.
  private mutating func count(_ name: String, by change: Int, at second: Int64) {
    rooms[name, default: Room(second: from)].advance(to: second)
    rooms[name]?.count += change
  }
}

extension [Int64] {
  fileprivate var median: Double? {
    guard !isEmpty else { return nil }
    let values = sorted()
    return (Double(values[(count - 1) / 2]) + Double(values[count / 2])) / 2
  }
}
