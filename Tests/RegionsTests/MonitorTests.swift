import Advertising
import Regions
import Scanning
import TestSupport
import Testing

/// What holds for any sightings whatever.
@Suite struct MonitorTests {
  static func rules(_ random: inout SplitMix64) throws -> RegionRules {
    let flip = { (random: inout SplitMix64) in random.uniform() < 0.5 }
    let silence: ExitTimeoutRule =
      flip(&random)
      ? .adaptive(falseExitsPerDay: flip(&random) ? 1 : 100)
      : .fixed(seconds: 1 + 20 * random.uniform())
    return try RegionRules(
      exitTimeout: silence, signal: flip(&random) ? SignalGate(enter: -70) : nil,
      distance: flip(&random) ? DistanceGate(enter: 4) : nil,
      count: flip(&random) ? EnterCount(needed: 2, of: 5) : .first,
      dwell: flip(&random) ? 3 * random.uniform() : 0)
  }

  static func regions(_ count: Int, _ random: inout SplitMix64) throws -> [MonitoredRegion] {
    try (0..<count).map { number in
      let major = random.uniform() < 0.5 ? UInt16(random.uniform() * 3) : nil
      let minor = random.uniform() < 0.5 ? UInt16(random.uniform() * 5) : nil
      return MonitoredRegion(
        identifier: "\(number)",
        constraint: BeaconConstraint(uuid: home, major: major, minor: minor),
        rules: try rules(&random))
    }
  }

  /// Sightings of 15 beacons that come and go, in 20 minutes.
  static func sightings(_ random: inout SplitMix64) -> [Sighting] {
    var all: [Sighting] = []
    for number in 0..<15 {
      var time = 100 * random.uniform()
      let interval = 0.1 + 3 * random.uniform()
      while time < 1200 {
        time += random.uniform() < 0.02 ? 200 * random.uniform() : interval
        let rssi = random.uniform() < 0.05 ? nil : Int8(-50 - 40 * random.uniform())
        all.append(
          sighting(time, minor: UInt16(number % 5), major: UInt16(number / 5), rssi: rssi))
      }
    }
    return all.sorted { ($0.time, $0.beacon) < ($1.time, $1.beacon) }
  }

  static func play(_ regions: [MonitoredRegion], _ sightings: [Sighting], step: Double?) throws
    -> [RegionTransition]
  {
    var monitor = RegionMonitor()
    var told = monitor.advance(to: at(0))
    for region in regions { try monitor.add(region) }
    var next = 0.0
    for sighting in sightings {
      if let step {
        while at(next) <= sighting.time {
          told += monitor.advance(to: at(next))
          next += step
        }
      }
      told += monitor.receive(sighting)
    }
    return told + monitor.advance(to: at(5000))
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func theStepOfTimeDoesNotMatter(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let regions = try Self.regions(30, &random)
    let sightings = Self.sightings(&random)
    let expected = try Self.play(regions, sightings, step: nil)
    #expect(expected.count > 100)
    #expect(zip(expected, expected.dropFirst()).allSatisfy { $0.time <= $1.time })
    for step in [0.037, 1, 17, 400] {
      #expect(try Self.play(regions, sightings, step: step) == expected)
    }
  }

  @Test func theDeadlineIsExact() throws {
    var random = SplitMix64(seed: 4)
    let regions = try Self.regions(30, &random)
    var monitor = RegionMonitor()
    for region in regions { try monitor.add(region) }
    for sighting in Self.sightings(&random) {
      while let due = monitor.nextDeadline(), due <= sighting.time {
        #expect(monitor.advance(to: MonotonicTime(nanoseconds: due.nanoseconds - 1)).isEmpty)
        let told = monitor.advance(to: due)
        #expect(told.allSatisfy { $0.time.advanced(by: 1) == due })
      }
      #expect(monitor.receive(sighting).allSatisfy { $0.time == sighting.time })
    }
  }

  @Test func crossingsAlternate() throws {
    var random = SplitMix64(seed: 5)
    let regions = try Self.regions(40, &random)
    var states: [String: RegionState] = [:]
    for transition in try Self.play(regions, Self.sightings(&random), step: 5) {
      switch transition.change {
      case .enter:
        #expect(states[transition.region] == .outside)
        states[transition.region] = .inside
      case .exit:
        #expect(states[transition.region] == .inside)
        states[transition.region] = .outside
      case .determined(let state):
        #expect(states[transition.region] == nil)
        states[transition.region] = state
      }
    }
    #expect(states.count == 40)
    #expect(states.values.allSatisfy { $0 == .outside })
  }

  @Test func anythingIsHarmless() throws {
    var random = SplitMix64(seed: 6)
    var configuration = RegionMonitor.Configuration()
    (configuration.maximumBeacons, configuration.maximumLinks) = (20, 60)
    var monitor = RegionMonitor(configuration)
    let regions = try Self.regions(40, &random)
    let times: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
    for _ in 0..<20_000 {
      let wild = random.uniform() < 0.01 ? times.randomElement(using: &random) : nil
      let time = MonotonicTime(nanoseconds: wild ?? Int64(random.uniform() * 1e13))
      let region = regions.randomElement(using: &random) ?? regions[0]
      switch Int(random.uniform() * 20) {
      case 0: try monitor.add(region, assuming: RegionState(rawValue: UInt8(random.next() % 4)))
      case 1: monitor.remove(region.identifier)
      case 2: _ = monitor.receptionLost(from: time)
      case 3: monitor.receptionRestored(at: time)
      case 4: _ = monitor.nextDeadline()
      case 5: _ = monitor.status(of: region.identifier)
      case 6: _ = monitor.advance(to: time)
      default:
        var sighting = sighting(
          0, minor: UInt16(random.uniform() * 9), major: UInt16(random.uniform() * 9),
          rssi: Int8(truncatingIfNeeded: random.next()),
          power: Int8(truncatingIfNeeded: random.next()))
        sighting.time = time
        _ = monitor.receive(sighting)
      }
      #expect(monitor.beaconCount <= 20)
    }
  }
}
