import Advertising
import RegionStorage
import Regions
import Scanning
import Testing

/// What is put is what is found after a restart.
@Suite struct RoundTripTests {
  static let rules: [RegionRules] = [
    .standard,
    try? RegionRules(exitTimeout: .fixed(seconds: 0.1)),
    try? RegionRules(exitTimeout: .fixed(seconds: RegionRules.longest)),
    try? RegionRules(exitTimeout: .adaptive(falseExitsPerDay: 1.0 / 3, ceiling: 2)),
    try? RegionRules(signal: SignalGate(enter: -60.7, exit: -66.1, excess: 0)),
    try? RegionRules(signal: SignalGate(boundary: -70)),
    try? RegionRules(distance: DistanceGate(enter: 0.1, exit: 1000, excess: 3.3)),
    try? RegionRules(count: EnterCount(needed: 3, of: 64)),
    try? RegionRules(dwell: 4.2),
    try? RegionRules(
      exitTimeout: .fixed(seconds: 30), signal: SignalGate(enter: -60),
      distance: DistanceGate(enter: 2), count: EnterCount(needed: 2, of: 5), dwell: 1e-9),
  ].compactMap { $0 }

  @Test(arguments: rules)
  func everyRule(_ rules: RegionRules) throws {
    let scratch = try Scratch()
    let stored = StoredRegion(
      MonitoredRegion(identifier: "r", constraint: BeaconConstraint(uuid: home), rules: rules))
    try unsynced(scratch["s"]).put(stored)
    #expect(try unsynced(scratch["s"]).regions == [stored])
  }

