import Advertising
import Scanning
import TestSupport
import Testing

/// Several adapters, one beacon. Each scene draws its adverts, and each adapter loses and blurs its own.
@Suite struct AdapterChoiceTests {
  /// What an adapter makes of a beacon's adverts.
  struct Ear {
    var adapter: UInt16
    /// The mean signal in dBm at a moment.
    var level: @Sendable (Double) -> Double
    var loss = 0.1
    /// How long after the advert its report comes, in seconds.
    var delay = 0.0
    /// When it hears at all.
    var hears: @Sendable (Double) -> Bool = { _ in true }

    init(
      _ adapter: UInt16, _ level: Double, loss: Double = 0.1, delay: Double = 0,
      hears: @escaping @Sendable (Double) -> Bool = { _ in true }
    ) {
      self.adapter = adapter
      self.level = { _ in level }
      (self.loss, self.delay, self.hears) = (loss, delay, hears)
    }
  }

  /// The sightings of all ears until a moment, in order; those of them that count at all; and those whose signal
  /// counts too.
  private func run(
    _ ears: [Ear], interval: Double = 0.1, until end: Double = 120, deviation: Double = 4,
    seed: UInt64
  ) -> (all: [Sighting], present: [Sighting], counted: [Sighting]) {
    var random = SplitMix64(seed: seed)
    var all: [Sighting] = []
    var time = 0.0
    while time < end {
      for ear in ears {
        let noise = (0..<12).reduce(-6.0) { sum, _ in sum + random.uniform() }
        guard ear.hears(time), random.uniform() >= ear.loss else { continue }
        let rssi = Int8(max(-127, (ear.level(time) + deviation * noise).rounded()))
        all.append(Self.sighting(time + ear.delay, rssi, ear.adapter))
      }
      time += interval + 0.01 * random.uniform()
    }
    all.sort { $0.time < $1.time }
    var choice = AdapterChoice()
    let verdicts = all.map { choice.receive($0) }
    let judged = zip(all, verdicts)
    return (
      all, judged.filter { $1 != .passedOver }.map(\.0), judged.filter { $1 == .followed }.map(\.0)
    )
  }

