import Advertising
import Scanning
import Testing

@testable import Regions

/// Why a region was not entered: the rule that failed, and how near it was.
@Suite struct ApproachTests {
  private func approach(_ rules: RegionRules, _ lines: String...) throws -> RegionApproach? {
    var scene = try Scene(rules)
    for line in lines { #expect(scene.play(line) == []) }
    return scene.monitor.approach(to: "r")
  }

  @Test func nothingWasReceived() throws {
    #expect(try approach(.standard, "....") == nil)
    var scene = try Scene(.standard)
    #expect(scene.monitor.approach(to: "no such region") == nil)
    #expect(scene.play("a") == ["0 enter sighting"])
    #expect(scene.monitor.approach(to: "r") == nil)
  }

  @Test func signal() throws {
    // From -55 to -75 dBm; -50 are needed.
    let rules = try RegionRules(signal: SignalGate(enter: -50, exit: -60))
    let approach = try #require(try approach(rules, "hgfdefgh"))
    #expect(approach.rule == .signal && approach.sightings == 8)
    #expect(approach.beacon == BeaconIdentity(uuid: home, major: 1, minor: 1))
    #expect(approach.nearest.rssi == -55 && approach.latest.rssi == -75)
    #expect(approach.nearest.evidence == 0 && approach.nearest.dwell == 0)
  }

  @Test func signalThatIsStrongForTooShort() throws {
    let rules = try RegionRules(signal: SignalGate(enter: -50, exit: -60))
    let approach = try #require(try approach(rules, "hhhahhh"))
    #expect(approach.rule == .signal && approach.nearest.rssi == -40)
    // One second at most counts, and 6 dB; a beacon once a second needs three times the evidence.
    #expect(abs(approach.nearest.evidence - 1 / 3.0) < 0.02, "\(approach.nearest.evidence)")
    #expect(approach.latest.evidence == 0)
  }

  @Test func noSignalStrength() throws {
    let rules = try RegionRules(signal: SignalGate(enter: -50, exit: -60))
    let approach = try #require(try approach(rules, "????"))
    #expect(approach.rule == .signal && approach.nearest.rssi == nil && approach.sightings == 4)
    #expect(approach.nearest.distance == nil)
  }

  @Test func distance() throws {
    let rules = try RegionRules(distance: DistanceGate(enter: 0.1))
    let approach = try #require(try approach(rules, "ggedeg"))
    #expect(approach.rule == .distance)
    let nearest = try #require(approach.nearest.distance)
    let latest = try #require(approach.latest.distance)
    #expect(nearest > 0.1 && nearest < latest)
    // The distance is that of the strongest sighting alone.
    #expect(approach.nearest.rssi == -55)
  }

  @Test func count() throws {
    let rules = try RegionRules(
      exitTimeout: .fixed(seconds: 30), signal: SignalGate(enter: -60, exit: -60, excess: 0),
      count: EnterCount(needed: 3, of: 4))
    let approach = try #require(try approach(rules, "bbhhhh"))
    #expect(approach.rule == .count && approach.nearest.count == 2 && approach.latest.count == 0)
  }

  @Test func dwell() throws {
    let rules = try RegionRules(exitTimeout: .fixed(seconds: 3), dwell: 60)
    // Two visits: of 10 s and of 4 s.
    let approach = try #require(try approach(rules, "aaaaaaaaaaa........aaaaa"))
    #expect(approach.rule == .dwell && approach.nearest.dwell == 10 && approach.latest.dwell == 4)
    #expect(approach.sightings == 16)
  }

  @Test func theNearestBeaconCounts() throws {
    let rules = try RegionRules(signal: SignalGate(enter: -50, exit: -60), dwell: 20)
    var scene = try Scene(rules)
    #expect(scene.play("ffffffffffff", "aaaaaaaaaaaa", "eeeeeeeeeeee") == [])
    let approach = try #require(scene.monitor.approach(to: "r"))
    #expect(approach.beacon.minor == 2 && approach.rule == .dwell)
  }

  @Test func anEntryEndsIt() throws {
    let rules = try RegionRules(exitTimeout: .fixed(seconds: 3), dwell: 4)
    var scene = try Scene(rules)
    #expect(scene.play("aaaaaa......aa....") == ["4 enter dwell", "8 exit exitTimeout"])
    // Since then.
    let approach = try #require(scene.monitor.approach(to: "r"))
    #expect(approach.nearest.dwell == 1 && approach.sightings == 2)
  }

  @Test func aRegionThatReportsEachBeacon() throws {
    let rules = try RegionRules(
      exitTimeout: .fixed(seconds: 9), signal: SignalGate(enter: -50, exit: -60),
      reportsEachBeacon: true)
    var scene = try Scene(rules)
    #expect(scene.play("aaaaaaa", "eeeeeee").count == 1)
    #expect(scene.monitor.approach(to: "r")?.beacon.minor == 2)
  }

  /// The state at the start has the reason with it.
  @Test func theStateAtTheStart() throws {
    let rules = try RegionRules(dwell: 60)
    var monitor = RegionMonitor()
    let constraint = BeaconConstraint(uuid: home, major: 1, minor: 1)
    try monitor.add(
      MonitoredRegion(identifier: "r", constraint: constraint, rules: rules), assuming: .outside)
    var told: [RegionTransition] = []
    for second in 0...40 { told += monitor.receive(sighting(Double(second))) }
    try #require(told.map(\.change) == [.determined(.outside)])
    let approach = try #require(told[0].reason.approach)
    #expect(told[0].reason.rule == .start && approach.rule == .dwell)
    #expect(approach.nearest.dwell == 30)
  }

  @Test func memory() {
    #expect(MemoryLayout<BestValues>.size == 16)
    #expect(MemoryLayout<Link>.stride <= 80)
  }
}
