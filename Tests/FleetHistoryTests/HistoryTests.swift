import FleetPicture
import Foundation
import Logging
import Synchronization
import TestDaemons
import TestSupport
import Testing

@testable import FleetEngine
@testable import FleetHistory

/// A stream of transitions in memory, which remembers from where it was read.
final class TestStream: Sendable {
  private let entries: Mutex<[StreamEntry]>
  let starts = Mutex<[StreamPosition?]>([])
  let delivered = Mutex(0)

  init(_ entries: [StreamEntry]) { self.entries = Mutex(entries) }

  convenience init(_ changes: [RoomChange]) {
    self.init(changes.enumerated().map { StreamEntry($1, offset: UInt64($0)) })
  }

  func append(_ changes: [RoomChange]) {
    entries.withLock { entries in
      for change in changes { entries.append(StreamEntry(change, offset: UInt64(entries.count))) }
    }
  }

  var source: HistoryWriter.Source {
    { [self] next, deliver in
      starts.withLock { $0.append(next) }
      var index = Int(next?.next ?? 0)
      while !Task.isCancelled {
        let entry = entries.withLock { $0.indices.contains(index) ? $0[index] : nil }
        guard let entry else {
          try? await Task.sleep(for: .milliseconds(2))
          continue
        }
        deliver(entry)
        index += 1
        delivered.withLock { $0 = index }
      }
    }
  }
}

/// A writer that runs until its value ends.
final class RunningWriter {
  let writer: HistoryWriter
  private let task: Task<Void, Never>

  init(
    _ server: PostgreSQLServer, _ stream: TestStream, keep: Int = 100_000, answerTime: Double = 30
  ) throws {
    var configuration = try DatabaseConfiguration(server.connection)
    configuration.reconnectDelay = 0.02...0.2
    configuration.answerTime = answerTime
    let writer = HistoryWriter(
      configuration, keep: keep, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      source: stream.source)
    self.writer = writer
    task = Task { await writer.run() }
  }

  deinit { writer.stop() }

  /// Waits until so many entries are written or skipped.
  func wait(for count: Int, at location: SourceLocation = #_sourceLocation) async {
    let isDone = await eventually { writer.status.written + writer.status.skipped >= count }
    #expect(isDone, "\(writer.status)", sourceLocation: location)
  }

  func end() async {
    writer.stop()
    await task.value
  }
}

extension PostgreSQLServer {
  func configuration() throws -> DatabaseConfiguration { try DatabaseConfiguration(connection) }

  func store() throws -> DatabaseChangeStore { DatabaseChangeStore(try configuration()) }

  var count: Int { get throws { Int(try run("SELECT count(*) FROM changes")) ?? -1 } }
}

@Suite(.postgresql, .serialized) struct HistoryTests {
  private let server: PostgreSQLServer

  init() throws { server = try PostgreSQLServer() }

  private func all(_ site: String = "museum") throws -> [RoomChange] {
    try server.store().changes(site: site, beacon: nil, from: 0, to: .max, limit: .max)
  }

  private func sorted(_ changes: [RoomChange]) -> [RoomChange] {
    changes.sorted { ($0.second ?? 0, $0.beacon) < ($1.second ?? 0, $1.beacon) }
  }

