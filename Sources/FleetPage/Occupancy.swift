import Advertising
import Fusion

/// The occupancy of a site's rooms by hour, from the moves in a time.
struct Occupancy {
  struct Room: Encodable, Hashable {
    var room: String
    /// The mean and the largest number of beacons in the room.
    var mean: Double
    var maximum: Int
    /// The beacons that entered.
    var visits: Int
    /// The median length of the visits that ended, in seconds; none if their beginning is not known.
    var medianDwell: Int64?
  }

  struct Hour: Encodable, Hashable {
    /// The beginning, in RFC 3339.
    var hour: String
    var rooms: [Room]
  }

  private struct Tally {
    var seconds: Int64 = 0
    var maximum = 0
    var visits = 0
    var dwells: [Int64] = []
  }

  private struct Present {
    var count = 0
    /// The second up to which the beacons are counted.
    var since: Int64
  }

  static let hour: Int64 = 3600

  private let from: Int64
  private var present: [String: Present] = [:]
  private var tallies: [Int64: [String: Tally]] = [:]

  /// Returns the rooms by hour, from the moves of the time in order, and the place of each beacon now
  /// with the second since which it is there: a beacon without a move may have been there for all of
  /// the time.
  static func hours(
    _ moves: [Move], staying: [BeaconIdentity: (place: Whereabouts, since: Int64)], from: Int64,
    to: Int64
  ) -> [Hour] {
    var occupancy = Occupancy(from: from)
    var entries: [BeaconIdentity: Int64] = [:]
    var seen: Set<BeaconIdentity> = []
    for move in moves where seen.insert(move.beacon).inserted {
      occupancy.add(1, to: move.former, at: from)
    }
    for (beacon, (place, since)) in staying where !seen.contains(beacon) && since <= from {
      occupancy.add(1, to: place, at: from)
    }
    for move in moves where move.former != move.place {
      if let entry = entries[move.beacon], let room = move.former.room {
        occupancy.tally(room, at: move.second) { $0.dwells.append(move.second - entry) }
      }
      occupancy.add(-1, to: move.former, at: move.second)
      occupancy.add(1, to: move.place, at: move.second)
      entries[move.beacon] = move.second
      if let room = move.place.room {
        occupancy.tally(room, at: move.second) { $0.visits += 1 }
      }
    }
    for room in occupancy.present.keys { occupancy.count(room, upTo: to) }
    return occupancy.hours(to: to)
  }

  private init(from: Int64) { self.from = from }

  private mutating func tally(_ room: String, at second: Int64, _ body: (inout Tally) -> Void) {
    body(&tallies[second / Self.hour, default: [:]][room, default: Tally()])
  }

  private mutating func add(_ change: Int, to place: Whereabouts, at second: Int64) {
    guard let room = place.room else { return }
    count(room, upTo: second)
    let count = max(0, present[room, default: Present(since: from)].count + change)
    present[room]?.count = count
    tally(room, at: second) { $0.maximum = max($0.maximum, count) }
  }

  /// Adds the time of the beacons in a room to its hours.
  private mutating func count(_ room: String, upTo second: Int64) {
    var present = present[room] ?? Present(since: from)
    while present.since < second {
      let end = min(second, (present.since / Self.hour + 1) * Self.hour)
      tally(room, at: present.since) { [present] tally in
        tally.seconds += Int64(present.count) * (end - present.since)
        tally.maximum = max(tally.maximum, present.count)
      }
      present.since = end
    }
    self.present[room] = present
  }

  private func hours(to: Int64) -> [Hour] {
    guard from < to else { return [] }
    return (from / Self.hour...(to - 1) / Self.hour).map { number in
      let begin = max(from, number * Self.hour)
      let length = min(to, (number + 1) * Self.hour) - begin
      let rooms = (tallies[number] ?? [:]).sorted { $0.key < $1.key }.compactMap {
        room, tally -> Room? in
        guard tally.maximum > 0 || tally.visits > 0 else { return nil }
        let dwells = tally.dwells.sorted()
        return Room(
          room: room, mean: (100 * Double(tally.seconds) / Double(length)).rounded() / 100,
          maximum: tally.maximum, visits: tally.visits,
          medianDwell: dwells.isEmpty ? nil : dwells[dwells.count / 2])
      }
      return Hour(hour: Seconds.text(number * Self.hour), rooms: rooms)
    }
  }
}