  @Test func allRulesAreTried() { #expect(Self.rules.count == 10) }

  static let odd = [
    "", "lobby", "a b\n\"\\/\0\u{7F}", "Küche 🏠", "../..", String(repeating: "x", count: 20000),
    "{\"sum\":\"00000000\",",
  ]

  @Test(arguments: odd, odd.prefix(4))
  func names(_ identifier: String, _ owner: String) throws {
    let scratch = try Scratch()
    let stored = region(identifier, owner: owner)
    let store = try unsynced(scratch["s"])
    try store.put(stored)
    let events = try store.record([crossing(of: identifier, owner: owner)])
    #expect(events.map(\.key) == [stored.key])
    let before = Whole(store)
    #expect(before.pending == events)
    _ = consume store
    let again = try unsynced(scratch["s"])
    #expect(Whole(again) == before)
    #expect(again.remarks.isEmpty)
  }

  @Test(arguments: [nil, 0, UInt16.max] as [UInt16?], [nil, 0, UInt16.max] as [UInt16?])
  func constraints(_ major: UInt16?, _ minor: UInt16?) throws {
    let scratch = try Scratch()
    let constraint = BeaconConstraint(uuid: home, major: major, minor: minor)
    let stored = StoredRegion(MonitoredRegion(identifier: "r", constraint: constraint))
    try unsynced(scratch["s"]).put(stored)
    #expect(try unsynced(scratch["s"]).regions == [stored])
  }

  @Test(arguments: RegionState.allCases, 0..<8)
  func flagsAndState(_ state: RegionState, _ flags: Int) throws {
    let scratch = try Scratch()
    var stored = region("r", owner: "m")
    stored.notifyOnEntry = flags & 1 == 0
    stored.notifyOnExit = flags & 2 == 0
    stored.notifyEntryStateOnDisplay = flags & 4 == 0
    stored.state = state
    stored.since = flags == 3 ? nil : MonotonicTime(nanoseconds: flags == 4 ? .min : .max)
    stored.silenceLimit = flags == 5 ? nil : 1.0 / 7
    try unsynced(scratch["s"]).put(stored)
    #expect(try unsynced(scratch["s"]).regions == [stored])
  }

  static let transitions: [RegionTransition] =
    [.enter, .exit, .determined(.inside), .determined(.outside), .determined(.unknown)].map {
      transition($0, at: .max)
    }
    + RegionTransition.Rule.allCases.map { rule in
      transition(
        .exit, at: .min,
        reason: RegionTransition.Reason(
          rule,
          lastSighting: RegionTransition.LastSighting(
            of: BeaconIdentity(uuid: home, major: 0, minor: .max),
            at: MonotonicTime(nanoseconds: -1),
            rssi: rule == .start ? nil : .min), samples: .max, exitTimeout: 1e300,
          interval: 0.1, loss: 1.0 / 3))
    } + [transition(.enter, of: "of another name")]

  @Test(arguments: transitions)
  func events(_ transition: RegionTransition) throws {
    let scratch = try Scratch()
    let store = try unsynced(scratch["s"])
    try store.put(region("r"))
    let change = StoredChange(
      region("r").key, state: .inside, at: transition.time, event: transition)
    let events = try store.record([change])
    #expect(events.map(\.transition) == [transition])
    _ = consume store
    let again = try unsynced(scratch["s"])
    #expect(again.pending == events)
    #expect(again.regions.first?.state == .inside)
    #expect(again.regions.first?.since == transition.time)
  }

  @Test func numbersThatJSONHasNotAreDropped() throws {
    let scratch = try Scratch()
    let store = try unsynced(scratch["s"])
    var stored = region("r")
    stored.silenceLimit = .nan
    try store.put(stored)
    let reason = RegionTransition.Reason(
      .exitTimeout, lastSighting: nil, samples: 0, exitTimeout: .infinity, interval: .nan, loss: 0.5
    )
    _ = try store.record([
      StoredChange(
        stored.key, state: .inside, at: MonotonicTime(nanoseconds: 1), silenceLimit: -.infinity,
        event: transition(.enter, reason: reason))
    ])
    #expect(store.regions.first?.silenceLimit == nil)
    _ = consume store
    let found = try unsynced(scratch["s"]).pending.first?.transition.reason
    #expect(found?.exitTimeout == nil && found?.interval == nil && found?.loss == 0.5)
  }

  @Test(arguments: [nil, "", "always"] as [String?])
  func authorization(_ value: String?) throws {
    let scratch = try Scratch()
    let store = try unsynced(scratch["s"])
    try store.setAuthorization("denied")
    try store.setAuthorization(value)
    #expect(store.authorization == value)
    _ = consume store
    #expect(try unsynced(scratch["s"]).authorization == value)
  }

  @Test func theSameKeyReplacesAndOthersStay() throws {
    let scratch = try Scratch()
    let store = try unsynced(scratch["s"])
    try store.put([region("r", major: 1), region("r", owner: "m", major: 2)])
    let events = try store.record([crossing()])
    try store.put(region("r", major: 3))
    #expect(store.regions.map(\.region.constraint.major) == [3, 2])
    #expect(store.pending == events, "putting it again, as apps do, loses no event")
    let length = try scratch.bytes("s").count
    try store.put(region("r", major: 3))
    #expect(try scratch.bytes("s").count == length, "the same again costs nothing")
    _ = consume store
    let again = try unsynced(scratch["s"])
    #expect(again.regions.map(\.region.constraint.major) == [3, 2])
    #expect(again.region(StoredRegion.Key(identifier: "r"))?.state == .unknown)
  }

  @Test func removalForgetsRegionAndEvents() throws {
    let scratch = try Scratch()
    let store = try unsynced(scratch["s"])
    try store.put([region("a"), region("b")])
    let events = try store.record([crossing(of: "a"), crossing(of: "b")])
    #expect(try store.remove(region("a").key)?.state == .inside)
    #expect(try store.remove(region("a").key) == nil)
    #expect(store.pending == Array(events.suffix(1)))
    #expect(try store.record([crossing(of: "a")]).isEmpty, "it is not there any more")
    _ = consume store
    let again = try unsynced(scratch["s"])
    #expect(again.pending == Array(events.suffix(1)))
    #expect(again.regions.map(\.region.identifier) == ["b"])
  }

  @Test func whatIsTooLongIsAnErrorAndChangesNothing() throws {
    let scratch = try Scratch()
    let store = try unsynced(scratch["s"])
    try store.put(region("r"))
    let before = Whole(store)
    let long = region(String(repeating: "y", count: 70000))
    #expect {
      try store.put([region("q"), long])
    } throws: {
      "\($0)".contains("takes 70") && "\($0)".contains("65536")
    }
    #expect(Whole(store) == before)
    try store.put(region("z"))
    _ = consume store
    #expect(try unsynced(scratch["s"]).regions.map(\.region.identifier) == ["r", "z"])
  }
}