  static func sighting(_ seconds: Double, _ rssi: Int8?, _ adapter: UInt16, minor: UInt16 = 1)
    -> Sighting
  {
    let time = MonotonicTime(nanoseconds: Int64(seconds * 1e9))
    return Sighting(
      time: time, wallTime: time.wallClockTime(.zero),
      beacon: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 1, minor: minor),
      measuredPower: -59, rssi: rssi, address: BluetoothAddress(rawValue: 1), addressType: .random,
      adapter: adapter)
  }

  private func seconds(_ sighting: Sighting) -> Double { Double(sighting.time.nanoseconds) / 1e9 }

  private func longestGap(_ sightings: [Sighting], from: Double = 0) -> Double {
    let times = sightings.map(seconds).filter { $0 >= from }
    return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .infinity
  }

  @Test func oneAdapterIsFollowedAlways() {
    var choice = AdapterChoice()
    for number in 0..<1000 {
      let verdict = choice.receive(
        Self.sighting(Double(number) / 7, -60, 3, minor: UInt16(number % 9)))
      #expect(verdict == .followed)
    }
    #expect(choice.beaconCount == 0)
  }

  @Test(arguments: 1...20)
  func theLouderOneIsFollowed(seed: UInt64) {
    let (all, _, counted) = run(
      [Ear(1, -75, loss: 0.3), Ear(0, -60, delay: 0.0004)], seed: seed)
    let near = all.filter { $0.adapter == 0 }
    let settled = counted.filter { seconds($0) > 2 }
    #expect(settled.count { $0.adapter == 0 } >= near.count { seconds($0) > 2 } - 4)
    #expect(settled.count { $0.adapter == 1 } <= 3)
    let mean = settled.reduce(0.0) { $0 + Double($1.rssi ?? 0) } / Double(settled.count)
    #expect(abs(mean + 60) < 0.5)
  }

  /// However lossy and seldom, and whichever report comes first.
  @Test(arguments: [0.02, 0.1, 0.3, 1, 3, 10], [0.0, 0.3, 0.5])
  func noneIsFollowedOftenThatIsNotLouder(interval: Double, loss: Double) {
    for (seed, delay) in [(1, 0.0), (2, 0.0004), (3, -0.0004)] as [(UInt64, Double)] {
      let (all, present, counted) = run(
        [Ear(0, -60, loss: loss), Ear(1, -80, loss: loss, delay: delay)], interval: interval,
        until: interval * 2000, seed: seed)
      let others = counted.count { $0.adapter == 1 }
      #expect(Double(others) <= 0.01 * Double(all.count), "\(others) of \(counted.count)")
      #expect(present.count >= all.count { $0.adapter == 0 } * 49 / 50)
    }
  }

  @Test(arguments: 1...20)
  func whenOneDiesTheOtherTakesOver(seed: UInt64) {
    let (_, present, counted) = run(
      [
        Ear(0, -60, hears: { $0 < 30 || $0 > 60 }), Ear(1, -75, loss: 0.2, delay: 0.0004),
      ], seed: seed)
    #expect(longestGap(present) < 1)
    let meanwhile = counted.filter { (31..<60).contains(seconds($0)) }
    #expect(meanwhile.allSatisfy { $0.adapter == 1 } && meanwhile.count > 200)
    // Back, and known to be louder within two seconds.
    let after = counted.filter { seconds($0) > 62 }
    #expect(after.count { $0.adapter == 1 } <= 3 && after.count > 400)
  }

  /// A louder one that heard a single advert does not silence the other for long.
  @Test(arguments: [0.1, 0.02, 0.5])
  func oneThatHeardOnceGivesWay(interval: Double) {
    // It comes second: the first of all is followed without being remembered.
    let once = Ear(0, -60, loss: 0, delay: 0.0004, hears: { $0 < interval / 2 })
    let (_, present, _) = run(
      [Ear(1, -70, loss: 0), once], interval: interval, until: 10, seed: 1)
    #expect(longestGap(present) < 8 * interval + 0.25)
  }

  @Test(arguments: 1...20)
  func aShortDropoutIsFilledAndForgotten(seed: UInt64) {
    let (_, present, counted) = run(
      [Ear(0, -60, hears: { !(30..<33).contains($0) }), Ear(1, -75, delay: 0.0004)], seed: seed)
    #expect(longestGap(present) < 1)
    #expect(counted.count { seconds($0) > 33.3 && $0.adapter == 1 } <= 3)
  }

  /// Two that hear alike are one beacon all the same, and neither is left without need.
  @Test(arguments: 1...10)
  func equalsAreNotMixed(seed: UInt64) {
    let (all, present, counted) = run(
      [Ear(0, -65), Ear(1, -65, delay: 0.0004)], until: 1000, seed: seed)
    let changes = zip(counted, counted.dropFirst()).count { $0.adapter != $1.adapter }
    #expect(changes < 60, "\(changes)")
    #expect(present.count <= all.count * 11 / 20)
    // But for the very first, when nobody knew that there are two.
    let settled = present.filter { seconds($0) > 0.5 }
    let gaps = zip(settled, settled.dropFirst()).map { seconds($1) - seconds($0) }
    // No advert counts twice.
    #expect(gaps.allSatisfy { $0 > 0.05 })
  }

  @Test(arguments: 1...10)
  func whoWalksFromOneToTheOtherIsFollowed(seed: UInt64) {
    var (first, second) = (Ear(0, 0), Ear(1, 0, delay: 0.0004))
    first.level = { -50 - $0 }
    second.level = { -80 + $0 }
    let (_, present, counted) = run([first, second], until: 30, seed: seed)
    #expect(counted.filter { seconds($0) < 11 && seconds($0) > 2 }.allSatisfy { $0.adapter == 0 })
    #expect(counted.filter { seconds($0) > 19.5 }.allSatisfy { $0.adapter == 1 })
    #expect(longestGap(present) < 1)
  }

  @Test func whatIsMeasuredIsLouderThanWhatIsNot() {
    var choice = AdapterChoice()
    var counted: [UInt16] = []
    for number in 0..<20 {
      for adapter in [0, 1] as [UInt16] {
        let sighting = Self.sighting(
          Double(number) / 10 + Double(adapter) / 1000, adapter == 0 ? nil : -90, adapter)
        if choice.receive(sighting) != .passedOver { counted.append(adapter) }
      }
    }
    #expect(counted.suffix(18).allSatisfy { $0 == 1 })
  }

  @Test(arguments: 1...5)
  func ofManyTheLoudestIsFollowed(seed: UInt64) {
    let ears = (0..<9).map { number in
      Ear(UInt16(number), number == 6 ? -60 : -80 + Double(number), delay: 0.0001 * Double(number))
    }
    let (_, _, counted) = run(ears, seed: seed)
    let settled = counted.filter { seconds($0) > 3 }
    #expect(settled.count { $0.adapter != 6 } <= 5 && settled.count > 900)
  }

  /// The first two sightings of a weaker link that fills in count only for presence.
  @Test func aWeakerLinkFillsIn() {
    var choice = AdapterChoice()
    var verdicts: [AdapterChoice.Verdict] = []
    for number in 0..<300 {
      let time = Double(number) / 10
      if number < 200 { _ = choice.receive(Self.sighting(time, -60, 0)) }
      let verdict = choice.receive(Self.sighting(time + 0.01, -85, 1))
      if number >= 200, verdict != .passedOver { verdicts.append(verdict) }
    }
    #expect(verdicts.count > 50)
    #expect(verdicts.prefix(4) == [.presence, .presence, .followed, .followed])
  }

  /// A second adapter is plugged in: what it hears of known beacons pulls no distance away.
  @Test func aSecondOneComesLater() {
    var choice = AdapterChoice()
    var strangers = 0
    for second in 0..<40 {
      for minor in 0..<50 as Range<UInt16> {
        let time = Double(second) + Double(minor) / 100
        if second >= 20 {
          let verdict = choice.receive(Self.sighting(time - 0.001, -85, 1, minor: minor))
          strangers += verdict == .followed ? 1 : 0
        }
        let verdict = choice.receive(Self.sighting(time, -60, 0, minor: minor))
        #expect(verdict == .followed)
      }
    }
    #expect(strangers == 0)
  }

  @Test func memoryIsBounded() {
    var choice = AdapterChoice(maximumBeacons: 1000)
    var random = SplitMix64(seed: 7)
    for number in 0..<100_000 {
      let beacon = UInt16(truncatingIfNeeded: random.next())
      _ = choice.receive(
        Self.sighting(Double(number) / 1000, -60, UInt16(number % 3), minor: beacon))
    }
    #expect(choice.beaconCount <= 1000)
  }

  /// Nothing that comes from the air or a file traps.
  @Test func timesAtTheEndsOfTheirRange() {
    var choice = AdapterChoice()
    for time in [Int64.min, -1, 0, 1, .max, .min, .max] {
      for adapter in [0, 1, 2] as [UInt16] {
        var sighting = Self.sighting(0, -60, adapter)
        sighting.time = MonotonicTime(nanoseconds: time)
        _ = choice.receive(sighting)
      }
    }
  }
}
