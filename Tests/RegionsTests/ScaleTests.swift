import Advertising
import Scanning
import TestSupport
import Testing

@testable import Regions

/// Many beacons: how they make room, and that they find theirs.
@Suite struct ScaleTests {
  /// Strangers fill the table: the beacon that alone holds a region stays, and new ones are passed over where all do.
  @Test func theOnlyEvidenceForARegionStays() throws {
    var configuration = RegionMonitor.Configuration()
    configuration.maximumBeacons = 8
    var monitor = RegionMonitor(configuration)
    for minor in 1...7 as ClosedRange<UInt16> {
      try monitor.add(
        MonitoredRegion(
          identifier: "\(minor)", constraint: BeaconConstraint(uuid: home, major: 1, minor: minor)))
    }
    try monitor.add(
      MonitoredRegion(identifier: "flood", constraint: BeaconConstraint(uuid: home, major: 2)))
    _ = monitor.receive(sighting(0))
    for number in 0..<8 { _ = monitor.receive(sighting(1, minor: UInt16(number), major: 2)) }
    #expect(monitor.evictions == 1 && monitor.state(of: "1") == .inside)
    for minor in 2...7 as ClosedRange<UInt16> { _ = monitor.receive(sighting(2, minor: minor)) }
    #expect((1...7).allSatisfy { monitor.state(of: "\($0)") == .inside })
    #expect(monitor.state(of: "flood") == .inside && monitor.beaconCount == 8)
    // One of the flood's is left, and it alone holds its region.
    let evictions = monitor.evictions
    #expect(monitor.receive(sighting(3, minor: 9, major: 2)).isEmpty)
    #expect(monitor.evictions == evictions)
  }

  /// Each request for a state adds a region and removes it again.
  @Test func removedRegionsTakeNoMemory() throws {
    var monitor = RegionMonitor()
    for number in 0..<100 {
      try monitor.add(
        MonitoredRegion(identifier: "\(number)", constraint: BeaconConstraint(uuid: home)))
      monitor.remove("\(number)")
    }
    #expect(monitor.index.records.count == 1)
  }

  /// A beacon that is sent every 8 s and of which 30 % are lost, in the region of its UUID and in one of its own, beside
  /// 2,470 invented identities of that UUID a second.
  @Test func aFloodCausesNoExit() throws {
    var configuration = RegionMonitor.Configuration()
    configuration.maximumBeacons = 4096
    var monitor = RegionMonitor(configuration)
    try monitor.add(MonitoredRegion(identifier: "all", constraint: BeaconConstraint(uuid: home)))
    try monitor.add(
      MonitoredRegion(
        identifier: "r", constraint: BeaconConstraint(uuid: home, major: 1, minor: 1)))
    var random = SplitMix64(seed: 8)
    var changes: [RegionTransition] = []
    for tick in 0..<(45 * 2470) {
      let time = Double(tick) / 2470
      if tick % (8 * 2470) == 0, tick == 0 || random.uniform() > 0.3 {
        changes += monitor.receive(sighting(time))
      }
      let (major, minor) = (UInt16(2 + random.next() % 60000), UInt16(random.next() & 0xFFFF))
      changes += monitor.receive(sighting(time, minor: minor, major: major))
    }
    #expect(changes.filter { $0.change == .exit }.isEmpty)
    #expect(monitor.state(of: "r") == .inside && monitor.beaconCount <= 4096)
    #expect(monitor.evictions > 100_000)
  }

  @Test func aFloodOfInventedBeaconsKeepsTheRealOne() throws {
    var configuration = RegionMonitor.Configuration()
    configuration.maximumBeacons = 500
    var monitor = RegionMonitor(configuration)
    try monitor.add(
      MonitoredRegion(
        identifier: "r", constraint: BeaconConstraint(uuid: home, major: 1, minor: 1)),
      assuming: .outside)
    try monitor.add(MonitoredRegion(identifier: "flood", constraint: BeaconConstraint(uuid: home)))
    var told: [RegionTransition] = []
    for number in 0..<20_000 {
      let time = Double(number) / 100
      if number % 100 == 0 { told += monitor.receive(sighting(time)) }
      told += monitor.receive(sighting(time, minor: UInt16(number), major: 2))
    }
    #expect(told.filter { $0.region == "r" }.compactMap(describe) == ["0 enter sighting"])
    #expect(monitor.beaconCount <= 500)
    #expect(monitor.evictions > 19_000)
  }

  @Test func tenThousandRegionsAndBeacons() throws {
    var monitor = RegionMonitor()
    let names = 0..<10_000 as Range<UInt16>
    for minor in names {
      try monitor.add(
        MonitoredRegion(
          identifier: "\(minor)",
          constraint: BeaconConstraint(uuid: home, major: 1, minor: minor)), assuming: .outside)
    }
    var entered = 0
    for round in 0..<5 {
      for minor in names {
        let time = Double(round) + Double(minor) * 1e-4
        entered += monitor.receive(sighting(time, minor: minor)).count { $0.change == .enter }
      }
    }
    #expect(entered == 10_000)
    let told = monitor.advance(to: at(1000)).filter { $0.change == .exit }
    #expect(told.count == 10_000)
    #expect(zip(told, told.dropFirst()).allSatisfy { $0.time < $1.time })
  }
}
