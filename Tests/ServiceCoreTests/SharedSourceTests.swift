import BeaconTesting
import Scanning
import Synchronization
import TestSupport
import Testing

@testable import ServiceCore

/// Managers that share a source, as those of several apps in a daemon do.
@Suite struct SharedSourceTests {
  private struct User {
    let manager: ServiceManager
    let host: ServiceHost<TickService>
    let client: ServiceClient
    let ticks = Ticks()

    final class Ticks: Sendable {
      let all = Mutex<[TickEvent]>([])
    }

    init(_ shared: SharedSource<TickService>) {
      var configuration = ServiceManager.Configuration()
      configuration.persistence = .none
      configuration.authorization = SeamTests.Always()
      manager = ServiceManager(configuration)
      host = ServiceHost(TickService(), sharing: shared, manager: manager)
      client = manager.addClient { [ticks] delivery in
        if let event = delivery.event as? TickEvent { ticks.all.withLock { $0.append(event) } }
        delivery.complete()
      }
    }

    func listen(every count: Int) {
      host.update { service, _ in service.listen(client, every: count) }
    }

    func received(_ ticks: [Int]) async -> Bool {
      await eventually { self.ticks.all.withLock { $0 } == ticks.map { .tick($0) } }
    }
  }

  @Test func theSourceServesTheUnionAndRestsAfterTheLast() async {
    let source = TickSource()
    let shared = SharedSource<TickService>(source)
    let (one, other) = (User(shared), User(shared))
    one.listen(every: 3)
    other.listen(every: 2)
    await eventually { source.state.withLock { $0.demands.last } == 2 }
    for tick in 1...6 { source.tick(tick) }
    #expect(await one.received([3, 6]))
    #expect(await other.received([2, 4, 6]))
    other.client.remove()
    // The demand of the other one alone.
    await eventually { source.state.withLock { $0.demands.last } == 3 }
    #expect(source.state.withLock { $0.rests } == 0)
    source.tick(9)
    #expect(await one.received([3, 6, 9]))
    one.client.remove()
    await eventually { source.state.withLock { $0.rests } == 1 }
    #expect(await other.received([2, 4, 6]))
  }

  @Test func aServiceThatStopsDoesNotEndTheOthers() async {
    let source = TickSource()
    let shared = SharedSource<TickService>(source)
    let (one, other) = (User(shared), User(shared))
    one.listen(every: 2)
    other.listen(every: 1)
    // Only then do both take part.
    await eventually { source.state.withLock { $0.demands.last } == 1 }
    source.tick(2)
    #expect(await one.received([2]))
    await one.manager.stop()
    source.tick(4)
    #expect(await other.received([2, 4]))
    #expect(await one.received([2]))
    source.stop()
    await eventually { other.host.failure is TickSource.Stopped }
    // One that comes later learns of the end, too.
    #expect(User(shared).host.end == "a clock: Stopped()")
  }

  /// A stop during the source's turn, after the turn of the service that stops.
  @Test func aServiceThatHasStoppedReceivesNothing() async {
    let source = TickSource()
    let shared = SharedSource<TickService>(source)
    let (one, other) = (User(shared), User(shared))
    other.listen(every: 2)
    await eventually { source.state.withLock { $0.demands.last } == 2 }
    one.listen(every: 1)
    // Only then do both take part.
    await eventually { source.state.withLock { $0.demands.last } == 1 }
    source.tick(2)
    #expect(await one.received([2]))
    let isFirst = Atomic<Bool>(true)
    other.host.update { service, _ in
      service.readsDemand = { [host = one.host] in
        guard isFirst.exchange(false, ordering: .relaxed) else { return }
        host.stop { source.tick(4) }
      }
    }
    #expect(await other.received([2, 4]))
    #expect(one.host.read { $0.latestTick } == 2)
    source.stop()
  }

  /// A radio reports its state once; a service that joins while it receives needs it.
  @Test func aServiceThatJoinsStartsWithTheKnownState() async throws {
    let scanner = ScriptedScanner(isRecorded: false)
    scanner.add(Site.frame(1), rssi: -60, every: 0.1, from: 0, to: 1000)
    scanner.report(.scanning, at: 0.5)
    let site = try Site(scanner)
    let reader = site.reader()
    try reader.client.startRanging(RangingRequest(nil))
    func advance(until isDone: () -> Bool) async -> Bool {
      await eventually {
        if scanner.delivered >= scanner.clock.now { scanner.clock.advance(by: 0.5) }
        return isDone()
      }
    }
    #expect(await advance { !reader.health.isEmpty })
    var configuration = ServiceManager.Configuration()
    configuration.persistence = .none
    configuration.authorization = Administrator()
    let later = BeaconService(ServiceManager(configuration), sharing: site.beacons)
    let joined = Reader(later.addClient())
    try joined.client.startRanging(RangingRequest(nil))
    #expect(await advance { !joined.reports.isEmpty && !joined.health.isEmpty })
    #expect(joined.health.map(\.adapter) == ["hci0"])
    // It did not receive before it joined.
    let began = try #require(later.received?.from)
    #expect(try began > #require(site.beacons.received?.from))
    reader.client.remove()
    joined.client.remove()
    #expect(await eventually { scanner.demands.last == ScanDemand.none })
  }
}
