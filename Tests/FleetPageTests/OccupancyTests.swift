import Advertising
import FleetPicture
import Fusion
import Testing

@testable import FleetPage

@Suite struct OccupancyTests {
  private static let rooms = ["kitchen", "hall", "study"]

  /// Counts the beacons of each room second by second.
  private static func counted(
    _ places: (Int64) -> [Whereabouts], from: Int64, to: Int64
  ) -> [Int64: [String: (seconds: Int64, maximum: Int)]] {
    var hours: [Int64: [String: (seconds: Int64, maximum: Int)]] = [:]
    for second in from..<to {
      for room in rooms {
        let count = places(second).count { $0.room == room }
        var entry = hours[second / 3600]?[room] ?? (0, 0)
        entry.seconds += Int64(count)
        entry.maximum = max(entry.maximum, count)
        hours[second / 3600, default: [:]][room] = entry
      }
    }
    return hours
  }

  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
  func agreesWithACountOfEachSecond(seed: UInt64) throws {
    var random = Random(seed: seed)
    let from = Values.noon - 2000
    let to = Values.noon + 5000
    var moves: [Move] = []
    var staying: [BeaconIdentity: (place: Whereabouts, since: Int64)] = [:]
    var ways: [[(second: Int64, place: Whereabouts)]] = []
    for number in 0..<12 {
      var place = Whereabouts(
        room: Self.rooms.randomElement(using: &random), isOutside: false)
      var way = [(second: from - 50, place: place)]
      var second = from
      while number > 3 {
        second += Int64.random(in: 1...1500, using: &random)
        guard second < to else { break }
        let former = place
        place = Whereabouts(
          room: Bool.random(using: &random) ? Self.rooms.randomElement(using: &random) : nil,
          isOutside: Bool.random(using: &random))
        guard place != former else { continue }
        let move = try #require(
          Move(Values.change(number, former.room, place.room, at: second)))
        moves.append(move)
        way.append((second, place))
      }
      ways.append(way)
      let beacon = try #require(Move(Values.change(number, nil, nil, at: 0))).beacon
      staying[beacon] = (place, way.last?.second ?? 0)
    }
    moves.sort { $0.second < $1.second }
    let hours = Occupancy.hours(moves, staying: staying, from: from, to: to)
    let expected = Self.counted(
      { second in ways.map { way in way.last { $0.second <= second }?.place ?? .unknown } },
      from: from, to: to)
    #expect(hours.count == expected.count)
    for (hour, number) in zip(hours, expected.keys.sorted()) {
      let length = min(to, (number + 1) * 3600) - max(from, number * 3600)
      for room in Self.rooms {
        let found = hour.rooms.first { $0.room == room }
        let (seconds, maximum) = try #require(expected[number]?[room])
        let mean = Double(seconds) / Double(length)
        #expect(abs((found?.mean ?? 0) - mean) < 0.006, "\(hour.hour) \(room)")
        // Two moves of one second may coincide, in either order.
        #expect((maximum...maximum + 1).contains(found?.maximum ?? 0), "\(hour.hour) \(room)")
        let visits = moves.count { $0.second / 3600 == number && $0.place.room == room }
        #expect(found?.visits ?? 0 == visits)
      }
    }
  }

  @Test func measuresDwell() throws {
    let moves = [
      Values.change(1, nil, "kitchen", at: Values.noon),
      Values.change(2, "hall", "kitchen", at: Values.noon + 10),
      Values.change(1, "kitchen", "hall", at: Values.noon + 100),
      Values.change(2, "kitchen", nil, at: Values.noon + 400),
    ].compactMap(Move.init)
    let hours = Occupancy.hours(
      moves, staying: [:], from: Values.noon, to: Values.noon + 3600)
    let kitchen = try #require(hours.first?.rooms.first { $0.room == "kitchen" })
    #expect(kitchen.medianDwell == 390)
    let hall = try #require(hours.first?.rooms.first { $0.room == "hall" })
    #expect(hall.medianDwell == nil, "the beginning of the first visit is not known")
  }

  @Test func countsABeaconThatWasThereBefore() throws {
    let move = try #require(Move(Values.change(1, nil, "kitchen", at: Values.noon - 500)))
    let hours = Occupancy.hours(
      [move.clamped(to: Values.noon)], staying: [:], from: Values.noon, to: Values.noon + 3600)
    #expect(hours.first?.rooms == [.init(room: "kitchen", mean: 1, maximum: 1, visits: 0)])
  }

  @Test func countsABeaconThatStays() throws {
    let move = try #require(Move(Values.change(1, nil, "kitchen", at: 0)))
    let hours = Occupancy.hours(
      [], staying: [move.beacon: (.room("kitchen"), Values.noon - 7200)], from: Values.noon,
      to: Values.noon + 7200)
    #expect(hours.map { $0.rooms.first?.mean } == [1, 1])
  }
}

struct Random: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 29
  }
}