  @Test func writesAndReadsChanges() async throws {
    let changes = RoomChange.walks(2000)
    let writer = try RunningWriter(server, TestStream(changes))
    await writer.wait(for: 2000)
    #expect(try all() == sorted(changes))
    let store = try server.store()
    let from = 1_700_000_105 as Int64
    // Each beacon's last change before, and one in the range.
    let part = try store.changes(
      site: "museum", beacon: nil, from: from, to: from + 10, limit: 100)
    #expect(
      part.map(\.second) == Array(repeating: from - 5, count: 7)
        + Array(repeating: from + 5, count: 7))
    let one = try store.changes(
      site: "museum", beacon: changes[3].beacon, from: from, to: from + 10, limit: 100)
    #expect(one == part.filter { $0.beacon == changes[3].beacon })
    #expect(
      try store.changes(site: "museum", beacon: nil, from: from, to: from + 10, limit: 3)
        == Array(part.prefix(3)))
    #expect(try store.changes(site: "muse", beacon: nil, from: from, to: .max, limit: 9).isEmpty)
    #expect(try store.changes(site: "a\0", beacon: "\0", from: from, to: .max, limit: 9).isEmpty)
  }

  @Test func goesOnWhereItEnded() async throws {
    let changes = RoomChange.walks(3000)
    let stream = TestStream(Array(changes[..<1234]))
    var writer = try RunningWriter(server, stream)
    await writer.wait(for: 1234)
    await writer.end()
    stream.append(Array(changes[1234...]))
    writer = try RunningWriter(server, stream)
    await writer.wait(for: 3000 - 1234)
    await writer.end()
    #expect(
      stream.starts.withLock { $0 } == [nil, StreamPosition(next: 1234, lastID: changes[1233].id)])
    #expect(try all() == sorted(changes))
  }

  @Test func repeatsChangeNothing() async throws {
    let changes = RoomChange.walks(700)
    var writer = try RunningWriter(server, TestStream(changes))
    await writer.wait(for: 700)
    await writer.end()
    let before = try server.run("SELECT xmin, ctid, * FROM changes ORDER BY id")
    try server.run("DELETE FROM positions")
    // The second of two has another room.
    var repeated = changes
    repeated[5].room = "another"
    writer = try RunningWriter(server, TestStream(repeated))
    await writer.wait(for: 700)
    #expect(try server.run("SELECT xmin, ctid, * FROM changes ORDER BY id") == before)
    #expect(try server.run("SELECT next FROM positions") == "700")
  }

  /// What the server has confirmed outlives it, and what it has not is written again.
  @Test func losesNothingWhenTheServerIsKilled() async throws {
    let changes = RoomChange.walks(20_000, beacons: 50)
    let stream = TestStream(Array(changes[..<5000]))
    let writer = try RunningWriter(server, stream)
    for part in 1...3 {
      await writer.wait(for: part * 5000 - 4000)
      server.kill()
      stream.append(Array(changes[part * 5000..<part * 5000 + 5000]))
      #expect(await eventually { !writer.writer.status.isConnected })
      try server.start()
    }
    await writer.wait(for: 20_000)
    await writer.end()
    #expect(stream.starts.withLock { $0 } == [nil])
    #expect(try all() == sorted(changes))
    #expect(try server.run("SELECT next FROM positions") == "20000")
  }

  /// A server that does not answer makes the writer wait, and the stream too.
  @Test func waitsForAServerThatHangs() async throws {
    let stream = TestStream(RoomChange.walks(100))
    let writer = try RunningWriter(server, stream, answerTime: 0.5)
    await writer.wait(for: 100)
    server.pause()
    stream.append(Array(RoomChange.walks(20_000)[100...]))
    #expect(await eventually { writer.writer.status.lastError?.contains("not answered") == true })
    // A batch, the queue, and one that waits.
    let most = 3101
    #expect(stream.delivered.withLock { $0 } <= most)
    server.resume()
    await writer.wait(for: 20_000)
    #expect(try server.count == 20_000)
  }

  @Test func refusesANewerSchema() async throws {
    let writer = try RunningWriter(server, TestStream(RoomChange.walks(5)))
    await writer.wait(for: 5)
    await writer.end()
    try server.run("UPDATE fleet_schema SET version = 9")
    let sentence =
      "the database's history has version 9, and this program has version 2; use a newer "
      + "beaconscan-fleet, or another database"
    #expect(throws: DatabaseError(.schema, sentence)) { try all() }
    let stream = TestStream(RoomChange.walks(10))
    let other = try RunningWriter(server, stream)
    #expect(await eventually { other.writer.status.lastError == sentence })
    #expect(stream.delivered.withLock { $0 } == 0)
    // Another program may bring it back.
    try server.run("UPDATE fleet_schema SET version = 2")
    await other.wait(for: 5)
  }

  @Test func bringsTablesOfAFormerVersionUpToDate() async throws {
    let changes = RoomChange.walks(20)
    let stream = TestStream(Array(changes[..<10]))
    var writer = try RunningWriter(server, stream)
    await writer.wait(for: 10)
    await writer.end()
    try server.run("ALTER TABLE positions DROP COLUMN last_id")
    try server.run("UPDATE fleet_schema SET version = 1")
    stream.append(Array(changes[10...]))
    writer = try RunningWriter(server, stream)
    await writer.wait(for: 10)
    await writer.end()
    #expect(stream.starts.withLock { $0.last } == StreamPosition(next: 10, lastID: nil))
    #expect(try server.run("SELECT next, last_id FROM positions") == "20|\(changes[19].id)")
    #expect(try all() == sorted(changes))
  }

  @Test func namesAMissingHistory() throws {
    let error = #expect(throws: DatabaseError.self) { try all() }
    #expect(error?.description.contains("has no history yet") == true)
    #expect(error?.kind == .schema)
  }

  /// Several writers begin with an empty database at the same time.
  @Test func makesTheTablesOnce() async throws {
    let changes = RoomChange.walks(3000)
    let writers = try (0..<4).map { _ in try RunningWriter(server, TestStream(changes)) }
    // One may begin where another one is already.
    #expect(await eventually { writers.allSatisfy { $0.writer.status.isConnected } })
    #expect(try await eventually { try server.count == 3000 })
    #expect(try server.run("SELECT count(*), min(version) FROM fleet_schema") == "1|2")
    #expect(try all() == sorted(changes))
  }

  @Test func keepsHostileTextsApart() async throws {
    let hostile = [
      "'; DROP TABLE changes; --", "\\'\"$1%s{}", "{\"a\",NULL}", "\u{FFFF}\u{202E}🏛️\n\t\r",
      String(repeating: "ä", count: 64), String(repeating: "r", count: 100_000), "",
    ]
    let site = String(repeating: "s", count: 64)
    var changes: [RoomChange] = []
    for (index, text) in hostile.enumerated() {
      var change = RoomChange(
        site: site, beacon: "\(text.prefix(20))", former: text, room: text, at: Int64(index))
      change.runnerUp = text
      change.missing = hostile
      changes.append(change)
    }
    let writer = try RunningWriter(server, TestStream(changes))
    await writer.wait(for: changes.count)
    #expect(writer.writer.status.skipped == 0)
    #expect(try all(site) == changes)
    let found = try server.store().changes(
      site: site, beacon: changes[0].beacon, from: 0, to: 99, limit: 9)
    #expect(found == [changes[0]])
  }

  @Test func countsAndSkipsWhatIsNotAChange() async throws {
    let good = RoomChange.walks(3)
    var entries = good.enumerated().map { StreamEntry($1, offset: UInt64($0)) }
    func add(_ edit: (inout RoomChange) -> Void, id: String? = nil) {
      var change = RoomChange.walks(1, from: 1_800_000_000)[0]
      edit(&change)
      if change.id == RoomChange.walks(1, from: 1_800_000_000)[0].id {
        change.id = "\(change.site)/\(change.beacon)/1800000000"
      }
      var entry = StreamEntry(change, offset: UInt64(entries.count))
      if let id { entry.id = id }
      entries.append(entry)
    }
    add { $0.room = "a\0b" }
    add { $0.missing = ["\0"] }
    add { $0.beacon = "\0" }
    add { $0.site = "a b" }
    add { $0.probability = 1.5 }
    add { $0.id = "museum/x/-1" }
    add({ _ in }, id: "museum/another/7")
    add { $0.beacon = String(repeating: "b", count: 300) }
    let bodies: [[UInt8]] = [
      [], Array("null".utf8), Array("{}".utf8), [0xFF, 0xFE],
      Array(good[0].json.dropLast()),
      // Not UTF-8, within a text.
      Array(String(decoding: good[0].json, as: UTF8.self).utf8).map {
        $0 == UInt8(ascii: "r") ? 0xC0 : $0
      },
    ]
    for body in bodies {
      entries.append(
        StreamEntry(
          offset: UInt64(entries.count), routingKey: "", id: good[0].id, body: body))
    }
    let writer = try RunningWriter(server, TestStream(entries))
    await writer.wait(for: entries.count)
    #expect(writer.writer.status.skipped == entries.count - 3)
    #expect(writer.writer.status.written == 3)
    #expect(try all() == good)
    #expect(try server.run("SELECT next FROM positions") == "\(entries.count)")
  }

  /// Another program's rule refuses some.
  @Test func skipsOnlyWhatTheDatabaseRefuses() async throws {
    var writer = try RunningWriter(server, TestStream([] as [RoomChange]))
    #expect(await eventually { writer.writer.status.isConnected })
    await writer.end()
    try server.run("ALTER TABLE changes ADD CHECK (second % 70 <> 0)")
    let changes = RoomChange.walks(1500, beacons: 1, from: 0)
    writer = try RunningWriter(server, TestStream(changes))
    await writer.wait(for: 1500)
    #expect(try all() == changes.filter { ($0.second ?? 0) % 70 != 0 })
  }

  /// Old changes go, but those that say where a beacon still is at the limit stay.
  @Test func forgetsOldChanges() async throws {
    let now = Int64(Date().timeIntervalSince1970)
    let old = now - 11 * 86400
    var changes = RoomChange.walks(5000, beacons: 5, from: old)
    // It lies there.
    changes.append(RoomChange(beacon: "lying", room: "hall", at: old))
    changes.append(RoomChange(beacon: "gone", room: "hall", at: old))
    changes.append(RoomChange(beacon: "gone", former: "hall", room: nil, at: old + 5))
    changes.append(RoomChange(beacon: "moved", room: "hall", at: old))
    changes.append(RoomChange(beacon: "moved", former: "hall", room: "shop", at: now - 60))
    let stream = TestStream(changes)
    var writer = try RunningWriter(server, stream)
    await writer.wait(for: changes.count)
    await writer.end()
    writer = try RunningWriter(server, stream, keep: 10)
    let kept =
      changes[4995..<5000].map(\.id) + changes.suffix(2).map(\.id)
      + [changes[5000].id]
    #expect(try await eventually { try server.count == kept.count })
    #expect(try Set(all().map(\.id)) == Set(kept))
  }

  @Test func passesAllInParts() async throws {
    let changes = RoomChange.walks(600, beacons: 60)
    let writer = try RunningWriter(server, TestStream(changes))
    await writer.wait(for: changes.count)
    let (store, from) = (try server.store(), 1_700_000_035 as Int64)
    for size in [1, 7, 10, 64, 100_000] {
      var found: [RoomChange] = []
      try store.forEachPart(site: "museum", beacon: nil, from: from, to: from + 40, size: size) {
        found += $0
      }
      #expect(found == sorted(Array(changes[180..<480])), "\(size)")
    }
  }

  @Test func findsTheSameAsASearchInAll() async throws {
    var random = SplitMix64(seed: 4)
    var changes: [RoomChange] = []
    for _ in 0..<2000 {
      changes.append(
        RoomChange(
          site: "s\(Int.random(in: 0...2, using: &random))",
          beacon: "b\(Int.random(in: 0...9, using: &random))", room: "hall",
          at: Int64.random(in: 0...900, using: &random)))
    }
    let writer = try RunningWriter(server, TestStream(changes))
    await writer.wait(for: changes.count)
    let store = try server.store()
    for _ in 0..<100 {
      let site = "s\(Int.random(in: 0...3, using: &random))"
      let beacon = Bool.random(using: &random) ? "b\(Int.random(in: 0...10, using: &random))" : nil
      let from = Int64.random(in: -10...900, using: &random)
      let to = from + Int64.random(in: -5...300, using: &random)
      let limit = Int.random(in: 0...200, using: &random)
      #expect(
        try store.changes(site: site, beacon: beacon, from: from, to: to, limit: limit)
          == Array(find(site, beacon, from, to, in: changes).prefix(limit)),
        "\(site) \(beacon ?? "") \(from) \(to) \(limit)")
    }
  }

  private func find(
    _ site: String, _ beacon: String?, _ from: Int64, _ to: Int64, in changes: [RoomChange]
  ) -> [RoomChange] {
    var found: [String: RoomChange] = [:]
    for change in changes where change.site == site && change.beacon == beacon ?? change.beacon {
      let second = change.second ?? 0
      if second >= from, second < to { found[change.id] = change }
      guard second < from, second > found[change.beacon]?.second ?? .min else { continue }
      found[change.beacon] = change
    }
    return sorted(Array(found.values))
  }

  @Test func readsAgainAfterTheServerCameBack() async throws {
    let writer = try RunningWriter(server, TestStream(RoomChange.walks(20)))
    await writer.wait(for: 20)
    await writer.end()
    let store = try server.store()
    func count() throws -> Int {
      try store.changes(site: "museum", beacon: nil, from: 0, to: .max, limit: 99).count
    }
    #expect(try count() == 20)
    server.kill()
    let error = #expect(throws: DatabaseError.self) { try count() }
    #expect(error?.kind == .connection)
    #expect(error?.description.contains("\n") == false)
    try server.start()
    #expect(try count() == 20)
  }
}

@Suite struct DatabaseConfigurationTests {
  @Test(arguments: ["fleet", "postgresql://[", "host=a secret=b", "a\0b"])
  func refusesWhatIsNoConnectionString(_ text: String) throws {
    let error = #expect(throws: DatabaseError.self) { try DatabaseConfiguration(text) }
    #expect(
      error?.description.hasPrefix("the connection string of the database is not valid") == true)
  }

  @Test(arguments: [
    ("postgresql://user:secret@host/fleet", true), ("host=a password=secret", true),
    ("postgresql://host/fleet?password=secret", true), ("postgresql://user@host/fleet", false),
    ("host=/run/postgresql dbname=fleet", false),
  ])
  func findsPasswords(_ text: String, _ hasPassword: Bool) throws {
    #expect(try DatabaseConfiguration(text).hasPassword == hasPassword)
  }
}
