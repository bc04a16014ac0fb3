import FleetReports
import Foundation
import Synchronization
import TestDaemons
import TestSupport
import Testing

@testable import FleetEngine

/// Counts reports. Its state is a number as text.
struct Tally: ShardProcessor {
  struct Unreadable: Error {}
  var count = 0

  init(shard: Int, state: [UInt8]?, context: Void) throws {
    guard let state else { return }
    guard let count = Int(String(decoding: state, as: UTF8.self)) else { throw Unreadable() }
    self.count = count
  }

  mutating func process(_ report: [UInt8], routingKey: String) -> [FleetMessage] {
    count += 1
    let transition = FleetMessage(
      id: "tally/\(count)", routingKey: "tally", body: Array("\(report.count)".utf8))
    // One that cannot be published takes no other with it.
    return [
      FleetMessage(id: String(repeating: "x", count: 256), routingKey: "", body: []), transition,
    ]
  }

  func encodedState() -> [UInt8] { Array("\(count)".utf8) }
}

/// A newer version, which reads any state.
private struct NewTally: ShardProcessor {
  private var tally: Tally

  init(shard: Int, state: [UInt8]?, context: Void) throws {
    tally =
      try (try? Tally(shard: shard, state: state, context: context))
      ?? Tally(shard: shard, state: nil, context: context)
  }

  mutating func process(_ report: [UInt8], routingKey: String) -> [FleetMessage] {
    tally.process(report, routingKey: routingKey)
  }

  func encodedState() -> [UInt8] { tally.encodedState() }
}

@Suite(.blocking, .rabbitmq) struct LinkTests {
  /// The entries that a reader has had. A worker that takes over publishes transitions again.
  private final class Entries: Sendable {
    private let entries = Mutex<[StreamEntry]>([])
    var all: [StreamEntry] { entries.withLock { $0 } }

    func append(_ entry: StreamEntry) {
      entries.withLock { entries in
        if entry.id.isEmpty || !entries.contains(where: { $0.id == entry.id }) {
          entries.append(entry)
        }
      }
    }
  }

  private let shard = Shard(ofSite: "a")

  /// Publishes reports of one receiver, and waits until the engine has them.
  private func publish(_ bodies: [[UInt8]], _ configuration: EngineConfiguration) async throws {
    var configuration = configuration
    configuration.confirmTime = 60
    let left = Mutex(bodies[...])
    let publisher = try ReportPublisher(configuration) {
      guard let body = left.withLock({ $0.popFirst() }) else { return .end }
      return .report(routingKey: FleetTopic.routingKey(ofSite: "a", receiver: "r"), body: body)
    }
    await publisher.run()
    #expect(publisher.count == bodies.count)
  }

  /// Reads the reports of the shard from the first one on.
  private func readLog(
    _ configuration: EngineConfiguration
  ) throws -> (log: Entries, task: Task<Void, Never>) {
    let log = Entries()
    let reader = try StreamReader(
      configuration, stream: StreamReader.log(of: shard), from: .first
    ) { log.append($0) }
    return (log, Task { await reader.run() })
  }

  /// Stores states in a shard's register as earlier workers would have, in that order.
  private func store(
    _ states: [(StateVersion, String)], _ configuration: EngineConfiguration
  ) throws {
    let connection = try AMQPConnection(
      configuration.nodes[0], configuration, RabbitMQLibrary.shared.get())
    try connection.openChannel(Register.channel)
    try connection.confirmPublications(Register.channel)
    let register = Register(shard: shard, connection: connection, confirmTime: 10)
    let old = try register.take()
    for (version, state) in states { try register.put(Array(state.utf8), version, inPlaceOf: old) }
    connection.close()
  }

