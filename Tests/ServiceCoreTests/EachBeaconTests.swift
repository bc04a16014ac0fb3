import Advertising
import BeaconTesting
import Foundation
import Regions
import Scanning
import Storage
import TestSupport
import Testing

@testable import ServiceCore

/// Regions whose rules report each beacon, as a client of the service has them.
@Suite struct EachBeaconTests {
  private func region(_ exitTimeout: Double = 5) throws -> BeaconRegion {
    BeaconRegion(
      identifier: "lobby", constraint: Site.all,
      rules: try RegionRules(exitTimeout: .fixed(seconds: exitTimeout), reportsEachBeacon: true))
  }

  private func describe(_ events: [RegionEvent]) -> [String] {
    events.map { event in
      let transition = event.transition
      let change = transition.change.isCrossing ? "\(transition.change)" : "is"
      let beacon = transition.beacon.map { "\($0.minor)" } ?? "-"
      return "\(change) \(beacon) \(transition.change.state)"
    }
  }

  @Test func eachIsReported() async throws {
    let scanner = ScriptedScanner()
    scanner.add(Site.frame(1), rssi: -60, every: 0.1, from: 1, to: 30)
    scanner.add(Site.frame(2), rssi: -60, every: 0.1, from: 3, to: 6)
    let site = try Site(scanner)
    let reader = site.reader()
    try reader.client.register(region(), assuming: .outside)
    try reader.client.register(Site.region("whole"), assuming: .outside)
    for _ in 0..<20 { scanner.clock.advance(by: 1) }
    #expect(await eventually { reader.regions.count == 4 })
    let lobby = reader.regions.filter { $0.region.identifier == "lobby" }
    #expect(describe(lobby) == ["enter 1 inside", "enter 2 inside", "exit 2 outside"])
    #expect(lobby.allSatisfy { $0.transition.region == "lobby" })
    // Beside it, iOS's meaning.
    let whole = reader.regions.filter { $0.region.identifier == "whole" }
    #expect(describe(whole) == ["enter - inside"])
    let snapshot = try #require(reader.client.snapshot(ofRegion: "lobby"))
    #expect(snapshot.status.state == .inside && snapshot.status.beacons == 1)
    #expect(snapshot.beacons.keys.map(\.minor) == [1])
    #expect(snapshot.beacons.values.first == lobby[0].wallClockTime)
    #expect(snapshot.since == lobby[0].wallClockTime)
  }

  /// The next process, however this one ended: who stayed is determined, who left leaves, who is new enters.
  @Test func statesOutliveTheProcess() async throws {
    let scratch = SeamTests.temporaryFile()
    var entered: [BeaconIdentity: WallClockTime] = [:]
    do {
      let scanner = ScriptedScanner()
      scanner.add(Site.frame(1), rssi: -60, every: 0.1, from: 1, to: 10)
      scanner.add(Site.frame(2), rssi: -60, every: 0.1, from: 2, to: 10)
      let site = try Site(scanner, persistence: .file(scratch))
      let reader = site.reader()
      try reader.client.register(region(), assuming: .outside)
      scanner.clock.advance(by: 5)
      #expect(await eventually { reader.regions.count == 2 })
      entered = try #require(reader.client.snapshot(ofRegion: "lobby")).beacons
      scanner.finish(at: 6)
      scanner.clock.advance(by: 2)
      #expect(await eventually { reader.hasEnded })
      reader.client.remove()
    }
    #expect(await eventually { (try? Store(.file(scratch))) != nil })
    let scanner = ScriptedScanner()
    scanner.add(Site.frame(2), rssi: -60, every: 0.1, from: 1, to: 20)
    scanner.add(Site.frame(3), rssi: -60, every: 0.1, from: 2, to: 20)
    let site = try Site(scanner, persistence: .file(scratch))
    let reader = site.reader()
    try reader.client.register(region(), assuming: .outside)
    let known = try #require(reader.client.snapshot(ofRegion: "lobby"))
    #expect(known.beacons == entered && known.status.beacons == 2)
    for _ in 0..<12 { scanner.clock.advance(by: 1) }
    #expect(await eventually { reader.regions.count == 3 })
    #expect(describe(reader.regions) == ["is 2 inside", "enter 3 inside", "exit 1 outside"])
    #expect(reader.regions.last?.transition.reason.rule == .start)
    let now = try #require(reader.client.snapshot(ofRegion: "lobby"))
    #expect(Set(now.beacons.keys.map(\.minor)) == [2, 3])
    // Since when it is inside is what it was.
    #expect(
      now.beacons.first { $0.key.minor == 2 }?.value == entered.first { $0.key.minor == 2 }?.value)
    await site.manager.stop()
  }

  /// As many as can be inside, with the longest names and times, are within the bound of the store.
  @Test func theStoreHoldsAllStates() throws {
    var state = BeaconMachine.RegistrationState(state: .outside)
    let time = WallClockTime(nanoseconds: 1_768_467_605_043_068_123)
    for minor in 0..<UInt16(RegionRules.maximumBeaconsInside) {
      state.update(
        BeaconIdentity(uuid: Site.uuid, major: 65535, minor: 65535 - minor), .enter, at: time,
        exitTimeout: 123.456_789_012_345_67)
    }
    #expect(state.beacons?.count == RegionRules.maximumBeaconsInside)
    #expect(try JSONEncoder().encode(state).count < 65536)
    #expect(state.beacons(of: Site.all, \.since).count == RegionRules.maximumBeaconsInside)
  }
}
