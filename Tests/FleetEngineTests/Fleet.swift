import FleetReports
import Foundation
import Synchronization
import TestDaemons
import TestSupport
import Testing

@testable import FleetEngine

/// The reports of some receivers, and the transitions that `fleet-engine-run` makes of them.
struct Reports: Sendable {
  var sites: [String]
  var receivers: Int
  var rounds: Int

  var count: Int { sites.count * receivers * rounds }
  var shards: [Shard] { Set(sites.map { Shard(ofSite: $0) }).sorted { $0.number < $1.number } }

  /// Returns a report by its place in time.
  func report(_ index: Int) -> ReportPublisher.Next {
    guard index < count else { return .end }
    let place = index % (sites.count * receivers)
    return .report(
      routingKey: FleetTopic.routingKey(
        ofSite: sites[place % sites.count], receiver: "r\(place / sites.count)"),
      body: Array("\(index / (sites.count * receivers) + 1) 0".utf8))
  }

  /// The transitions of a receiver in a run without faults: number and body.
  var transitions: [String] {
    var sum: UInt64 = 0
    var transitions: [String] = []
    for number in 1...rounds {
      sum = sum &* 31 &+ UInt64(number)
      if number % 5 == 0 { transitions.append("\(number / 5) \(sum) 0") }
    }
    return transitions
  }

  var names: [String] {
    sites.flatMap { site in (0..<receivers).map { "\(site)/r\($0)" } }
  }
}

/// A node of the engine with the runs of a test, and all transitions that a reader has had.
final class Fleet {
  let scratch: Scratch
  let node: RabbitMQNode
  let reports: Reports
  private let transitions = Ledger()
  private var reader: Task<Void, Never>?

  /// Transitions by receiver, in the order in which they came, each once.
  private final class Ledger: Sendable {
    let ids = Mutex<Set<String>>([])
    let bodies = Mutex<[String: [String]]>([:])
  }

  init(_ reports: Reports) throws {
    scratch = try Scratch()
    node = try RabbitMQNode(in: scratch)
    self.reports = reports
  }

  deinit { reader?.cancel() }

  var configuration: EngineConfiguration {
    var configuration = EngineConfiguration(nodes: [.init(host: "127.0.0.1", port: node.port)])
    configuration.shards = reports.shards
    configuration.reconnectDelay = 0.05...0.5
    // On a busy machine, a test and its node may stand still for longer than a worker's heartbeat. A worker that gives up
    // its shards, and a report that is sent again, repeat something.
    configuration.heartbeat = 60
    configuration.answerTime = 60
    configuration.copyTime = 3
    configuration.declareTime = 0
    return configuration
  }

  /// Connects, with the channel of registers.
  func connect() throws -> AMQPConnection {
    let connection = try AMQPConnection(
      configuration.nodes[0], configuration, RabbitMQLibrary.shared.get())
    try connection.openChannel(Register.channel)
    try connection.confirmPublications(Register.channel)
    return connection
  }

  func declare() throws {
    let connection = try connect()
    try Topology.declare(configuration, on: connection)
    connection.close()
  }

  /// Declares the queues, and starts a reader of the transitions.
  func start() throws {
    try declare()
    let reader = try StreamReader(
      configuration, stream: StreamReader.transitionsStream, from: .first
    ) { [transitions] entry in
      guard transitions.ids.withLock({ $0.insert(entry.id).inserted }),
        let slash = entry.id.lastIndex(of: "/")
      else { return }
      let number = entry.id[entry.id.index(after: slash)...]
      transitions.bodies.withLock {
        $0[String(entry.id[..<slash]), default: []].append(
          "\(number) \(String(decoding: entry.body, as: UTF8.self))")
      }
    }
    self.reader = Task { await reader.run() }
  }

  func worker() throws -> ChildRun {
    try ChildRun(
      "fleet-engine-run", ["work", "\(node.port)"],
      [
        "HEARTBEAT": "2", "BALANCE": "0.5",
        "SHARDS": reports.shards.map { "\($0.number)" }.joined(separator: ","),
      ], in: scratch)
  }

  var count: Int { transitions.bodies.withLock { $0.values.reduce(0) { $0 + $1.count } } }
  var expectedCount: Int { reports.names.count * reports.transitions.count }

  /// Waits until as many transitions have come as a run without faults has, and compares them.
  func expectAll(at location: SourceLocation = #_sourceLocation) {
    #expect(eventually { count >= expectedCount }, "\(count)", sourceLocation: location)
    let bodies = transitions.bodies.withLock { $0 }
    for name in reports.names {
      #expect(bodies[name] == reports.transitions, "\(name)", sourceLocation: location)
    }
  }
}

/// Publishes the reports of a fleet as far as a test lets it.
final class Feeder: Sendable {
  private let state = Mutex((next: 0, limit: 0))
  private let publisher: Mutex<Task<Void, Never>?> = Mutex(nil)
  private let counted = Mutex<ReportPublisher?>(nil)

  init(_ fleet: Fleet) throws {
    let reports = fleet.reports
    let publisher = try ReportPublisher(fleet.configuration) { [self] in
      let index = state.withLock { state -> Int? in
        guard state.next < state.limit || state.limit >= reports.count else { return nil }
        defer { state.next += 1 }
        return state.next
      }
      return index.map { reports.report($0) } ?? .pause(0.005)
    }
    counted.withLock { $0 = publisher }
    let task = Task { await publisher.run() }
    self.publisher.withLock { $0 = task }
  }

  /// The reports that the engine has stored.
  var count: Int { counted.withLock { $0?.count ?? 0 } }

  /// Lets reports pass up to an index.
  func feed(upTo limit: Int) { state.withLock { $0.limit = limit } }

  func stop() { counted.withLock { $0?.stop() } }
}