  @Test func `a state that comes late does not replace a newer one`() async throws {
    let fleet = try Fleet(Reports(sites: ["a"], receivers: 1, rounds: 1))
    try fleet.declare()
    let configuration = fleet.configuration
    let connection = try AMQPConnection(
      configuration.nodes[0], configuration, RabbitMQLibrary.shared.get())
    try connection.openChannel(Register.channel)
    try connection.confirmPublications(Register.channel)
    let register = Register(shard: shard, connection: connection, confirmTime: 10)
    let none = try register.take()
    #expect(none.state == nil && !none.isEmpty)
    try register.put(Array("40".utf8), StateVersion(generation: 3, number: 7), inPlaceOf: none)
    let newest = try register.take()
    try register.put(Array("10".utf8), StateVersion(generation: 2, number: 9), inPlaceOf: none)
    // The end of the connection gives back the newest.
    #expect(newest.state == Array("40".utf8))
    connection.close()

    let worker = try ShardWorker<Tally>(configuration, context: ())
    let work = Task { await worker.run() }
    let entries = Entries()
    let reader = try StreamReader(
      configuration, stream: StreamReader.transitionsStream, from: .first
    ) { entries.append($0) }
    let read = Task { await reader.run() }
    // Any bytes may come. Of long ones the processor gets a part.
    try await publish([[0xFF, 0, 0xC0], Array(repeating: 0, count: 3 << 20), []], configuration)
    #expect(await eventually { entries.all.count >= 3 })
    #expect(entries.all.map(\.id) == ["tally/41", "tally/42", "tally/43"])
    #expect(entries.all.map { String(decoding: $0.body, as: UTF8.self) } == ["3", "1048576", "0"])
    #expect(await eventually { worker.status.storedStates > 0 })
    #expect(worker.status.unpublished == 3)

    // Each end of a task ends its part.
    work.cancel()
    await work.value
    reader.stop()
    await read.value

    // The log has the reports from any offset on.
    let log = Entries()
    let replay = try StreamReader(
      configuration, stream: StreamReader.log(of: shard), from: .number(1)
    ) { log.append($0) }
    let replayed = Task { await replay.run() }
    #expect(await eventually { log.all.count >= 2 })
    replayed.cancel()
    await replayed.value
    #expect(log.all.map(\.offset) == [1, 2])
    #expect(log.all.allSatisfy { $0.routingKey == "fleet.44.a.r.seen" })
  }

  @Test func `a worker leaves a state that it cannot read to another`() async throws {
    let fleet = try Fleet(Reports(sites: ["a"], receivers: 1, rounds: 1))
    try fleet.declare()
    let configuration = fleet.configuration
    try store([(StateVersion(generation: 1, number: 1), "unreadable")], configuration)
    let old = try ShardWorker<Tally>(configuration, context: ())
    let oldWork = Task { await old.run() }
    let entries = Entries()
    let reader = try StreamReader(
      configuration, stream: StreamReader.transitionsStream, from: .first
    ) { entries.append($0) }
    let read = Task { await reader.run() }
    #expect(await eventually { old.status.link.node != nil })
    try await publish([[1], [2]], configuration)
    let new = try ShardWorker<NewTally>(configuration, context: ())
    let newWork = Task { await new.run() }
    #expect(await eventually { entries.all.count >= 2 })
    #expect(entries.all.map(\.id) == ["tally/1", "tally/2"])
    #expect(old.status.reports == 0)
    for task in [oldWork, newWork, read] {
      task.cancel()
      await task.value
    }
  }

  /// An engine that was set up anew counts from 0 again. It may have fewer messages than were read,
  /// or more.
  @Test(arguments: [3, 9])
  func `the stream of an engine that was set up anew is read from its beginning`(
    count: Int
  ) async throws {
    let fleet = try Fleet(Reports(sites: ["a"], receivers: 1, rounds: 1))
    try fleet.declare()
    let configuration = fleet.configuration
    let (log, read) = try readLog(configuration)
    let bodies = (0..<5 + count).map { [UInt8(clamping: $0)] }
    try await publish(Array(bodies.prefix(5)), configuration)
    #expect(await eventually { log.all.count == 5 })
    try fleet.node.control("delete_queue", shard.log)
    try fleet.node.control("close_all_connections", "test")
    try fleet.declare()
    try await publish(Array(bodies.dropFirst(5)), configuration)
    #expect(await eventually { log.all.count >= bodies.count })
    // A failure of the connection alone repeats nothing.
    try fleet.node.control("close_all_connections", "test")
    try await publish([[200]], configuration)
    #expect(await eventually { log.all.last?.body == [200] })
    #expect(log.all.map(\.body) == bodies + [[200]])
    #expect(log.all.map(\.offset) == [0, 1, 2, 3, 4] + (0...UInt64(count)))
    read.cancel()
    await read.value
  }

  @Test func `what consumes a queue notices that it was deleted and declared again`() async throws {
    let fleet = try Fleet(Reports(sites: ["a"], receivers: 1, rounds: 1))
    try fleet.declare()
    let configuration = fleet.configuration
    let workers = try (0..<6).map { _ in try ShardWorker<Tally>(configuration, context: ()) }
    let works = workers.map { worker in Task { await worker.run() } }
    let entries = Entries()
    let reader = try StreamReader(
      configuration, stream: StreamReader.transitionsStream, from: .first
    ) { entries.append($0) }
    let (log, read) = try readLog(configuration)
    let tasks = works + [read, Task { await reader.run() }]
    try await publish([[1]], configuration)
    #expect(await eventually { log.all.count == 1 && entries.all.count == 1 })
    #expect(await eventually { workers.contains { $0.status.storedStates > 0 } })
    for queue in [shard.queue, shard.log] { try fleet.node.control("delete_queue", queue) }
    try fleet.declare()
    try await publish([[2]], configuration)
    #expect(await eventually { log.all.map(\.body) == [[1], [2]] && entries.all.count >= 2 })
    // All workers have declared the queue, and the shard has kept its state.
    #expect(entries.all.map(\.id) == ["tally/1", "tally/2"])
    for task in tasks {
      task.cancel()
      await task.value
    }
  }

