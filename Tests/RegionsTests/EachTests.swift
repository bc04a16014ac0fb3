import Advertising
import FoundationEssentials
import Regions
import Scanning
import Testing

/// Regions whose rules report each beacon.
@Suite struct EachTests {
  private func rules(
    _ exitTimeout: Double = 3, signal: SignalGate? = nil, dwell: Double = 0
  ) throws -> RegionRules {
    try RegionRules(
      exitTimeout: .fixed(seconds: exitTimeout), signal: signal, dwell: dwell,
      reportsEachBeacon: true)
  }

  private func region(_ exitTimeout: Double = 3) throws -> MonitoredRegion {
    MonitoredRegion(
      identifier: "r", constraint: BeaconConstraint(uuid: home), rules: try rules(exitTimeout))
  }

  private func beacon(_ minor: UInt16) -> BeaconIdentity {
    BeaconIdentity(uuid: home, major: 1, minor: minor)
  }

  /// `5 enter 2 sighting, 1 inside`: the time, the change, the minor of the beacon or `-`, the rule, and how many are
  /// inside afterwards.
  private func describe(_ transitions: [RegionTransition]) -> [String] {
    transitions.map { transition in
      let change =
        switch transition.change {
        case .enter: "enter"
        case .exit: "exit"
        case .determined(let state): "\(state)"
        }
      let seconds = Double(transition.time.nanoseconds) / 1e9
      let beacon = transition.beacon.map { "\($0.minor)" } ?? "-"
      return "\(seconds) \(change) \(beacon) \(transition.reason.rule.rawValue), "
        + "\(transition.beaconsInside ?? -1) inside"
    }
  }

