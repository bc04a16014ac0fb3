import Advertising
import Regions
import Scanning
import TestSupport
import Testing

/// The first state of a region of which nothing is known: a beacon that was there all along is inside without
/// an entry, and a visitor who comes later enters.
@Suite struct InitialStateTests {
  private func monitor(_ rules: RegionRules = .standard) throws -> RegionMonitor {
    var monitor = RegionMonitor()
    try monitor.add(region("r", rules))
    _ = monitor.advance(to: at(0))
    return monitor
  }

  private func region(_ name: String, _ rules: RegionRules = .standard) -> MonitoredRegion {
    MonitoredRegion(identifier: name, constraint: BeaconConstraint(uuid: home), rules: rules)
  }

  private func changes(_ transitions: [RegionTransition]) -> [RegionTransition.Change] {
    transitions.map(\.change)
  }

  @Test(arguments: [RegionRules.standard, try RegionRules(exitTimeout: .fixed(seconds: 60))])
  func aVisitorWhoComesAfterThreeSecondsEnters(rules: RegionRules) throws {
    var monitor = try monitor(rules)
    #expect(monitor.nextDeadline() == after(3))
    let first = monitor.advance(to: at(4))
    #expect(changes(first) == [.determined(.outside)])
    #expect(first.first?.time == at(3))
    #expect(first.first?.reason.rule == .start)
    #expect(first.first?.reason.exitTimeout == 3)
    #expect(changes(monitor.receive(sighting(5))) == [.enter])
  }

  @Test func aShorterExitTimeoutIsShorterHereToo() throws {
    var monitor = try monitor(RegionRules(exitTimeout: .fixed(seconds: 2)))
    #expect(monitor.nextDeadline() == after(2))
  }

  @Test func reducedDutyTakesFourTimesAsLong() throws {
    var monitor = RegionMonitor()
    monitor.dutyChanged(isFull: false)
    try monitor.add(region("r"))
    _ = monitor.advance(to: at(0))
    #expect(monitor.nextDeadline() == after(12))
    // A second at full duty, after four at the reduced one, leaves one.
    _ = monitor.advance(to: at(4))
    monitor.dutyChanged(isFull: true)
    #expect(monitor.nextDeadline() == after(6))
    _ = monitor.advance(to: at(5))
    monitor.dutyChanged(isFull: false)
    #expect(monitor.nextDeadline() == after(9))
    #expect(monitor.advance(to: at(20)).map(\.time) == [at(9)])
  }

  @Test func fullDutyIsNeededUntilTheFirstLookIsOver() throws {
    var monitor = try monitor()
    #expect(monitor.needsFullDuty)
    _ = monitor.receive(sighting(1))
    #expect(!monitor.needsFullDuty)
    try monitor.add(region("removed"))
    #expect(monitor.needsFullDuty)
    monitor.remove("removed")
    #expect(!monitor.needsFullDuty)
    // A beacon that is known is waited for at any duty.
    try monitor.add(region("waits"))
    _ = monitor.advance(to: at(5))
    #expect(!monitor.needsFullDuty)
    try monitor.add(region("assumed"), assuming: .outside)
    #expect(!monitor.needsFullDuty)
  }

  @Test func lostReceptionDoesNotCount() throws {
    var monitor = try monitor()
    _ = monitor.receptionLost(from: at(1))
    monitor.receptionRestored(at: at(100))
    #expect(monitor.nextDeadline() == after(102))
  }

