import Clocks
import FleetPicture
import Logging
import TestDaemons
import TestSupport
import Testing

@testable import FleetEngine
@testable import FleetHistory

/// Histories of the stream of a real engine.
@Suite(.postgresql, .rabbitmq, .serialized) struct RebuildTests {
  private let scratch: Scratch
  private let node: RabbitMQNode
  private let server: PostgreSQLServer

  init() throws {
    scratch = try Scratch()
    node = try RabbitMQNode(in: scratch)
    server = try PostgreSQLServer()
  }

  /// A second of yesterday, at the same place among the seconds that the tests damage each day.
  private let start = WallClockTime.now.second / 4200 * 4200 - 86400

  private var engine: EngineConfiguration {
    var engine = EngineConfiguration(nodes: [.init(host: "127.0.0.1", port: node.port)])
    engine.shards = []
    engine.reconnectDelay = 0.05...0.5
    engine.copyTime = 3
    engine.declareTime = 0
    return engine
  }

  private var logger: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

  /// Declares the streams, and appends transitions.
  private func publish(_ changes: [RoomChange]) throws {
    let connection = try AMQPConnection(
      engine.nodes[0], engine, RabbitMQLibrary.shared.get())
    let channel = Register.channel
    try connection.openChannel(channel)
    try connection.confirmPublications(channel)
    try Topology.declare(engine, on: connection)
    for change in changes {
      try connection.publish(
        to: FleetMessage.Stream.transitions.exchange, "07.\(change.site)", id: change.id,
        change.json, channel: channel)
    }
    try connection.waitForConfirms(seconds: 60, channel: channel)
    connection.close()
  }

  private func writer() throws -> (HistoryWriter, Task<Void, Never>) {
    let writer = try HistoryWriter(
      try server.configuration(), engine: engine, keep: 100_000, logger: logger)
    return (writer, Task { await writer.run() })
  }

  private func rebuild() async throws -> HistoryRebuild.Progress {
    let rebuild = try HistoryRebuild(try server.configuration(), engine: engine, logger: logger)
    try await rebuild.run()
    return rebuild.progress
  }

  private func rows() throws -> String { try server.run("SELECT * FROM changes ORDER BY id") }

  @Test func givesWhatTheWriterGives() async throws {
    // Two sites in turn; a takeover repeats some.
    var changes = zip(
      RoomChange.walks(1500, from: start), RoomChange.walks(1500, site: "harbor", from: start)
    ).flatMap { [$0, $1] }
    changes.insert(contentsOf: changes[900..<1000], at: 1000)
    try publish(Array(changes[..<2000]))
    var (writer, task) = try writer()
    #expect(await eventually { writer.status.written == 2000 })
    writer.stop()
    await task.value
    // The next one goes on after it.
    try publish(Array(changes[2000...]))
    (writer, task) = try self.writer()
    #expect(await eventually { writer.status.written >= 1100 }, "\(writer.status)")
    #expect(writer.status.written == 1100)
    writer.stop()
    await task.value
    let written = try rows()
    #expect(try server.count == 3000)

    // Older than all that the engine has, in both sites and another.
    try server.run(
      """
      INSERT INTO changes SELECT second - 1000000, probability, runner_up_probability,
      former_is_outside, is_outside, id || 'old', site, beacon, former, room, runner_up, missing
      FROM changes WHERE second % 70 = 0;
      UPDATE changes SET site = 'other' WHERE id LIKE '%old' AND beacon LIKE '%3'
      """)
    let old = try server.run("SELECT * FROM changes WHERE id LIKE '%old' ORDER BY id")
    #expect(!old.isEmpty)
    // Damage: rows that are wrong, missing and too many.
    try server.run(
      """
      UPDATE changes SET room = 'wrong' WHERE id NOT LIKE '%old' AND second % 30 = 0;
      DELETE FROM changes WHERE id NOT LIKE '%old' AND second % 50 = 0;
      INSERT INTO changes SELECT second + 1, 1, 0, false, false, id || 'more', site, beacon, 'x',
      'y', 'z', '{}' FROM changes WHERE second % 40 = 0 AND id NOT LIKE '%old'
      """)
    let progress = try await rebuild()
    #expect(progress.read == 3100)
    #expect(progress.newest == 3099)
    #expect(progress.skipped == 0)
    #expect(try server.run("SELECT * FROM changes WHERE id LIKE '%old' ORDER BY id") == old)
    try server.run("DELETE FROM changes WHERE id LIKE '%old'")
    #expect(try rows() == written)
    #expect(try server.run("SELECT next FROM positions") == "3100")
    // An empty database gets the same.
    try server.run("DROP TABLE changes, positions, fleet_schema")
    _ = try await rebuild()
    #expect(try rows() == written)
  }

  /// The only receiver of a site had a clock of months ago.
  @Test func keepsWhatIsOlderThanTheStream() async throws {
    try publish(
      RoomChange.walks(1, from: start - 90 * 86400) + RoomChange.walks(30, from: start))
    _ = try await rebuild()
    let before = try rows()
    // The stream does not have them any more.
    try server.run(
      """
      INSERT INTO changes SELECT second - 60 * 86400, probability, runner_up_probability,
      former_is_outside, is_outside, id || 'old', site, beacon, former, room, runner_up, missing
      FROM changes WHERE second >= \(start);
      UPDATE changes SET room = 'wrong' WHERE id NOT LIKE '%old'
      """)
    _ = try await rebuild()
    #expect(try server.run("SELECT count(*) FROM changes WHERE id LIKE '%old'") == "30")
    try server.run("DELETE FROM changes WHERE id LIKE '%old'")
    #expect(try rows() == before)
  }

  @Test func leavesAllAsItWasIfCanceled() async throws {
    try publish(RoomChange.walks(500))
    _ = try await rebuild()
    try server.run("UPDATE changes SET room = 'another'")
    let before = try rows()
    let rebuild = try HistoryRebuild(try server.configuration(), engine: engine, logger: logger)
    // Another program holds the table, so that the end has to wait.
    let client = try PostgreSQLConnection(try server.configuration())
    try client.execute("BEGIN")
    try client.execute("LOCK TABLE changes IN SHARE MODE")
    let task = Task { try await rebuild.run() }
    #expect(await eventually { rebuild.progress.read == 500 })
    task.cancel()
    await #expect(throws: DatabaseError.self) { try await task.value }
    try client.execute("ROLLBACK")
    #expect(try rows() == before)
  }

  @Test func acceptsAnEmptyStream() async throws {
    try publish([])
    #expect(try await rebuild().read == 0)
  }

  /// An engine that was set up anew counts its transitions from 0 again.
  @Test func readsAnotherStreamFromItsBeginning() async throws {
    try publish(RoomChange.walks(50))
    _ = try await rebuild()
    try server.run("UPDATE positions SET next = 1000000")
    let (writer, task) = try writer()
    #expect(await eventually { writer.status.written == 50 })
    try publish(RoomChange.walks(10, from: 1_800_000_000))
    #expect(try await eventually { try server.count == 60 })
    #expect(try server.run("SELECT next FROM positions") == "60")
    writer.stop()
    await task.value
  }

  /// The new stream is longer already when the writer starts.
  @Test func readsALongerStreamOfAnotherEngineFromItsBeginning() async throws {
    try publish(RoomChange.walks(50))
    _ = try await rebuild()
    try node.control("delete_queue", StreamReader.transitionsStream)
    try publish(RoomChange.walks(80, from: 1_800_000_000))
    let (writer, task) = try writer()
    #expect(try await eventually { try server.count == 130 })
    #expect(writer.status.written == 80)
    writer.stop()
    await task.value
  }
}