  /// The engine's messages to a consumer can be lost, and it says nothing then.
  @Test func `a worker consumes a queue anew whose reports do not come`() async throws {
    let fleet = try Fleet(Reports(sites: ["a"], receivers: 1, rounds: 1))
    try fleet.declare()
    var configuration = fleet.configuration
    configuration.silenceTime = 1
    configuration.idleTime = 0.5
    let worker = try ShardWorker<Tally>(configuration, context: ())
    let work = Task { await worker.run() }
    try await publish([[1]], configuration)
    // Its state is stored, so that no report comes again, and it waits for more.
    #expect(await eventually { worker.status.storedStates > 0 && worker.status.shards.isEmpty })
    #expect(worker.status.reports == 1)
    let connections = worker.status.link.connections
    // The queue forgets its consumers, which their channels do not.
    let forget = """
      {ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"\(shard.queue)">>)),
      Consumers = rabbit_amqqueue:consumers(Q),
      [{ok, _, _} = ra:process_command(amqqueue:get_pid(Q),
        rabbit_fifo:make_checkout({element(2, C), element(1, C)}, cancel, #{})) || C <- Consumers],
      length(Consumers).
      """
    #expect(try fleet.node.control("eval", forget).contains("1"))
    try await publish([[2]], configuration)
    #expect(await eventually { worker.status.reports == 2 })
    #expect(worker.status.link.connections == connections)
    work.cancel()
    await work.value
  }

