import RealModule
import Regions
import Scanning
import TestSupport
import Testing

/// A boundary that fits the site, between two rooms: how soon is a change found, and how often is one
/// found that was none?
@Suite struct SignalTests {
  struct Site: Sendable, CustomTestStringConvertible {
    var rate: Double
    /// What lies between the two rooms, in dB.
    var step: Double
    var white: Double
    /// Slow fading of 2 s.
    var slow: Double
    var testDescription: String { "\(rate) Hz, \(step) dB apart, fading \(white) and \(slow) dB" }
  }

  static let sites = [
    Site(rate: 10, step: 15, white: 5, slow: 0), Site(rate: 10, step: 15, white: 2, slow: 3),
    Site(rate: 5, step: 12, white: 3, slow: 2), Site(rate: 1, step: 15, white: 4, slow: 2),
  ]

  @Test(arguments: sites)
  func changesOfRoomAreFound(site: Site) throws {
    var random = SplitMix64(seed: 11)
    let rules = try RegionRules(
      exitTimeout: .fixed(seconds: 60), signal: SignalGate(enter: -71.5, exit: -73.5))
    var monitor = RegionMonitor()
    try monitor.add(
      MonitoredRegion(identifier: "r", constraint: BeaconConstraint(uuid: home), rules: rules),
      assuming: .outside)
    let stay = 40.0
    var told: [RegionTransition] = []
    var slow = 0.0
    let keep = Double.exp(-1 / (2 * site.rate))
    for index in 0..<Int(60 * stay * site.rate) {
      let time = Double(index) / site.rate
      let isInside = Int(time / stay) % 2 == 1
      slow = keep * slow + site.slow * (1 - keep * keep).squareRoot() * random.normal()
      let mean = -72.5 + (isInside ? 0.5 : -0.5) * site.step
      let rssi = Int8((mean + slow + site.white * random.normal()).rounded())
      told += monitor.receive(sighting(time, rssi: rssi)).filter { $0.previous != .unknown }
    }
    var delays: [RegionTransition.Change: [Double]] = [:]
    for transition in told where transition.change == .enter || transition.change == .exit {
      let time = Double(transition.time.nanoseconds) / 1e9
      delays[transition.change, default: []].append(
        time.truncatingRemainder(dividingBy: stay))
    }
    let found = delays.values.reduce(0) { $0 + $1.count }
    // 59 changes of room; the rest is false.
    let precision = 2 * 59.0 / Double(59 + found)
    #expect(precision >= 0.8, "\(found) changes")
    #expect(found >= 59)
    #expect(Self.median(delays[.enter]) <= 3)
    #expect(Self.median(delays[.exit]) <= 3)
  }

  /// Noise of 5 dB that lies 5 dB below the gate, at different packet rates: two loud packets open no gate,
  /// however long the gaps before them.
  @Test(arguments: [(10, 1), (5, 5), (2, 20), (1, 20), (0.5, 40)])
  func noiseBelowTheGateDoesNotEnter(rate: Double, hours: Double) throws {
    var random = SplitMix64(seed: 23)
    let rules = try RegionRules(
      exitTimeout: .fixed(seconds: 600), signal: SignalGate(enter: -70, exit: -73))
    var monitor = RegionMonitor()
    try monitor.add(
      MonitoredRegion(identifier: "r", constraint: BeaconConstraint(uuid: home), rules: rules),
      assuming: .outside)
    var entered = 0
    for index in 0..<Int(hours * 3600 * rate) where random.uniform() > 0.1 {
      let rssi = Int8((-75 + 5 * random.normal()).rounded())
      entered += monitor.receive(sighting(Double(index) / rate, rssi: rssi))
        .count { $0.change == .enter }
    }
    #expect(Double(entered) <= hours, "\(entered) in \(hours) h")
  }

  /// One number is a boundary in both directions: as long to enter as to leave, with a hysteresis that grows with
  /// the noise.
  @Test(arguments: [1.0, 5.0])
  func aBoundaryIsSymmetrical(noise: Double) throws {
    var random = SplitMix64(seed: 5)
    let gate = SignalGate(enter: -67)
    #expect(gate == SignalGate(boundary: -67))
    var monitor = RegionMonitor()
    try monitor.add(
      MonitoredRegion(
        identifier: "r", constraint: BeaconConstraint(uuid: home),
        rules: RegionRules(exitTimeout: .fixed(seconds: 60), signal: gate)),
      assuming: .outside)
    var delays: [RegionTransition.Change: [Double]] = [:]
    var wrong = 0
    for index in 0..<(120 * 300) {
      let time = Double(index) / 10
      let isInside = Int(time / 30) % 2 == 1
      let rssi = Int8((-67 + (isInside ? 6 : -6) + noise * random.normal()).rounded())
      for transition in monitor.receive(sighting(time, rssi: rssi)) {
        guard transition.change == .enter || transition.change == .exit else { continue }
        if (transition.change == .enter) != isInside { wrong += 1 }
        delays[transition.change, default: []].append(time.truncatingRemainder(dividingBy: 30))
      }
    }
    #expect(wrong == 0)
    #expect(delays[.enter]?.count == 60 && delays[.exit]?.count == 59)
    let (enter, exit) = (Self.median(delays[.enter]), Self.median(delays[.exit]))
    #expect(abs(enter - exit) <= 0.3 && max(enter, exit) <= 2.5, "\(enter) s, \(exit) s")
  }

  static func median(_ values: [Double]?) -> Double {
    guard let values, !values.isEmpty else { return .infinity }
    return values.sorted()[values.count / 2]
  }
}
