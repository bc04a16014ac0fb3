import TestSupport
import Testing

@testable import FleetPicture

@Suite struct OccupancyTests {
  private static let hour: Int64 = 3600 * 500_000

  private func change(
    _ beacon: String, _ former: String?, _ room: String?, at second: Int64
  ) -> RoomChange {
    RoomChange(beacon: beacon, former: former, room: room, at: Self.hour + second)
  }

  private func hours(
    _ changes: [RoomChange], from: Int64 = 0, to: Int64 = 3600
  ) -> [RoomHour] {
    RoomHour.hours(changes, from: Self.hour + from, to: Self.hour + to)
  }

  @Test func countsABeaconThatIsThereBeforeAndAfter() {
    #expect(
      hours([change("a", nil, "hall", at: -7200)]) == [
        RoomHour(
          hour: Self.hour, room: "hall", mean: 1, maximum: 1, visits: 0, medianDwell: nil)
      ])
  }

  @Test func countsVisitsAndTheirLengths() {
    let changes = [
      change("a", nil, "hall", at: -100), change("a", "hall", "shop", at: 900),
      change("a", "shop", "hall", at: 1800),
    ]
    #expect(
      hours(changes) == [
        RoomHour(
          hour: Self.hour, room: "hall", mean: 0.75, maximum: 1, visits: 1, medianDwell: 1000),
        RoomHour(
          hour: Self.hour, room: "shop", mean: 0.25, maximum: 1, visits: 1, medianDwell: 900),
      ])
  }

  /// One leaves in the second in which another comes.
  @Test func countsNobodyTwiceInASecond() {
    let changes = [
      change("a", nil, "hall", at: -1), change("b", nil, "hall", at: 1800),
      change("a", "hall", nil, at: 1800),
    ]
    let found = hours(changes)
    #expect(found.map(\.maximum) == [1])
    #expect(found.map(\.mean) == [1])
    #expect(found.map(\.medianDwell) == [1801])
  }

  @Test func takesTheFormerRoomIfNothingIsKnownBefore() {
    let found = hours([change("a", "hall", nil, at: 1800)])
    #expect(
      found == [
        RoomHour(
          hour: Self.hour, room: "hall", mean: 0.5, maximum: 1, visits: 0, medianDwell: nil)
      ])
  }

  @Test func dividesHoursAndPartsOfHours() {
    let found = hours([change("a", nil, "hall", at: 3000)], from: 2400, to: 5400)
    #expect(
      found == [
        RoomHour(
          hour: Self.hour, room: "hall", mean: 0.5, maximum: 1, visits: 1, medianDwell: nil),
        RoomHour(
          hour: Self.hour + 3600, room: "hall", mean: 1, maximum: 1, visits: 0, medianDwell: nil),
      ])
  }

  /// A visit counts in the hour in which it ends, also if it ends with the hour before.
  @Test func countsAVisitThatEndsWithAnHour() {
    let found = hours(
      [change("a", nil, "hall", at: 3000), change("a", "hall", nil, at: 3600)], to: 7200)
    #expect(found.map(\.medianDwell) == [nil, 600])
    #expect(found.map(\.mean) == [1.0 / 6, 0])
  }

  @Test(arguments: [Int64.min, -1, 0, .max])
  func acceptsAnyTimes(_ time: Int64) {
    let changes = [
      RoomChange(beacon: "a", former: "hall", room: "hall", at: time),
      RoomChange(beacon: "a", former: "hall", room: nil, at: .max),
    ]
    #expect(RoomHour.hours(changes, from: time, to: time).isEmpty)
    #expect(RoomHour.hours(changes, from: .max, to: .min).isEmpty)
  }

  /// Compares with a count of each second of each beacon.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func agreesWithACountOfSeconds(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let rooms: [String?] = ["hall", "shop", "store", nil]
    var changes: [RoomChange] = []
    // Few beacons and short times, so that many changes fall on one second or on a limit.
    for beacon in 0..<Int.random(in: 1...6, using: &random) {
      var second = Int64.random(in: -4000...4000, using: &random)
      var room = rooms.randomElement(using: &random) ?? nil
      if Bool.random(using: &random) { room = nil }
      while second < 9000 {
        let next = rooms.filter { $0 != room }.randomElement(using: &random) ?? nil
        changes.append(change("\(beacon)", room, next, at: second))
        room = next
        let most = Int64([1, 60, 4000].randomElement(using: &random) ?? 1)
        second += Int64.random(in: 1...most, using: &random)
      }
    }
    let from = Int64.random(in: 0...1800, using: &random)
    let to = from + Int64.random(in: 1...7200, using: &random)
    // As a store returns them.
    let last = Dictionary(
      changes.filter { ($0.second ?? 0) < Self.hour + from }.map { ($0.beacon, $0.id) }
    ) { $1 }
    let stored = changes.filter { change in
      let second = (change.second ?? 0) - Self.hour
      return second < to && (second >= from || last[change.beacon] == change.id)
    }
    #expect(
      hours(stored.shuffled(using: &random), from: from, to: to)
        == count(changes, from: from, to: to), "\(seed)")
  }

  private func count(_ changes: [RoomChange], from: Int64, to: Int64) -> [RoomHour] {
    struct Key: Hashable {
      var hour: Int64
      var room: String
    }
    struct Values {
      var counts: [Int] = []
      var visits = 0
      var dwells: [Int64] = []
    }
    var values: [Key: Values] = [:]
    // The room of each beacon in each second, from one before, and since when it is there.
    var rooms = Array(repeating: [String](), count: Int(to - from))
    for list in Dictionary(grouping: changes, by: \.beacon).values {
      let steps = list.map { (second: ($0.second ?? 0) - Self.hour, room: $0.room) }
      guard steps[0].second < to else { continue }
      func place(_ second: Int64) -> (room: String?, since: Int64?) {
        steps.last { $0.second <= second }.map { ($0.room, $0.second) } ?? (list[0].former, nil)
      }
      var before = place(from - 1)
      for second in from..<to {
        let now = place(second)
        if let room = now.room { rooms[Int(second - from)].append(room) }
        if now.room != before.room {
          if let room = now.room {
            values[Key(hour: second / 3600, room: room), default: Values()].visits += 1
          }
          if let room = before.room, let since = before.since {
            values[Key(hour: second / 3600, room: room), default: Values()].dwells
              .append(second - since)
          }
        }
        before = now
      }
    }
    for (index, rooms) in rooms.enumerated() {
      for (room, all) in Dictionary(grouping: rooms, by: \.self) {
        values[Key(hour: (from + Int64(index)) / 3600, room: room), default: Values()].counts
          .append(all.count)
      }
    }
    return values.map { key, value in
      let seconds = (from..<to).count { $0 / 3600 == key.hour }
      let sorted = value.dwells.sorted()
      let median =
        sorted.isEmpty
        ? nil : Double(sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
      return RoomHour(
        hour: Self.hour + key.hour * 3600, room: key.room,
        mean: Double(value.counts.reduce(0, +)) / Double(seconds),
        maximum: value.counts.max() ?? 0, visits: value.visits, medianDwell: median)
    }.sorted { ($0.hour, $0.room) < ($1.hour, $1.room) }
  }
}
