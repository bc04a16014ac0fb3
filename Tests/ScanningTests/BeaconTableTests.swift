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

  /// Records that a beacon was received, and returns what is kept of it.
  @discardableResult
  private func receive(_ number: Int, at time: Int, in table: inout BeaconTable<Int>) -> Int {
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
    #expect(receive(5, at: 0, in: &table) == 5)
    #expect(receive(6, at: 1, in: &table) == 6)
    table.update(beacon(5), at: MonotonicTime(nanoseconds: 2)) {
      0
    } update: {
      $0 += 100
    }
    #expect(receive(5, at: 2, in: &table) == 105)
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
      receive(number, at: number, in: &table)
      #expect(table.entries.count <= table.capacity)
    }
    #expect(table.entries.count + table.evictions == 3 * table.capacity)
    #expect(table.beaconsReceived == 3 * table.capacity)
  }

  /// The eighth that was received longest ago goes, whenever it came; the others keep their order.
  @Test func theOldestEighthMakesRoom() {
    var table = BeaconTable<Int>(capacity: 16)
    for number in 0..<16 { receive(number, at: number, in: &table) }
    // The first two are received again, so that 2 and 3 are the oldest.
    for number in 0..<2 { receive(number, at: 100 + number, in: &table) }
    receive(16, at: 200, in: &table)
    #expect(table.evictions == 2)
    #expect(table.entries.map(\.state) == [0, 1] + Array(4...16))
    // Who comes back is made anew.
    receive(2, at: 201, in: &table)
    #expect(table.entries.last?.beacon == beacon(2))
    #expect(table.beaconsReceived == 18)
    for number in [0, 1, 4, 15, 16, 2] {
      #expect(receive(number, at: 300, in: &table) == number)
    }
    #expect(table.entries.count == 16)
    for entry in table.entries {
      #expect(entry.beacon == beacon(entry.state))
    }
  }

  /// Of beacons received at the same time, those that came first go.
  @Test func equalTimes() {
    var table = BeaconTable<Int>(capacity: 16)
    for number in 0..<17 { receive(number, at: 5, in: &table) }
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
      #expect(receive(number, at: time, in: &table) == number, "seed \(seed)")
      #expect(table.beaconsReceived == known.count, "seed \(seed)")
      if random.next() % 500 == 0 {
        table.removeAll { $0.state % 3 == 0 }
        known.removeAll { $0 % 3 == 0 }
      }
    }
    #expect(table.entries.map(\.state) == known, "seed \(seed)")
    for number in known { #expect(receive(number, at: 9999, in: &table) == number, "seed \(seed)") }
    #expect(table.entries.map(\.state) == known, "seed \(seed)")
    table.removeAll { _ in false }
    #expect(table.entries.count == known.count)
    table.removeAll { _ in true }
    #expect(table.entries.isEmpty)
    #expect(receive(1, at: 0, in: &table) == 1)
  }

  /// A million invented beacons: the table stays as large as was said.
  @Test func aMillionIdentities() {
    var table = BeaconTable<Int>(capacity: 512)
    var most = 0
    for number in 0..<1_000_000 {
      receive(number, at: number, in: &table)
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
      for time in 0..<5000 { receive(Int(random.next() % 400), at: time / 7, in: &table) }
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

  /// Batches, with beacons that make room and places that are taken again, beside a plain list.
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func batches(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var table = BeaconTable<Int>(capacity: 64)
    var plain: [(number: Int, time: Int, state: Int)] = []
    var evictions = 0
    for round in 0..<300 {
      var sightings: [Sighting] = []
      for step in 0..<Int(random.next() % 8) {
        let time = round * 4 + step / 2
        // Some come often, so that others leave before them.
        let number = Int(random.next() % (random.next() % 2 == 0 ? 40 : 200))
        sightings.append(
          Sighting(
            time: MonotonicTime(nanoseconds: Int64(time)), wallTime: WallClockTime(nanoseconds: 0),
            beacon: beacon(number), measuredPower: -59, rssi: nil,
            address: BluetoothAddress(rawValue: 0), addressType: .public))
        if let index = plain.firstIndex(where: { $0.number == number }) {
          plain[index].time = time
          plain[index].state += 1
          continue
        }
        if plain.count == 64 {
          let oldest = plain.enumerated().sorted {
            ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
          }.prefix(8).map(\.offset)
          plain = plain.enumerated().filter { !oldest.contains($0.offset) }.map(\.element)
          evictions += 8
        }
        plain.append((number, time, number * 1000 + 1))
      }
      var index = 0
      while true {
        // Some sightings are left to the caller.
        index = table.updateKnown(sightings.span, from: index) { state, sighting in
          guard sighting.time.nanoseconds % 7 != 0 else { return false }
          state += 1
          return true
        }
        guard index < sightings.count else { break }
        let sighting = sightings[index]
        table.update(sighting.beacon, at: sighting.time) {
          Int(sighting.beacon.major) * 256_000 + Int(sighting.beacon.minor) * 1000
        } update: { state in
          state += 1
        }
        index += 1
      }
      #expect(table.evictions == evictions, "seed \(seed)")
      #expect(table.count == plain.count, "seed \(seed)")
      if round % 20 == 19 { table.updateAll { $0.state += 0 } }
      if round % 50 == 49 {
        // Some leave, in whatever order the table is.
        table.removeAll { $0.beacon.minor % 9 == 0 }
        plain.removeAll { $0.number % 9 == 0 }
      }
      let isSame = table.entries.elementsEqual(plain) {
        $0.beacon == beacon($1.number) && $0.lastReceived.nanoseconds == Int64($1.time)
          && $0.state == $1.state
      }
      #expect(isSame, "seed \(seed), round \(round)")
    }
    #expect(evictions > 100)
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