  @Test func aBeaconThatIsKnownIsWaitedFor() throws {
    var monitor = try monitor()
    for count in 0..<10 { _ = monitor.receive(sighting(Double(count) * 10)) }
    _ = monitor.advance(to: at(94))
    try monitor.add(region("second"))
    try monitor.add(
      MonitoredRegion(
        identifier: "exact", constraint: BeaconConstraint(uuid: home, major: 1, minor: 1)))
    #expect(monitor.advance(to: at(99)).isEmpty)
    #expect(
      changes(monitor.receive(sighting(100))) == [.determined(.inside), .determined(.inside)])
    // One that is gone is not waited for longer than in the other regions.
    try monitor.add(region("third"))
    let transitions = monitor.advance(to: at(1000))
    #expect(transitions.first { $0.region == "third" }?.time == transitions.first?.time)
    #expect(transitions.count == 4)
  }

  @Test(arguments: [
    try RegionRules(dwell: 5), try RegionRules(count: EnterCount(needed: 6, of: 8)),
    try RegionRules(signal: SignalGate(enter: -63)),
    try RegionRules(distance: DistanceGate(enter: 1.7)),
  ])
  func aBeaconThatIsNotDecidedIsWaitedFor(rules: RegionRules) throws {
    var monitor = try monitor(rules)
    var transitions: [RegionTransition] = []
    for second in 0..<20 { transitions += monitor.receive(sighting(Double(second) + 0.5)) }
    #expect(changes(transitions) == [.determined(.inside)])
  }

  @Test func aBeaconOutsideTheGatesIsNotWaitedFor() throws {
    var monitor = try monitor(RegionRules(signal: SignalGate(enter: -70)))
    var transitions: [RegionTransition] = []
    for second in 0..<10 {
      let rssi: Int8 = second < 5 ? -90 : -50
      transitions += monitor.receive(sighting(Double(second) + 0.5, rssi: rssi))
    }
    #expect(changes(transitions) == [.determined(.outside), .enter])
    #expect(transitions.first?.time == at(3))
  }

  @Test func noiseAtAGateDelaysTheStateForSomeTimeOnly() throws {
    var monitor = try monitor(RegionRules(signal: SignalGate(enter: -60, exit: -70)))
    var transitions: [RegionTransition] = []
    for tenth in 1..<600 {
      let rssi: Int8 = tenth % 2 == 0 ? -59 : -62
      transitions += monitor.receive(sighting(Double(tenth) / 10, rssi: rssi))
    }
    #expect(changes(transitions) == [.determined(.outside)])
    #expect(transitions.first.map { $0.time <= at(30) } == true)
  }

  /// How often of 2,000 times a beacon that was there all along enters, and a visitor who comes after 1 to
  /// 30 s does, at full duty.
  @Test(
    arguments: [
      (0.1, 0.1, 0, 0.93...1), (0.1, 0.5, 0, 0.93...1), (1, 0.1, 0.002, 0.93...1),
      (1, 0.5, 0.15, 0.93...1), (10, 0.1, 0.8, 0.96...1), (10, 0.5, 0.9, 0.97...1),
    ] as [(Double, Double, Double, ClosedRange<Double>)])
  func howOften(
    interval: Double, loss: Double, wrong: Double, right: ClosedRange<Double>
  ) throws {
    var random = SplitMix64(seed: UInt64(interval * 1000 + loss * 10))
    func enters(comingAt arrival: Double) throws -> Bool {
      var monitor = try monitor()
      var time = arrival + interval * random.uniform()
      while true {
        if random.uniform() >= loss {
          return monitor.receive(sighting(time)).last?.change == .enter
        }
        time += interval + 0.01 * random.uniform()
      }
    }
    let count = 2000
    let there = try (0..<count).count { _ in try enters(comingAt: 0) }
    let coming = try (0..<count).count { _ in try enters(comingAt: 1 + 29 * random.uniform()) }
    #expect(Double(there) / Double(count) <= wrong, "\(there) of \(count)")
    #expect(right.contains(Double(coming) / Double(count)), "\(coming) of \(count)")
  }
}

/// Settings that cannot be become the nearest that can.
@Suite struct ConfigurationTests {
  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1])
  func timesAreFinite(seconds: Double) throws {
    var configuration = RegionMonitor.Configuration()
    (configuration.initialTimeout, configuration.confirmationTimeout) = (seconds, seconds)
    var monitor = RegionMonitor(configuration)
    try monitor.add(MonitoredRegion(identifier: "r", constraint: BeaconConstraint(uuid: home)))
    _ = monitor.advance(to: at(0))
    _ = monitor.receive(sighting(0.5))
    let transitions = monitor.advance(to: at(1e6))
    #expect(transitions.last?.change == .exit)
    #expect(transitions.last?.reason.exitTimeout?.isFinite == true)
    let used = monitor.configuration
    #expect((0...604_800).contains(used.initialTimeout))
    #expect((0...604_800).contains(used.confirmationTimeout))
  }

  @Test(arguments: [Int.min, -1, 0, .max])
  func boundsAreCounts(bound: Int) throws {
    var configuration = RegionMonitor.Configuration()
    configuration.maximumRegions = bound
    configuration.maximumBeacons = bound
    configuration.maximumLinks = bound
    var monitor = RegionMonitor(configuration)
    try monitor.add(MonitoredRegion(identifier: "r", constraint: BeaconConstraint(uuid: home)))
    for minor in 0..<20 { _ = monitor.receive(sighting(1, minor: UInt16(minor))) }
    #expect(monitor.state(of: "r") == .inside)
    #expect(monitor.beaconCount == (bound == .max ? 20 : 1))
  }
}
