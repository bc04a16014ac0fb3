import Advertising
import Regions
import Scanning
import Testing

/// How states are determined, asked for, assumed, replaced and removed.
@Suite struct StateTests {
  func region(_ identifier: String = "r", silence: Double = 10) throws -> MonitoredRegion {
    MonitoredRegion(
      identifier: identifier, constraint: BeaconConstraint(uuid: home),
      rules: try RegionRules(exitTimeout: .fixed(seconds: silence)))
  }

  func changes(_ transitions: [RegionTransition]) -> [RegionTransition.Change] {
    transitions.map(\.change)
  }

  @Test func insideIsDeterminedByASighting() throws {
    var monitor = RegionMonitor()
    try monitor.add(region())
    #expect(monitor.state(of: "r") == .unknown)
    #expect(!monitor.isDetermined("r"))
    let told = monitor.receive(sighting(5))
    #expect(changes(told) == [.determined(.inside)])
    #expect(told.first?.previous == .unknown)
    #expect(told.first?.reason.lastSighting?.rssi == -60)
    #expect(monitor.isDetermined("r") && monitor.state(of: "r") == .inside)
  }

  @Test func anAssumedStateIsConfirmedInThirtySeconds() throws {
    var monitor = RegionMonitor()
    try monitor.add(
      MonitoredRegion(identifier: "r", constraint: BeaconConstraint(uuid: home)),
      assuming: .outside)
    _ = monitor.advance(to: at(0))
    #expect(monitor.nextDeadline() == after(30))
  }

  @Test func assumedInsideIsConfirmed() throws {
    var monitor = RegionMonitor()
    try monitor.add(region(), assuming: .inside)
    #expect(monitor.state(of: "r") == .inside)
    #expect(changes(monitor.receive(sighting(5))) == [.determined(.inside)])
  }

  @Test func assumedInsideIsRefuted() throws {
    var monitor = RegionMonitor()
    try monitor.add(region(), assuming: .inside)
    #expect(
      changes(monitor.advance(to: at(0)) + monitor.advance(to: at(50))) == [
        .exit, .determined(.outside),
      ])
  }

  @Test func assumedOutsideIsConfirmedAndRefuted() throws {
    var monitor = RegionMonitor()
    try monitor.add(region("quiet"), assuming: .outside)
    _ = monitor.advance(to: at(0))
    #expect(changes(monitor.advance(to: at(50))) == [.determined(.outside)])
    try monitor.add(region("r"), assuming: .outside)
    let told = monitor.receive(sighting(51)).filter { $0.region == "r" }
    #expect(changes(told) == [.enter, .determined(.inside)])
  }

  @Test func theTimeoutMayBeGiven() throws {
    var monitor = RegionMonitor()
    _ = monitor.advance(to: at(0))
    try monitor.add(region(), assuming: .inside, timeout: 120)
    #expect(monitor.nextDeadline() == after(120))
  }

  @Test func theSameIdentifierReplaces() throws {
    var monitor = RegionMonitor()
    try monitor.add(region())
    _ = monitor.receive(sighting(0))
    try monitor.add(region(silence: 20))
    #expect(monitor.regionCount == 1)
    #expect(monitor.state(of: "r") == .unknown)
    #expect(changes(monitor.receive(sighting(1))) == [.determined(.inside)])
    #expect(monitor.advance(to: at(60)).map(\.time) == [at(21)])
  }

  @Test func aRemovedRegionIsSilent() throws {
    var monitor = RegionMonitor()
    try monitor.add(region())
    _ = monitor.receive(sighting(0))
    #expect(monitor.remove("r")?.identifier == "r")
    #expect(monitor.remove("r") == nil)
    #expect(monitor.advance(to: at(60)).isEmpty)
    #expect(monitor.receive(sighting(61)).isEmpty)
    #expect(monitor.state(of: "r") == nil)
    #expect(monitor.nextDeadline() == nil)
  }

  @Test func regionsOfEveryShapeAreFound() throws {
    var monitor = RegionMonitor()
    for (name, major, minor) in [
      ("all", nil, nil), ("major", 1, nil), ("one", 1, 1), ("minor", nil, 1), ("other", 2, nil),
    ] as [(String, UInt16?, UInt16?)] {
      try monitor.add(
        MonitoredRegion(
          identifier: name,
          constraint: BeaconConstraint(uuid: home, major: major, minor: minor)))
    }
    #expect(
      Set(monitor.receive(sighting(0)).map(\.region)) == ["all", "major", "one", "minor"])
  }

  @Test func tooManyRegionsAreRefused() throws {
    var configuration = RegionMonitor.Configuration()
    configuration.maximumRegions = 2
    var monitor = RegionMonitor(configuration)
    try monitor.add(region("a"))
    try monitor.add(region("b"))
    #expect(throws: RegionError.tooMany(limit: 2)) { try monitor.add(region("c")) }
    try monitor.add(region("b"))
  }

  @Test func statusHasTheMomentOfTheExit() throws {
    var monitor = RegionMonitor()
    try monitor.add(region())
    _ = monitor.receive(sighting(3))
    _ = monitor.receive(sighting(5, minor: 2))
    let status = monitor.status(of: "r")
    #expect(status?.state == .inside)
    #expect(status?.beacons == 2)
    #expect(status?.since == at(3))
    #expect(status?.exit == at(15))
    #expect(status?.evidence.lastSighting?.beacon.minor == 2)
  }

  @Test func rulesThatCannotBeSayWhy() {
    #expect(throws: RegionError.exitTimeout(0)) { try RegionRules(exitTimeout: .fixed(seconds: 0)) }
    #expect(throws: RegionError.exitTimeout(.infinity)) {
      try RegionRules(exitTimeout: .fixed(seconds: .infinity))
    }
    #expect(throws: RegionError.falseExits(-1)) {
      try RegionRules(exitTimeout: .adaptive(falseExitsPerDay: -1))
    }
    #expect(throws: RegionError.ceiling(1)) { try RegionRules(exitTimeout: .adaptive(ceiling: 1)) }
    #expect(throws: RegionError.signal(enter: -80, exit: -70)) {
      try RegionRules(signal: SignalGate(enter: -80, exit: -70))
    }
    #expect(throws: RegionError.distance(enter: 5, exit: 4)) {
      try RegionRules(distance: DistanceGate(enter: 5, exit: 4))
    }
    #expect(throws: RegionError.excess(-1)) {
      try RegionRules(signal: SignalGate(boundary: -70, excess: -1))
    }
    #expect(throws: RegionError.count(needed: 3, last: 2)) {
      try RegionRules(count: EnterCount(needed: 3, of: 2))
    }
    #expect(throws: RegionError.dwell(-1)) { try RegionRules(dwell: -1) }
    #expect(throws: (any Error).self) { try RegionRules(dwell: .nan) }
    #expect(throws: (any Error).self) {
      try RegionRules(signal: SignalGate(enter: .nan, exit: .nan))
    }
    #expect("\(RegionError.count(needed: 3, last: 2))".hasSuffix("3 of 2"))
  }
}
