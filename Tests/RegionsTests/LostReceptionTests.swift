import Regions
import Scanning
import Testing

/// Time in which the radio cannot hear is not silence.
@Suite struct LostReceptionTests {
  let rules: RegionRules

  init() throws { rules = try RegionRules(exitTimeout: .fixed(seconds: 10)) }

  func monitor() throws -> RegionMonitor {
    var monitor = RegionMonitor()
    try monitor.add(
      MonitoredRegion(
        identifier: "r", constraint: BeaconConstraint(uuid: home), rules: rules),
      assuming: .outside)
    return monitor
  }

  @Test func lossPostponesTheExit() throws {
    var monitor = try monitor()
    _ = monitor.receive(sighting(0))
    #expect(monitor.receptionLost(from: at(4)).isEmpty)
    #expect(monitor.isReceptionLost)
    #expect(monitor.nextDeadline() == nil)
    #expect(monitor.advance(to: at(1000)).isEmpty)
    monitor.receptionRestored(at: at(1000))
    #expect(monitor.nextDeadline() == after(1006))
    #expect(monitor.advance(to: at(2000)).compactMap(describe) == ["1006 exit exitTimeout"])
  }

  @Test func lossMayBeFoundLater() throws {
    var monitor = try monitor()
    _ = monitor.receive(sighting(0))
    #expect(monitor.advance(to: at(8)).isEmpty)
    #expect(monitor.receptionLost(from: at(2)).isEmpty)
    monitor.receptionRestored(at: at(20))
    #expect(monitor.advance(to: at(100)).compactMap(describe) == ["28 exit exitTimeout"])
  }

  @Test func lossBeginsAfterTheLastSighting() throws {
    var monitor = try monitor()
    _ = monitor.receive(sighting(0))
    _ = monitor.receive(sighting(5))
    _ = monitor.receptionLost(from: at(1))
    monitor.receptionRestored(at: at(7))
    #expect(monitor.advance(to: at(100)).compactMap(describe) == ["17 exit exitTimeout"])
  }

  @Test func whatIsDueBeforeItHappens() throws {
    var monitor = try monitor()
    _ = monitor.receive(sighting(0))
    #expect(monitor.receptionLost(from: at(50)).compactMap(describe) == ["10 exit exitTimeout"])
  }

  @Test func anotherAdapterMayHearMeanwhile() throws {
    var monitor = try monitor()
    _ = monitor.receptionLost(from: at(0))
    #expect(monitor.receive(sighting(30)).compactMap(describe) == ["30 enter sighting"])
    monitor.receptionRestored(at: at(40))
    #expect(monitor.advance(to: at(100)).compactMap(describe) == ["50 exit exitTimeout"])
  }

  @Test func theGapTeachesNothing() throws {
    var monitor = RegionMonitor()
    try monitor.add(MonitoredRegion(identifier: "r", constraint: BeaconConstraint(uuid: home)))
    for second in 0..<1000 { _ = monitor.receive(sighting(Double(second))) }
    let before = monitor.status(of: "r")?.evidence.exitTimeout
    _ = monitor.receptionLost(from: at(999.3))
    monitor.receptionRestored(at: at(1010))
    _ = monitor.receive(sighting(1010.1))
    #expect(monitor.status(of: "r")?.evidence.exitTimeout == before)
  }
}
