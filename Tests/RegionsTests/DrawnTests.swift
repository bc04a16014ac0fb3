import Regions
import Scanning
import Testing

/// Each rule alone and together, drawn in time: a second a character.
@Suite struct DrawnTests {
  static let fixed = ExitTimeoutRule.fixed(seconds: 3)

  @Test func entersWithTheFirstSightingAndLeavesAfterSilence() throws {
    var scene = try Scene(RegionRules(exitTimeout: Self.fixed))
    #expect(
      scene.play("..a.a.aa........a....") == [
        "2 enter sighting", "10 exit exitTimeout", "16 enter sighting", "19 exit exitTimeout",
      ])
  }

  @Test func aSightingWithoutSignalCountsForPresence() throws {
    var scene = try Scene(RegionRules(exitTimeout: Self.fixed))
    #expect(scene.play("?.?.?......") == ["0 enter sighting", "7 exit exitTimeout"])
  }

  @Test func aSightingAtTheLimitIsInTime() throws {
    var scene = try Scene(RegionRules(exitTimeout: Self.fixed))
    #expect(
      scene.play("a..a...a....") == [
        "0 enter sighting", "6 exit exitTimeout", "7 enter sighting", "10 exit exitTimeout",
      ])
  }

  @Test func theLastOfSeveralBeaconsLeaves() throws {
    var scene = try Scene(RegionRules(exitTimeout: Self.fixed))
    #expect(
      scene.play(
        ".aa.........",
        "..aaaa......",
        "....a.a.....") == ["1 enter sighting", "9 exit exitTimeout"])
  }

  @Test func otherBeaconsAreNotMeant() throws {
    var scene = try Scene(
      RegionRules(exitTimeout: Self.fixed),
      constraint: BeaconConstraint(uuid: home, major: 1, minor: 2)
    )
    #expect(scene.play("aaaa.....", "...a.....") == ["3 enter sighting", "6 exit exitTimeout"])
  }

  /// A beacon that is sent as often as the exit timeout lasts is there: its silence does not exceed it.
  @Test(arguments: [false, true])
  func aSilenceAsLongAsTheExitTimeoutIsNoExit(isAskedForTime: Bool) throws {
    var monitor = RegionMonitor()
    try monitor.add(
      MonitoredRegion(
        identifier: "r", constraint: BeaconConstraint(uuid: home),
        rules: RegionRules(exitTimeout: .fixed(seconds: 30))))
    var changes: [RegionTransition.Change] = []
    for index in 0..<20 {
      let next = sighting(Double(index) * 30)
      // However often it is given the time.
      if isAskedForTime { changes += monitor.advance(to: next.time).map(\.change) }
      changes += monitor.receive(next).map(\.change)
    }
    #expect(changes == [.determined(.inside)])
    let last = sighting(19 * 30).time.advanced(by: 30_000_000_001)
    #expect(monitor.nextDeadline() == last)
    #expect(monitor.advance(to: last).map(\.change) == [.exit])
  }

  @Test func threeOfTheLastFive() throws {
    let rules = try RegionRules(exitTimeout: Self.fixed, count: EnterCount(needed: 3, of: 5))
    var scene = try Scene(rules)
    #expect(scene.play("a.a....a.a.a....") == ["11 enter count", "14 exit exitTimeout"])
  }

  @Test func countLooksAtTheGates() throws {
    let rules = try RegionRules(
      exitTimeout: Self.fixed, signal: SignalGate(enter: -62, exit: -72, excess: 0),
      count: EnterCount(needed: 3, of: 4))
    var scene = try Scene(rules)
    // Loud, too weak, loud: the weak ones are within the last four, but close the gate.
    #expect(
      scene.play("aahaahaaa......") == [
        "3 enter signal", "5 exit signal", "8 enter count", "11 exit exitTimeout",
      ])
  }

  @Test func dwellIsOverWithTheFirstSightingAfterIt() throws {
    let rules = try RegionRules(exitTimeout: Self.fixed, dwell: 4)
    var scene = try Scene(rules)
    #expect(scene.play("a.a.a.a......") == ["4 enter dwell", "9 exit exitTimeout"])
  }

  @Test func silenceBreaksTheDwell() throws {
    let rules = try RegionRules(exitTimeout: Self.fixed, dwell: 4)
    var scene = try Scene(rules)
    #expect(scene.play("a.a....a.a.aa....") == ["11 enter dwell", "15 exit exitTimeout"])
  }

  @Test func aClosedGateBreaksTheDwell() throws {
    let rules = try RegionRules(
      exitTimeout: Self.fixed, signal: SignalGate(enter: -62, exit: -72, excess: 0), dwell: 3)
    var scene = try Scene(rules)
    #expect(scene.play("aakaaaaa....") == ["6 enter dwell", "10 exit exitTimeout"])
  }

  @Test func signalEntersAndLeaves() throws {
    let rules = try RegionRules(exitTimeout: Self.fixed, signal: SignalGate(enter: -70, exit: -76))
    var scene = try Scene(rules)
    // h is -75 dBm: between the levels nothing changes, on either side.
    #expect(
      scene.play("hhhhhddddddhhhhhhkkkkkkk") == ["7 enter signal", "19 exit signal"])
  }

  @Test func aWeakBeaconIsOutsideThoughHeard() throws {
    let rules = try RegionRules(exitTimeout: Self.fixed, signal: SignalGate(boundary: -70))
    var scene = try Scene(rules)
    #expect(scene.play("kkkkkkkkkkkkkkkkkkk").isEmpty)
  }

  @Test func anOutlierDecidesNothing() throws {
    let rules = try RegionRules(exitTimeout: Self.fixed, signal: SignalGate(boundary: -70))
    var scene = try Scene(rules)
    #expect(scene.play("dddddddkddddkddd") == ["3 enter signal"])
  }

  @Test func distanceEntersAndLeaves() throws {
    // With -59 dBm at 1 m and n = 2: 3 m is -68.5 dBm, 6 m is -74.6 dBm.
    let rules = try RegionRules(exitTimeout: Self.fixed, distance: DistanceGate(enter: 3, exit: 6))
    var scene = try Scene(rules)
    #expect(scene.play("hhhhdddddhhhhkkkkkkk") == ["6 enter distance", "15 exit distance"])
  }

  @Test func bothGatesMustBeOpen() throws {
    let rules = try RegionRules(
      exitTimeout: Self.fixed, signal: SignalGate(enter: -50, exit: -55, excess: 0),
      distance: DistanceGate(enter: 3, exit: 6, excess: 0))
    var scene = try Scene(rules)
    #expect(
      scene.play("ddddaaadddaaa....") == [
        "4 enter signal", "7 exit signal", "10 enter signal", "15 exit exitTimeout",
      ])
  }

  @Test func aGateCannotOpenWithoutSignal() throws {
    let rules = try RegionRules(exitTimeout: Self.fixed, signal: SignalGate(boundary: -70))
    var scene = try Scene(rules)
    #expect(scene.play("???????dddd????.....") == ["9 enter signal", "17 exit exitTimeout"])
  }
}
