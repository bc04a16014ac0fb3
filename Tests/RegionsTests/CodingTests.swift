import Advertising
import FoundationEssentials
import Ranging
import Regions
import Scanning
import Testing

/// Rules, regions, transitions and ranged beacons leave the process and come back as they were.
@Suite struct CodingTests {
  private func expectSame(_ value: some Codable & Equatable) throws {
    let data = try JSONEncoder().encode(value)
    #expect(try JSONDecoder().decode(type(of: value), from: data) == value)
  }

  private func region() throws -> MonitoredRegion {
    MonitoredRegion(
      identifier: "r", constraint: BeaconConstraint(uuid: home, minor: 1),
      rules: try RegionRules(
        exitTimeout: .fixed(seconds: 7), signal: SignalGate(enter: -70),
        distance: DistanceGate(enter: 2), count: EnterCount(needed: 1, of: 3), dwell: 1.5))
  }

  @Test func regionsAndRules() throws {
    try expectSame(region())
    try expectSame(RegionRules.standard)
  }

  @Test func transitionsAndStatus() throws {
    var monitor = RegionMonitor()
    try monitor.add(
      MonitoredRegion(identifier: "r", constraint: BeaconConstraint(uuid: home)))
    var transitions = monitor.receive(sighting(1))
    for second in 2..<5 { transitions += monitor.receive(sighting(Double(second))) }
    try expectSame(#require(monitor.status(of: "r")))
    transitions += monitor.advance(to: at(1000))
    transitions += monitor.receive(sighting(1001, rssi: nil))
    #expect(transitions.map(\.change) == [.determined(.inside), .exit, .enter])
    try expectSame(transitions)
  }

  @Test func rangedBeacons() throws {
    var configuration = Ranger.Configuration()
    configuration.calibration = Calibration(
      measuredPower: -61, adapterOffset: 2, model: .logDistance(exponent: 1.8))
    try expectSame(configuration.calibration)
    try expectSame(PathLossModel.androidNexus5)
    var ranger = Ranger(configuration)
    for second in 0..<5 { ranger.receive(sighting(Double(second))) }
    let beacons = ranger.report(at: at(5))
    #expect(beacons.first?.estimate != nil)
    try expectSame(beacons)
  }

  @Test func formerRulesAreRead() throws {
    let text = Data(#"["silence","exitTimeout","dwell"]"#.utf8)
    let rules = try JSONDecoder().decode([RegionTransition.Rule].self, from: text)
    #expect(rules == [.exitTimeout, .exitTimeout, .dwell])
  }

  @Test func whatCannotBeIsRefused() throws {
    let decoder = JSONDecoder()
    #expect(throws: DecodingError.self) {
      try decoder.decode([RegionTransition.Rule].self, from: Data(#"["noise"]"#.utf8))
    }
    for (good, bad) in [("\"dwell\":1.5", "\"dwell\":-1"), ("\"last\":3", "\"last\":900")] {
      let text = try String(decoding: JSONEncoder().encode(region().rules), as: UTF8.self)
      #expect(text.contains(good))
      let data = Data(text.split(separator: good).joined(separator: bad).utf8)
      #expect(throws: RegionError.self) { try decoder.decode(RegionRules.self, from: data) }
    }
    #expect(throws: DecodingError.self) {
      try decoder.decode([ProximityUUID].self, from: Data(#"["E2C56DB5"]"#.utf8))
    }
  }
}