  @Test func `a reader whose messages do not come consumes the stream anew`() async throws {
    let fleet = try Fleet(Reports(sites: ["a"], receivers: 1, rounds: 1))
    try fleet.declare()
    var configuration = fleet.configuration
    configuration.silenceTime = 5
    let log = Entries()
    let reader = try StreamReader(
      configuration, stream: StreamReader.log(of: shard), from: .first
    ) { log.append($0) }
    let read = Task { await reader.run() }
    try await publish([[1], [2]], configuration)
    #expect(await eventually { log.all.count == 2 })
    // Silence is no failure, and repeats nothing.
    func channels() throws -> [Substring] {
      try fleet.node.control("list_channels", "pid").split(separator: "\n")
    }
    // That of the publisher has ended.
    #expect(try await eventually { try channels().count == 1 })
    let first = try channels()
    #expect(try await eventually { try channels() != first })
    #expect(reader.status.connections == 1)
    // A channel of the node that stands still takes nothing from the stream, and does not end.
    #expect(
      try await eventually {
        try fleet.node.control("eval", "[catch sys:suspend(C) || C <- rabbit_channel:list()].")
          .contains("ok")
      })
    try await publish([[3]], configuration)
    #expect(await eventually { log.all.count == 3 })
    #expect(log.all.map(\.body) == [[1], [2], [3]])
    read.cancel()
    await read.value
  }

  /// New messages come all the time, long before the stream is as long as the former one was.
  @Test func `a stream that was set up anew is noticed while it grows`() async throws {
    let fleet = try Fleet(Reports(sites: ["a"], receivers: 1, rounds: 1))
    try fleet.declare()
    let configuration = fleet.configuration
    let (log, read) = try readLog(configuration)
    let former = 1000
    try await publish(Array(repeating: [1], count: former), configuration)
    #expect(await eventually { log.all.count == former })
    try fleet.node.control("delete_queue", shard.log)
    try fleet.node.control("close_all_connections", "test")
    try fleet.declare()
    var published = 0
    while log.all.count == former, published < former {
      try await publish([[2]], configuration)
      published += 1
      // A fast machine would publish as many as before within the time for copies.
      try await Task.sleep(for: .milliseconds(100))
    }
    #expect(published < former)
    #expect(log.all.dropFirst(former).first?.offset == 0)
    read.cancel()
    await read.value
  }

  /// RabbitMQ 4 drops a message that has come back 20 times, unless its queue states another limit.
  @Test func `reports and states outlive many workers that fail`() throws {
    let fleet = try Fleet(Reports(sites: ["a"], receivers: 1, rounds: 1))
    try fleet.declare()
    let configuration = fleet.configuration
    try store([(StateVersion(generation: 1, number: 1), "state")], configuration)
    for _ in 0..<30 {
      let connection = try AMQPConnection(
        configuration.nodes[0], configuration, RabbitMQLibrary.shared.get())
      try connection.openChannel(Register.channel)
      let register = Register(shard: shard, connection: connection, confirmTime: 10)
      // The engine gives it back a little after the end of the former connection.
      var state: [UInt8]?
      #expect(
        try eventually {
          state = try register.take().state
          return state != nil
        })
      #expect(state == Array("state".utf8))
      connection.close()
    }
    let queues = try fleet.node.control("list_queues", "name", "arguments")
    for queue in [Topology.workers, shard.queue, shard.register] {
      let line = queues.split(separator: "\n").first { $0.hasPrefix("\(queue)\t") }
      #expect(line?.contains("{\"x-delivery-limit\",1000000000}") == true, "\(queues)")
    }
  }

  /// A flood fills no more of the disks than docs/fleet.md says.
  @Test func `the policy of the documents bounds the logs, and nothing else`() throws {
    let fleet = try Fleet(Reports(sites: ["a"], receivers: 1, rounds: 1))
    try fleet.declare()
    let document = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../docs/fleet.md"), encoding: .utf8)
    let policy = ["fleet-logs", "^log\\.", #"{"max-length-bytes": 2000000000}"#]
    #expect(
      document.contains(
        "rabbitmqctl set_policy \(policy[0]) '\(policy[1])' '\(policy[2])' --apply-to queues"))
    try fleet.node.control("set_policy", policy[0], policy[1], policy[2], "--apply-to", "queues")
    let lines = try fleet.node.control("list_queues", "name", "policy")
    for line in lines.split(separator: "\n") {
      #expect(
        line.hasSuffix("\t\(policy[0])") == line.hasPrefix("\(shard.log)\t"), "\(line)")
    }
    #expect(lines.contains("\(shard.log)\t"))
  }

  @Test func `errors say what to do`() async throws {
    var configuration = EngineConfiguration(
      nodes: [.init(host: "127.0.0.1", port: try freePort())])
    configuration.reconnectDelay = 0.01...0.02
    let reader = try StreamReader(configuration, stream: "x", from: .last) { _ in }
    let read = Task { await reader.run() }
    #expect(await eventually { reader.status.lastError != nil })
    let error = reader.status.lastError ?? ""
    #expect(error.hasPrefix("cannot connect to \(configuration.nodes[0]): "), "\(error)")
    read.cancel()
    await read.value
    // A part runs once.
    await reader.run()
  }

  /// Makes two authorities, and a certificate of the first for `localhost`.
  private func makeCertificates(in scratch: Scratch) throws {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for name in ["ca", "other"] {
      try runTool(
        ["/usr/bin/openssl", "req", "-x509"] + key + [
          "-days", "2", "-subj", "/CN=\(name)", "-keyout", scratch["\(name).key"], "-out",
          scratch["\(name).pem"],
        ])
    }
    try scratch.write(Array("subjectAltName=DNS:localhost\n".utf8), "names")
    try runTool(
      ["/usr/bin/openssl", "req"] + key + [
        "-subj", "/CN=localhost", "-keyout", scratch["server.key"], "-out", scratch["server.csr"],
      ])
    try runTool([
      "/usr/bin/openssl", "x509", "-req", "-in", scratch["server.csr"], "-CA", scratch["ca.pem"],
      "-CAkey", scratch["ca.key"], "-CAcreateserial", "-days", "2", "-extfile", scratch["names"],
      "-out", scratch["server.pem"],
    ])
  }

  @Test func `certificates are checked, and their names`() throws {
    let scratch = try Scratch()
    try makeCertificates(in: scratch)
    let port = try freePort()
    let node = try RabbitMQNode(
      """
      listeners.ssl.1 = 127.0.0.1:\(port)
      ssl_options.cacertfile = \(scratch["ca.pem"])
      ssl_options.certfile = \(scratch["server.pem"])
      ssl_options.keyfile = \(scratch["server.key"])
      """, in: scratch)
    func error(_ host: String, _ authority: String?, password: String = "guest") -> String? {
      var configuration = EngineConfiguration(nodes: [.init(host: host, port: port)])
      configuration.password = password
      configuration.tls = authority.map { .init(authorities: scratch[$0]) }
      do {
        let library = try RabbitMQLibrary.shared.get()
        try AMQPConnection(configuration.nodes[0], configuration, library).close()
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(error("localhost", "ca.pem") == nil)
    for (host, authority) in [("127.0.0.1", "ca.pem"), ("localhost", "other.pem")] {
      let text = error(host, authority) ?? ""
      #expect(text.hasPrefix("cannot connect to \(host):\(port): SSL"), "\(text)")
    }
    #expect(error("localhost", nil) != nil)
    let refused = error("localhost", "ca.pem", password: "wrong") ?? ""
    #expect(refused.contains("cannot log in to localhost:\(port): ACCESS_REFUSED"), "\(refused)")
    withExtendedLifetime(node) {}
  }
}
