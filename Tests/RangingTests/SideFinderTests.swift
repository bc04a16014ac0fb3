import Advertising
import Ranging
import RealModule
import Scanning
import Testing

/// Two adapters that receive the same adverts, each with its own fading and losses.
@Suite struct SideFinderTests {
  /// What two adapters receive of a beacon, which sends ten times a second.
  struct Scene {
    /// The mean signal in dBm at a moment, by the adapter on the left and by that on the right; `nil` for nothing.
    var levels: (Double) -> (left: Double?, right: Double?)
    /// How much stronger than true the left adapter receives, and what is subtracted for that, in dB.
    var offset = 0.0
    var subtracted = 0.0
    /// Until when the left adapter receives another beacon once a second, in seconds.
    var leftReceivesOthersUntil = 0.0
    var fading = Fading.indoor

    /// Returns the side once a second.
    func sides(seconds: Int, seed: UInt64) -> [Side?] {
      var radios = [Radio(fading, seed: 2 * seed), Radio(fading, seed: 2 * seed + 1)]
      var finder = SideFinder(Sides(left: .number(0), right: .number(100)), maximumBeacons: 8)
      var sides: [Side?] = []
      for step in 1...10 * seconds {
        let time = Double(step) / 10
        let (left, right) = levels(time)
        for (index, level) in [left.map { $0 + offset }, right].enumerated() {
          guard let rssi = radios[index].packet(after: 0.1, mean: level ?? 0), level != nil else {
            continue
          }
          var sighting = SideFinderTests.sighting(time, Int8(rssi), adapter: UInt16(100 * index))
          if index == 0 { sighting.subtract(offset: subtracted) }
          finder.receive(sighting)
        }
        guard step % 10 == 0 else { continue }
        if time <= leftReceivesOthersUntil {
          finder.receive(SideFinderTests.sighting(time, -80, adapter: 0, minor: 2))
        }
        sides.append(
          finder.side(of: SideFinderTests.beacon(1), at: SideFinderTests.moment(time)))
      }
      return sides
    }
  }

