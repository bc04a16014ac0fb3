import FleetEngine
import FleetPicture
import FleetReports
import FleetSites
import Foundation
import Fusion
import Synchronization
import TestDaemons
import TestSupport
import Testing

@testable import FleetWork

/// Workers on a real node, killed and replaced, give the changes that fusion gives without them.
@Suite(.blocking, .serialized) struct WorkTests {
  private final class Bodies: Sendable {
    private let bodies = Mutex<[[UInt8]]>([])
    var all: [[UInt8]] { bodies.withLock { $0 } }
    func append(_ body: [UInt8]) { bodies.withLock { $0.append(body) } }
  }

  @Test(.rabbitmq) func changesAreThoseOfFusionThroughTwoWorkers() async throws {
    let scratch = try Scratch()
    let node = try RabbitMQNode(in: scratch)
    let sites = ["museum", "bank"]
    try scratch.makeFolder("sites")
    for site in sites {
      try scratch.write(Array(Site(planOf: 4, name: site).toml.utf8), "sites/\(site).toml")
    }
    var configuration = EngineConfiguration(nodes: [.init(host: "127.0.0.1", port: node.port)])
    configuration.shards = sites.map { Shard(ofSite: $0) }
    configuration.storeInterval = 0.3
    configuration.heartbeat = 2
    configuration.declareTime = 0
    configuration.balanceInterval = 0.5

    var reports: [ReceiverReport] = []
    var simulators = sites.enumerated().map { index, site in
      var configuration = SiteSimulator.Configuration()
      configuration.beacons = 5
      configuration.stay = 20
      configuration.seed = UInt64(index) + 1
      return (site, SiteSimulator(Site(planOf: 4, name: site), configuration))
    }
    for _ in 0..<120 {
      for index in simulators.indices {
        let site = simulators[index].0
        reports += simulators[index].1.next().reports
          .map { SiteShardTests.report(of: $0, site: site) }
      }
    }
    var expected: [RoomChange] = []
    var fusions = Dictionary(
      uniqueKeysWithValues: sites.map {
        ($0, SiteFusion(SiteModel(Site(planOf: 4, name: $0))))
      })
    for report in reports {
      // JSON has hundredths of a dB.
      let report = try unsafe ReceiverReport(parsing: report.json.span.bytes)
      expected += (fusions[report.site]?.receive(ReceiverSecond(report)) ?? [])
        .map { $0.change(site: report.site) }
    }
    #expect(expected.count > 20)

    let library = SiteLibrary(SiteDirectory(scratch["sites"]))
    let worker = try ShardWorker<SiteShard>(configuration, context: library)
    let work = Task { await worker.run() }
    #expect(await eventually { worker.status.link.node != nil })
    let changes = Bodies()
    // A worker that takes over publishes some again.
    let ids = Mutex<Set<String>>([])
    let reader = try StreamReader(
      configuration, stream: StreamReader.transitionsStream, from: .first
    ) { entry in
      if ids.withLock({ $0.insert(entry.id).inserted }) { changes.append(entry.body) }
    }
    let pictures = Bodies()
    let pictureReader = try StreamReader(
      configuration, stream: StreamReader.pictures, from: .first
    ) { pictures.append($0.body) }
    let reading = [Task { await reader.run() }, Task { await pictureReader.run() }]

    let sent = Mutex(0)
    let all = reports
    let publisher = try ReportPublisher(configuration) {
      sent.withLock { sent in
        guard sent < all.count else { return .end }
        defer { sent += 1 }
        return .report(
          routingKey: FleetTopic.routingKey(
            ofSite: all[sent].site, receiver: all[sent].receiver), body: all[sent].json)
      }
    }
    let publishing = Task { await publisher.run() }
    #expect(await eventually { worker.status.reports > reports.count / 4 })
    let second = try ShardWorker<SiteShard>(configuration, context: library)
    let secondWork = Task { await second.run() }
    #expect(await eventually { second.status.link.node != nil })
    // Its shards go to the other one.
    work.cancel()
    await work.value
    await publishing.value
    #expect(await eventually { changes.all.count >= expected.count })

    let received = try changes.all.map { try RoomChange(json: $0) }
    for site in sites {
      #expect(received.filter { $0.site == site } == expected.filter { $0.site == site })
    }
    #expect(await eventually { !pictures.all.isEmpty })
    let picture = try #require(try pictures.all.last.map { try SitePicture(json: $0) })
    #expect(picture.beacons.count == 5 && picture.receivers.count == 4)
    for task in reading + [secondWork] {
      task.cancel()
      await task.value
    }
  }
}
