import BeaconTesting
import Foundation
import Ranging
import Regions
import Scanning
import Synchronization
import TestSupport
import Testing

@testable import HTTPServing
@testable import KioskService
@testable import ServiceCore

/// What the hub answers.
@Suite(.timeLimit(.minutes(5))) struct HubTests {
  private func report() -> RangingReport {
    RangingReport(
      time: MonotonicTime(nanoseconds: 0), wallClockOffset: .zero, beacons: [],
      requests: [RangingRequest(nil)])
  }

  /// Beacons that were received before a rest are not those that are there after it.
  @Test func beaconsOfBeforeARestAreNotShown() throws {
    let hub = try KioskScene().hub
    hub.setRanging(true)
    hub.receive(report())
    #expect(hub.latestReport != nil)
    hub.setRanging(false)
    #expect(hub.latestReport == nil)
    // It was on its way.
    hub.receive(report())
    #expect(hub.latestReport == nil)
  }

  @Test func aFirstValueIsWaitedForAndNoLongerThanItTakes() async throws {
    let hub = try KioskScene().hub
    await hub.wait(.milliseconds(1)) { false }
    hub.setRanging(true)
    async let waited: Void = hub.wait(.seconds(3600)) { hub.latestReport != nil }
    await Task.yield()
    hub.receive(report())
    await waited
    hub.waiters.close()
    await hub.wait(.seconds(3600)) { false }
  }

  /// Without a database, memory has the events: what is asked for is selected all the same.
  @Test func theHistoryInMemorySelects() throws {
    let scene = try KioskScene(regions: [
      BeaconRegion(identifier: "door", constraint: KioskScene.constraint(1)),
      BeaconRegion(identifier: "lobby", constraint: KioskScene.constraint(2)),
    ])
    for minor in UInt16(1)...2 {
      scene.scanner.add(KioskScene.frame(minor), rssi: -60, every: 0.1, from: 0, to: 2)
    }
    for _ in 0..<10 { scene.advance(by: 1) }
    #expect(
      eventually {
        scene.hub.tally.transitions.values.reduce(0) { $0 + $1.enters + $1.exits } == 4
      })
    func events(
      since: WallClockTime? = nil, until: WallClockTime? = nil, region: String? = nil,
      limit: Int = 100
    ) throws -> [(kind: String, region: String)] {
      let json = try scene.hub.historyJSON(
        after: nil, since: since, until: until, region: region, limit: limit)
      let list = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
      let events = list?["events"] as? [[String: Any]] ?? []
      return events.compactMap { $0["event"] as? [String: Any] }.map {
        ($0["type"] as? String ?? "", $0["region"] as? String ?? "")
      }
      .filter { ["enter", "exit"].contains($0.0) }
    }
    let all = try events()
    #expect(all.map(\.kind).sorted() == ["enter", "enter", "exit", "exit"])
    #expect(try events(region: "door").map(\.kind) == ["enter", "exit"])
    #expect(try events(region: "nosuch").isEmpty)
    let (past, future) = (
      WallClockTime(nanoseconds: -1 << 62), WallClockTime(nanoseconds: .max)
    )
    #expect(try events(since: future).isEmpty && events(until: past).isEmpty)
    #expect(try events(since: past).count == 4)
    // With a start, the first ones are wanted.
    #expect(try events(since: past, region: "door", limit: 1).map(\.kind) == ["enter"])
    #expect(try events(region: "door", limit: 1).map(\.kind) == ["exit"])
  }

  /// What is reported last is so, whichever threads begin and end.
  @Test func theLatestInterestIsReportedLast() {
    for _ in 0..<200 {
      let meter = InterestMeter(patience: 0)
      let reported = Mutex([false])
      meter.onChange { isInterested in reported.withLock { $0.append(isInterested) } }
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        meter.begin()
        meter.end()
      }
      meter.begin()
      let found = reported.withLock { $0 }
      #expect(found.last == true)
      #expect(zip(found, found.dropFirst()).allSatisfy { $0 != $1 })
      meter.end()
      #expect(eventually { reported.withLock { $0.last } == false })
    }
  }
}
