import Advertising
import Scanning
import TestSupport
import Testing

/// What is known of each beacon, in bounded memory.
@Suite struct BeaconTableTests {
  private func beacon(_ number: Int) -> BeaconIdentity {
    BeaconIdentity(
      uuid: ProximityUUID(high: UInt64(number >> 20), low: 7),
      major: UInt16(truncatingIfNeeded: number >> 8), minor: UInt16(number & 0xFF))
  }

  /// Notes that a beacon was heard, and gives what is kept of it.
  @discardableResult
  private func hear(_ number: Int, at time: Int, in table: inout BeaconTable<Int>) -> Int {
    var kept = -1
    table.update(beacon(number), at: MonotonicTime(nanoseconds: Int64(time))) {
      number
    } update: {
      kept = $0
    }
    return kept
  }

  @Test func findsWhatItMade() {
    var table = BeaconTable<Int>(capacity: 100)
    #expect(hear(5, at: 0, in: &table) == 5)
    #expect(hear(6, at: 1, in: &table) == 6)
    table.update(beacon(5), at: MonotonicTime(nanoseconds: 2)) {
      0
    } update: {
      $0 += 100
    }
    #expect(hear(5, at: 2, in: &table) == 105)
    #expect(table.entries.map(\.beacon) == [beacon(5), beacon(6)])
    #expect(table.entries.map(\.lastReceived.nanoseconds) == [2, 1])
    #expect(table.entries.map(\.state) == [105, 6])
    #expect(table.beaconsReceived == 2 && table.evictions == 0)
    table.updateAll { $0.state += 1 }
    #expect(table.entries.map(\.state) == [106, 7])
  }

  @Test(arguments: [-1, 0, 1, 7, 8, 9, 1000])
  func capacity(asked: Int) {
    var table = BeaconTable<Int>(capacity: asked)
    #expect(table.capacity == max(8, asked))
    for number in 0..<(3 * table.capacity) {
      hear(number, at: number, in: &table)
      #expect(table.entries.count <= table.capacity)
    }
    #expect(table.entries.count + table.evictions == 3 * table.capacity)
    #expect(table.beaconsReceived == 3 * table.capacity)
  }

  /// The eighth that was heard longest ago goes, whenever it came; the others keep their order.
  @Test func theOldestEighthMakesRoom() {
    var table = BeaconTable<Int>(capacity: 16)
    for number in 0..<16 { hear(number, at: number, in: &table) }
    // The first two are heard again, so that 2 and 3 are the oldest.
    for number in 0..<2 { hear(number, at: 100 + number, in: &table) }
    hear(16, at: 200, in: &table)
    #expect(table.evictions == 2)
    #expect(table.entries.map(\.state) == [0, 1] + Array(4...16))
    // Who comes back is made anew.
    hear(2, at: 201, in: &table)
    #expect(table.entries.last?.beacon == beacon(2))
    #expect(table.beaconsReceived == 18)
    for number in [0, 1, 4, 15, 16, 2] {
      #expect(hear(number, at: 300, in: &table) == number)
    }
    #expect(table.entries.count == 16)
    for entry in table.entries {
      #expect(entry.beacon == beacon(entry.state))
    }
  }

  /// Of beacons heard at the same time, those that came first go.
  @Test func equalTimes() {
    var table = BeaconTable<Int>(capacity: 16)
    for number in 0..<17 { hear(number, at: 5, in: &table) }
    #expect(table.entries.map(\.state) == Array(2...16))
  }

  /// Through every growth of the table, and after some were forgotten, each is found in its place.
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func growthAndRemoval(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var table = BeaconTable<Int>(capacity: 5000)
    var known: [Int] = []
    for time in 0..<3000 {
      let number = Int(random.next() % 100_000)
      if !known.contains(number) { known.append(number) }
      #expect(hear(number, at: time, in: &table) == number, "seed \(seed)")
      #expect(table.beaconsReceived == known.count, "seed \(seed)")
      if random.next() % 500 == 0 {
        table.removeAll { $0.state % 3 == 0 }
        known.removeAll { $0 % 3 == 0 }
      }
    }
    #expect(table.entries.map(\.state) == known, "seed \(seed)")
    for number in known { #expect(hear(number, at: 9999, in: &table) == number, "seed \(seed)") }
    #expect(table.entries.map(\.state) == known, "seed \(seed)")
    table.removeAll { _ in false }
    #expect(table.entries.count == known.count)
    table.removeAll { _ in true }
    #expect(table.entries.isEmpty)
    #expect(hear(1, at: 0, in: &table) == 1)
  }

  /// A million invented beacons: the table stays as large as was said.
  @Test func aMillionIdentities() {
    var table = BeaconTable<Int>(capacity: 512)
    var most = 0
    for number in 0..<1_000_000 {
      hear(number, at: number, in: &table)
      most = max(most, table.count)
    }
    #expect(most == 512)
    #expect(table.beaconsReceived == 1_000_000)
  }

  /// What the table shows is the same each time, though each table draws its own hash seed.
  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func nothingDependsOnTheHashSeed(seed: UInt64) {
    func run() -> (states: [Int], evictions: Int) {
      var random = SplitMix64(seed: seed)
      var table = BeaconTable<Int>(capacity: 200)
      for time in 0..<5000 { hear(Int(random.next() % 400), at: time / 7, in: &table) }
      return (table.entries.map(\.state), table.evictions)
    }
    let first = run()
    #expect(first.evictions > 0)
    for _ in 0..<5 {
      let again = run()
      let isSame = again.states == first.states && again.evictions == first.evictions
      #expect(isSame, "seed \(seed)")
    }
  }

  /// Identities that differ in one bit only are told apart.
  @Test func neighbours() {
    var table = BeaconTable<Int>(capacity: 1000)
    var identities = [BeaconIdentity(uuid: ProximityUUID(high: 0, low: 0), major: 0, minor: 0)]
    for bit in 0..<64 {
      for uuid in [ProximityUUID(high: 1 << bit, low: 0), ProximityUUID(high: 0, low: 1 << bit)] {
        identities.append(BeaconIdentity(uuid: uuid, major: 0, minor: 0))
      }
    }
    for bit in 0..<16 {
      let uuid = ProximityUUID(high: 0, low: 0)
      identities.append(BeaconIdentity(uuid: uuid, major: 1 << bit, minor: 0))
      identities.append(BeaconIdentity(uuid: uuid, major: 0, minor: 1 << bit))
    }
    for (place, identity) in identities.enumerated() {
      table.update(identity, at: MonotonicTime(nanoseconds: 0)) {
        place
      } update: {
        #expect($0 == place)
      }
    }
    #expect(table.entries.map(\.beacon) == identities)
  }
}