  /// Each enters and leaves by itself, while the region is inside all along.
  @Test func eachEntersAndLeaves() throws {
    var monitor = RegionMonitor()
    try monitor.add(region(), assuming: .outside)
    var found = monitor.receive(sighting(0, minor: 1))
    for second in 1..<10 { found += monitor.receive(sighting(Double(second), minor: 1)) }
    found += monitor.receive(sighting(10, minor: 2))
    #expect(monitor.status(of: "r")?.beacons == 2)
    found += monitor.receive(sighting(11, minor: 1))
    found += monitor.receive(sighting(12, minor: 3))
    found += monitor.advance(to: at(14.5))
    #expect(monitor.state(of: "r") == .inside)
    found += monitor.advance(to: at(20))
    #expect(monitor.state(of: "r") == .outside)
    #expect(
      describe(found) == [
        "0.0 enter 1 sighting, 1 inside", "10.0 enter 2 sighting, 2 inside",
        "12.0 enter 3 sighting, 3 inside", "13.0 exit 2 exitTimeout, 2 inside",
        "14.0 exit 1 exitTimeout, 1 inside", "15.0 exit 3 exitTimeout, 0 inside",
      ])
    #expect(found.allSatisfy { $0.previous == ($0.change == .enter ? .outside : .inside) })
    let distance = try #require(found[0].reason.lastSighting?.distance)
    #expect(abs(distance - 1.122) < 0.001)
  }

  /// The same gates, counts and times as a region that is not so: what one beacon does is the same.
  @Test func sameRules() throws {
    for signal in [nil, SignalGate(enter: -60, exit: -70)] {
      for dwell in [0.0, 4] {
        var plain = try Scene(
          RegionRules(exitTimeout: .fixed(seconds: 3), signal: signal, dwell: dwell))
        var each = try Scene(rules(signal: signal, dwell: dwell))
        for line in ["aaaaaaaaaagggggggggg....aaaaaa", "gggaaaaaaa....a......aaaaa?????...."] {
          #expect(plain.play(line) == each.play(line))
        }
      }
    }
  }

  @Test func lostReceptionIsNoExit() throws {
    var monitor = RegionMonitor()
    try monitor.add(region(), assuming: .outside)
    _ = monitor.receive(sighting(0, minor: 1))
    _ = monitor.receive(sighting(1, minor: 2))
    #expect(monitor.receptionLost(from: at(2)).isEmpty)
    #expect(monitor.advance(to: at(1000)).isEmpty)
    monitor.receptionRestored(at: at(1000))
    #expect(
      describe(monitor.receive(sighting(1001.5, minor: 2))) == [
        "1001.0 exit 1 exitTimeout, 1 inside"
      ])
  }

  /// While the first look lasts, those that are received were there already.
  @Test func unknownStates() throws {
    var monitor = RegionMonitor()
    _ = monitor.advance(to: at(0))
    try monitor.add(region(30))
    var found = monitor.receive(sighting(1, minor: 1))
    found += monitor.receive(sighting(2, minor: 2))
    found += monitor.receive(sighting(4, minor: 3))
    #expect(
      describe(found) == [
        "1.0 inside 1 sighting, 1 inside", "2.0 inside 2 sighting, 2 inside",
        "4.0 enter 3 sighting, 3 inside",
      ])
    #expect(found.map(\.previous) == [.unknown, .unknown, .outside])
    #expect(!monitor.needsFullDuty)
    try monitor.add(
      MonitoredRegion(
        identifier: "empty", constraint: BeaconConstraint(uuid: home, major: 9), rules: rules()))
    #expect(describe(monitor.advance(to: at(10))) == ["7.0 outside - start, 0 inside"])
  }

  /// After a restart those that were inside are confirmed or leave, each in its own time, and others enter.
  @Test func assumedBeacons() throws {
    var monitor = RegionMonitor()
    try monitor.add(
      region(), assuming: .inside, timeout: 99,
      beacons: [
        beacon(1): 10, beacon(2): 20, beacon(3): 0, beacon(4): 20,
        BeaconIdentity(uuid: ProximityUUID(high: 9, low: 9), major: 1, minor: 1): 10,
      ])
    #expect(monitor.status(of: "r")?.beacons == 4)
    var found = monitor.receive(sighting(0, minor: 5))
    found += monitor.receive(sighting(2, minor: 1))
    for second in 3..<30 { found += monitor.receive(sighting(Double(second), minor: 5)) }
    #expect(
      describe(found) == [
        "0.0 enter 5 sighting, 5 inside", "2.0 inside 1 sighting, 5 inside",
        // No time is the usual one, that of the fixed exit timeout.
        "3.0 exit 3 start, 4 inside", "5.0 exit 1 exitTimeout, 3 inside",
        "20.0 exit 2 start, 2 inside", "20.0 exit 4 start, 1 inside",
      ])
    #expect(found.map(\.previous) == [.outside, .inside, .inside, .inside, .inside, .inside])
  }

  /// A region that was inside, nobody knows with whom: those that come in time were there, else it is left.
  @Test func assumedInsideWithoutBeacons() throws {
    var monitor = RegionMonitor()
    try monitor.add(region(), assuming: .inside)
    #expect(describe(monitor.receive(sighting(1, minor: 1))) == ["1.0 inside 1 sighting, 1 inside"])
    monitor = RegionMonitor()
    try monitor.add(region(), assuming: .inside)
    _ = monitor.advance(to: at(0))
    #expect(
      describe(monitor.advance(to: at(9))) == [
        "3.0 exit - start, 0 inside", "3.0 outside - start, 0 inside",
      ])
  }

  /// At most 512 beacons are inside; a further one enters when one has left, and none is evicted.
  @Test func bounds() throws {
    var configuration = RegionMonitor.Configuration()
    configuration.maximumBeacons = 600
    var monitor = RegionMonitor(configuration)
    try monitor.add(region(), assuming: .outside)
    var found: [RegionTransition] = []
    for minor in 1...700 { found += monitor.receive(sighting(0, minor: UInt16(minor))) }
    #expect(found.count == RegionRules.maximumBeaconsInside)
    #expect(monitor.status(of: "r")?.beacons == RegionRules.maximumBeaconsInside)
    for minor in 1...511 { found += monitor.receive(sighting(2, minor: UInt16(minor))) }
    #expect(found.count == RegionRules.maximumBeaconsInside)
    // The last of them left at 3 s, and makes room for one.
    found = monitor.receive(sighting(3.5, minor: 700))
    #expect(found.map(\.change) == [.exit, .enter])
    #expect(found.map(\.beacon) == [beacon(512), beacon(700)])
  }

  /// A region beside it with the same beacons keeps iOS's meaning.
  @Test func besideAnotherRegion() throws {
    var monitor = RegionMonitor()
    try monitor.add(region(), assuming: .outside)
    try monitor.add(
      MonitoredRegion(
        identifier: "whole", constraint: BeaconConstraint(uuid: home),
        rules: RegionRules(exitTimeout: .fixed(seconds: 3))), assuming: .outside)
    var found = monitor.receive(sighting(0, minor: 1))
    found += monitor.receive(sighting(1, minor: 2))
    found += monitor.advance(to: at(9))
    let whole = found.filter { $0.region == "whole" && $0.change.isCrossing }
    #expect(
      describe(whole) == ["0.0 enter - sighting, 1 inside", "4.0 exit - exitTimeout, 0 inside"])
    #expect(found.filter { $0.region == "r" }.map { $0.beacon?.minor } == [1, 2, 1, 2])
  }

  @Test func coding() throws {
    let data = try JSONEncoder().encode(rules())
    #expect(try JSONDecoder().decode(RegionRules.self, from: data) == rules())
    // Rules that an earlier version stored.
    let text = String(decoding: data, as: UTF8.self)
      .replacing(#","reportsEachBeacon":true"#, with: "").replacing(
        #""reportsEachBeacon":true,"#, with: "")
    let old = try JSONDecoder().decode(RegionRules.self, from: Data(text.utf8))
    #expect(try old == RegionRules(exitTimeout: .fixed(seconds: 3)))
    var monitor = RegionMonitor()
    try monitor.add(region(), assuming: .outside)
    let found = monitor.receive(sighting(1))
    let bytes = try JSONEncoder().encode(found)
    #expect(try JSONDecoder().decode([RegionTransition].self, from: bytes) == found)
  }
}
