import Regions
import Scanning
import Testing

/// Time in which the radio cannot hear is not silence.
@Suite struct DeafTests {
  let rules: RegionRules

  init() throws { rules = try RegionRules(silence: .fixed(seconds: 10)) }

  func monitor() throws -> RegionMonitor {
    var monitor = RegionMonitor()
    try monitor.add(
      MonitoredRegion(
        identifier: "r", constraint: BeaconConstraint(uuid: home), rules: rules),
      assuming: .outside)
    return monitor
  }

  @Test func deafnessPostponesTheExit() throws {
    var monitor = try monitor()
    _ = monitor.hear(sighting(0))
    #expect(monitor.deaf(from: at(4)).isEmpty)
    #expect(monitor.isDeaf)
    #expect(monitor.nextDeadline() == nil)
    #expect(monitor.advance(to: at(1000)).isEmpty)
    monitor.hearing(at: at(1000))
    #expect(monitor.nextDeadline() == at(1006))
    #expect(monitor.advance(to: at(2000)).compactMap(describe) == ["1006 exit silence"])
  }

  @Test func deafnessMayBeFoundLater() throws {
    var monitor = try monitor()
    _ = monitor.hear(sighting(0))
    #expect(monitor.advance(to: at(8)).isEmpty)
    #expect(monitor.deaf(from: at(2)).isEmpty)
    monitor.hearing(at: at(20))
    #expect(monitor.advance(to: at(100)).compactMap(describe) == ["28 exit silence"])
  }

  @Test func deafnessBeginsAfterTheLastSighting() throws {
    var monitor = try monitor()
    _ = monitor.hear(sighting(0))
    _ = monitor.hear(sighting(5))
    _ = monitor.deaf(from: at(1))
    monitor.hearing(at: at(7))
    #expect(monitor.advance(to: at(100)).compactMap(describe) == ["17 exit silence"])
  }

  @Test func whatIsDueBeforeItHappens() throws {
    var monitor = try monitor()
    _ = monitor.hear(sighting(0))
    #expect(monitor.deaf(from: at(50)).compactMap(describe) == ["10 exit silence"])
  }

  @Test func anotherAdapterMayHearMeanwhile() throws {
    var monitor = try monitor()
    _ = monitor.deaf(from: at(0))
    #expect(monitor.hear(sighting(30)).compactMap(describe) == ["30 enter sighting"])
    monitor.hearing(at: at(40))
    #expect(monitor.advance(to: at(100)).compactMap(describe) == ["50 exit silence"])
  }

  @Test func theGapTeachesNothing() throws {
    var monitor = RegionMonitor()
    try monitor.add(MonitoredRegion(identifier: "r", constraint: BeaconConstraint(uuid: home)))
    for second in 0..<1000 { _ = monitor.hear(sighting(Double(second))) }
    let before = monitor.status(of: "r")?.evidence.silenceLimit
    _ = monitor.deaf(from: at(999.3))
    monitor.hearing(at: at(1010))
    _ = monitor.hear(sighting(1010.1))
    #expect(monitor.status(of: "r")?.evidence.silenceLimit == before)
  }
}
