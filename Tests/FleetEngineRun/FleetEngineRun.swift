import FleetEngine
import FleetReports
import Foundation
import Synchronization

/// A worker, a set of receivers or a reader, for tests to kill. Reports are texts: a number and a
/// time. The nodes are ports of this machine.
@main struct FleetEngineRun {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let mode = arguments.first, let ports = arguments.dropFirst().first else {
      print("fleet-engine-run: give work, feed or read, and the ports of the nodes: 5672,5673")
      exit(64)
    }
    let rest = arguments.dropFirst(2).compactMap { Int($0) }
    var configuration = EngineConfiguration(
      nodes: ports.split(separator: ",").compactMap { UInt16($0) }.map {
        EngineConfiguration.Node(host: "127.0.0.1", port: $0)
      })
    let variables = ProcessInfo.processInfo.environment
    configuration.heartbeat = variables["HEARTBEAT"].flatMap { Int($0) } ?? 10
    configuration.balanceInterval = variables["BALANCE"].flatMap { Double($0) } ?? 5
    if let shards = variables["SHARDS"] {
      configuration.shards = shards.split(separator: ",").compactMap { Int($0) }
        .compactMap { Shard(number: $0) }
    }
    switch mode {
    case "work": await work(configuration)
    case "feed": try await feed(configuration, rest)
    case "pictures": try await readPictures(configuration)
    default: try await read(configuration)
    }
  }

  private static func work(_ configuration: EngineConfiguration) async {
    guard let worker = try? ShardWorker<CountingProcessor>(configuration, context: ()) else {
      exit(1)
    }
    let task = Task { await worker.run() }
    Thread.detachNewThread {
      while true {
        sleep(1)
        print("shards \(worker.status.shards.count) reports \(worker.status.reports)")
        fflush(nil)
      }
    }
    await task.value
  }

  /// Reports of receivers of sites, round by round, at a number of reports a second in all.
  private static func feed(
    _ configuration: EngineConfiguration, _ numbers: [Int]
  ) async throws {
    let (sites, receivers, rounds, rate) = (numbers[0], numbers[1], numbers[2], numbers[3])
    let total = sites * receivers * rounds
    let began = Date().timeIntervalSince1970
    let fed = Mutex(0)
    let publisher = try ReportPublisher(configuration) {
      let index = fed.withLock { $0 }
      guard index < total else { return .end }
      // Receivers go on while the engine is away, and publish later.
      let time = began + Double(index) / Double(rate)
      let left = time - Date().timeIntervalSince1970
      guard left <= 0 else { return .pause(left) }
      fed.withLock { $0 += 1 }
      let place = index % (sites * receivers)
      return .report(
        routingKey: FleetTopic.routingKey(
          ofSite: "site\(place % sites)", receiver: "r\(place / sites)"),
        body: Array("\(index / (sites * receivers) + 1) \(time)".utf8))
    }
    await publisher.run()
    print("stored \(publisher.count)")
  }

  private static func read(_ configuration: EngineConfiguration) async throws {
    let reader = try StreamReader(
      configuration, stream: StreamReader.transitionsStream, from: .first
    ) { entry in
      print(
        entry.offset, entry.id, String(decoding: entry.body, as: UTF8.self), now, separator: "\t")
      fflush(nil)
    }
    await reader.run()
  }

  /// Prints the id of each picture, and when it came.
  private static func readPictures(_ configuration: EngineConfiguration) async throws {
    let reader = try StreamReader(configuration, stream: StreamReader.pictures, from: .first) {
      print($0.offset, $0.id, now, separator: "\t")
      fflush(nil)
    }
    await reader.run()
  }

  private static var now: Double { Date().timeIntervalSince1970 }
}
