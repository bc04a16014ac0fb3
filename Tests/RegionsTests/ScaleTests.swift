import Advertising
import Regions
import Scanning
import Testing

/// Many beacons: how they make room, and that they find theirs.
@Suite struct ScaleTests {
  @Test func aForgottenBeaconLeaves() throws {
    var configuration = RegionMonitor.Configuration()
    configuration.maximumBeacons = 8
    var monitor = RegionMonitor(configuration)
    try monitor.add(
      MonitoredRegion(
        identifier: "r", constraint: BeaconConstraint(uuid: home, major: 1, minor: 1)))
    try monitor.add(
      MonitoredRegion(identifier: "flood", constraint: BeaconConstraint(uuid: home, major: 2)))
    _ = monitor.receive(sighting(0))
    var told: [RegionTransition] = []
    for number in 0..<8 { told += monitor.receive(sighting(1, minor: UInt16(number), major: 2)) }
    #expect(told.filter { $0.region == "r" }.map(\.reason.rule) == [.forgotten])
    #expect(monitor.evictions == 1)
    #expect(monitor.beaconCount == 8)
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