  static func moment(_ seconds: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: nanoseconds(seconds))
  }

  static func beacon(_ minor: UInt16) -> BeaconIdentity {
    BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 1, minor: minor)
  }

  static func sighting(
    _ seconds: Double, _ rssi: Int8?, adapter: UInt16, minor: UInt16 = 1
  ) -> Sighting {
    Sighting(
      time: moment(seconds), wallTime: moment(seconds).wallClockTime(.zero),
      beacon: beacon(minor), measuredPower: -59, rssi: rssi,
      address: BluetoothAddress(rawValue: 1), addressType: .random, adapter: adapter)
  }

  /// The level of a beacon at a place before adapters that stand 4 m apart, 2 m away from their line.
  private static func level(x: Double, adapter: Double) -> Double {
    -59 - 10 * Double.log10((x - adapter) * (x - adapter) + 4)
  }

  @Test(arguments: 1...20)
  func theStrongerSideIsNamed(seed: UInt64) {
    let left = Scene(levels: { _ in (-60, -70) }).sides(seconds: 60, seed: seed)
    #expect(left.dropFirst(5).allSatisfy { $0 == .left }, "\(left)")
    let right = Scene(levels: { _ in (-75, -65) }).sides(seconds: 60, seed: seed)
    #expect(right.dropFirst(5).allSatisfy { $0 == .right }, "\(right)")
  }

  @Test func equalSignalsLieBetween() {
    let sides = (1...20 as ClosedRange<UInt64>).flatMap {
      Scene(levels: { _ in (-65, -65) }).sides(seconds: 60, seed: $0).dropFirst(5)
    }
    let share = Double(sides.count { $0 == .between }) / Double(sides.count)
    #expect(share > 0.9, "\(share)")
  }

  /// A difference right at the limit does not make the side flap.
  @Test func aStillBeaconSeldomChangesSides() {
    let changes = (1...20 as ClosedRange<UInt64>).map { seed in
      let sides = Scene(levels: { _ in (-62, -65) }).sides(seconds: 300, seed: seed).dropFirst(5)
      return zip(sides, sides.dropFirst()).count { $0 != $1 }
    }
    let rate = Double(changes.reduce(0, +)) / 20 / 5
    #expect(rate < 0.5, "\(rate) changes a minute")
  }

  @Test func theOtherSideIsNamedWhenABeaconWalksPast() {
    var (before, after): ([Side?], [Side?]) = ([], [])
    for seed in 1...20 as ClosedRange<UInt64> {
      // At 1 m/s from 5 m on the left to 5 m on the right, where it stays.
      let sides = Scene(levels: { time in
        let x = min(5, max(-5, time - 15))
        return (Self.level(x: x, adapter: -2), Self.level(x: x, adapter: 2))
      }).sides(seconds: 60, seed: seed)
      before += sides[5..<12]
      after += sides[20...]
    }
    #expect(before.count { $0 == .left } * 10 > before.count * 9, "\(before)")
    #expect(after.count { $0 == .right } * 10 > after.count * 9, "\(after)")
    #expect(!before.contains(.right) && !after.contains(.left))
  }

  @Test(arguments: 1...10)
  func anOffsetThatIsNotSubtractedTurnsTheSideRound(seed: UInt64) {
    var scene = Scene(levels: { _ in (-68, -60) }, offset: 16)
    let wrong = scene.sides(seconds: 40, seed: seed)
    #expect(wrong.dropFirst(5).allSatisfy { $0 == .left }, "\(wrong)")
    scene.subtracted = 16
    let right = scene.sides(seconds: 40, seed: seed)
    #expect(right.dropFirst(5).allSatisfy { $0 == .right }, "\(right)")
  }

  /// An adapter that receives nothing may be unplugged; one that receives others is out of this beacon's reach.
  @Test func aBeaconOfOneAdapterAloneHasASideIfTheOtherReceivesOthers() {
    var scene = Scene(levels: { time in (time < 30 ? -60 : nil, -60) })
    let silent = scene.sides(seconds: 60, seed: 1)
    #expect(silent[5..<30].allSatisfy { $0 == .between }, "\(silent)")
    #expect(silent[36...].allSatisfy { $0 == nil }, "\(silent)")
    scene.leftReceivesOthersUntil = 45
    let alone = scene.sides(seconds: 60, seed: 1)
    #expect(alone[36..<45].allSatisfy { $0 == .right }, "\(alone)")
    #expect(alone[51...].allSatisfy { $0 == nil }, "\(alone)")
    scene.levels = { _ in (nil, -80) }
    let never = scene.sides(seconds: 60, seed: 1)
    #expect(never[2..<45].allSatisfy { $0 == .right } && never[0] == nil, "\(never)")
  }

  @Test func nothingIsKnownAtFirstNorLater() {
    let scene = Scene(levels: { time in time < 20 ? (-60, -70) : (nil, nil) })
    let sides = scene.sides(seconds: 40, seed: 3)
    #expect(sides[10] == .left && sides[26...].allSatisfy { $0 == nil }, "\(sides)")
    let finder = SideFinder(Sides(left: .number(0), right: .number(1)), maximumBeacons: 8)
    #expect(finder.side(of: Self.beacon(1), at: Self.moment(1)) == nil)
  }

  /// Signals of a third adapter, and sightings without a signal, change nothing.
  @Test func onlyMeasuredSignalsOfTheTwoCount() {
    var finder = SideFinder(Sides(left: .number(0), right: .number(1)), maximumBeacons: 8)
    for step in 0..<100 {
      let time = Double(step) / 10
      finder.receive(Self.sighting(time, nil, adapter: 0))
      finder.receive(Self.sighting(time, nil, adapter: 1))
      finder.receive(Self.sighting(time, -40, adapter: 2))
    }
    #expect(finder.side(of: Self.beacon(1), at: Self.moment(10)) == nil)
  }

  @Test func addressesAreFoundByTheReceiversStates() throws {
    let left = try #require(BluetoothAddress("00:AA:01:00:00:01"))
    let right = try #require(BluetoothAddress("00:AA:01:00:00:02"))
    let other = try #require(BluetoothAddress("00:AA:01:00:00:03"))
    var finder = SideFinder(
      Sides(left: .address(left), right: .address(right)), maximumBeacons: 8)
    var now = 0.0
    func report(
      _ address: BluetoothAddress, _ adapter: String, _ condition: ScannerHealth.Condition
    ) {
      finder.update(
        ScannerHealth(
          condition, at: Self.moment(now), adapter: adapter, address: address,
          isReceptionLost: false, sentence: ""))
    }
    /// The side after twenty seconds in which hci3 receives a beacon 20 dB stronger than hci5.
    func side() -> Side? {
      for step in 1...200 {
        finder.receive(Self.sighting(now + Double(step) / 10, -50, adapter: 3))
        finder.receive(Self.sighting(now + Double(step) / 10, -70, adapter: 5))
      }
      now += 20
      return finder.side(of: Self.beacon(1), at: Self.moment(now))
    }
    #expect(side() == nil)
    report(left, "hci3", .scanning)
    report(right, "hci5", .scanning)
    #expect(side() == .left)
    report(right, "hci5", .removed)
    #expect(side() == nil)
    report(right, "hci3", .scanning)
    report(left, "hci5", .scanning)
    #expect(side() == .right)
    report(other, "hci5", .scanning)
    #expect(side() == nil)
  }

  @Test func theNumberOfBeaconsIsBounded() {
    var finder = SideFinder(Sides(left: .number(0), right: .number(1)), maximumBeacons: 8)
    func receive(_ minor: UInt16, at time: Double) {
      finder.receive(Self.sighting(time, -50, adapter: 0, minor: minor))
      finder.receive(Self.sighting(time, -70, adapter: 1, minor: minor))
    }
    for step in 0..<300 {
      for minor in 0..<8 as Range<UInt16> { receive(minor, at: Double(step) / 100) }
    }
    for step in 0..<100 { receive(8, at: 3 + Double(step) / 100) }
    // The ninth took the place of the one received longest ago.
    let known = (0..<9 as Range<UInt16>).filter {
      finder.side(of: Self.beacon($0), at: Self.moment(4)) == .left
    }
    #expect(known == Array(1...8))
    finder.removeAll()
    #expect(finder.side(of: Self.beacon(8), at: Self.moment(4)) == nil)
  }
}
