import Clocks
import Dispatch
import FleetPicture
import FleetSites
import FoundationEssentials
import HTTPTypes
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import FleetPage
@testable import HTTPServing

@Suite struct FleetRoutesTests {
  private let now = WallClockTime.now.nanoseconds / 1_000_000_000

  private func hub() throws -> FleetHub {
    let hub = FleetHub { _, plan in Array("picture \(plan.image)".utf8) }
    hub.set(
      try Values.file("[plan]\nimage = \"a.svg\"\nmetersPerPixel = 1"))
    hub.receive(
      picture: Values.picture(
        at: now, [Values.receiver("one", reported: now), Values.receiver("two", reported: now)],
        [Values.sighting(1, in: "kitchen", since: now - 50)], strangers: ["nine"]
      ).json)
    hub.receive(change: Values.change(1, "hall", "kitchen", at: now - 50).json)
    hub.receive(change: Values.change(2, nil, "hall", at: now - 40).json)
    return hub
  }

  private func response(
    _ path: String, _ hub: FleetHub, method: HTTPMethod = .GET, headers: HTTPHeaders = [:]
  ) async throws -> Response {
    let head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: headers)
    let request = try #require(Request(head, ByteBuffer()))
    return try await FleetRoutes(hub, counts: RequestCounts()).route(request)
  }

  private func json(_ path: String, _ hub: FleetHub) async throws -> [String: Any] {
    let response = try await response(path, hub)
    guard case .bytes(let bytes) = response.body else { return [:] }
    return try #require(JSONValues.object(bytes))
  }

  @Test func answersWithSites() async throws {
    let answer = try await json("/api/v1/sites", hub())
    let site = try #require((answer["sites"] as? [[String: Any]])?.first)
    #expect(site["site"] as? String == "flat")
    #expect(site["rooms"] as? Double == 2)
    #expect(site["beaconsInRooms"] as? Double == 1)
    #expect(site["alarms"] as? Double == 1)
  }

  @Test func answersWithASite() async throws {
    let answer = try await json("/api/v1/sites/flat", hub())
    let rooms = try #require(answer["rooms"] as? [[String: Any]])
    #expect(rooms.map { $0["beacons"] as? Double } == [1, 0])
    #expect((answer["receivers"] as? [[String: Any]])?.count == 2)
    let beacons = try #require(answer["beacons"] as? [[String: Any]])
    #expect(beacons.first?["room"] as? String == "kitchen")
    #expect(answer["strangers"] as? [String] == ["nine"])
  }

  @Test func answersWithTheWayOfABeacon() async throws {
    let answer = try await json("/api/v1/sites/flat/beacons/\(Values.beacon(1))", hub())
    let stays = try #require(answer["stays"] as? [[String: Any]])
    #expect(stays.map { $0["room"] as? String } == ["hall", "kitchen"])
    #expect(stays.last?["from"] as? String == Seconds.text(now - 50))
    #expect(stays.last?["to"] == nil)
    #expect((answer["now"] as? [String: Any])?["runnerUp"] as? String == "hall")
  }

  @Test func answersWithOccupancy() async throws {
    let from = Seconds.text(now - 3600)
    let answer = try await json("/api/v1/sites/flat/occupancy?from=\(from)", hub())
    let hours = try #require(answer["hours"] as? [[String: Any]])
    #expect((1...2).contains(hours.count))
    let rooms = hours.flatMap { $0["rooms"] as? [[String: Any]] ?? [] }
    let visits = rooms.filter { $0["room"] as? String == "kitchen" }
      .compactMap { $0["visits"] as? Double }
    #expect(visits.reduce(0, +) == 1)
  }

  /// One leaves in the second in which another comes, and a third has been there all the time.
  @Test func countsOccupancyAsTheHistoryDoes() async throws {
    let hub = FleetHub { _, _ in [] }
    let noon = Values.noon
    hub.receive(
      picture: Values.picture(
        at: now, [], [Values.sighting(3, in: "hall", since: noon - 9000)]
      ).json)
    hub.receive(change: Values.change(1, nil, "hall", at: noon + 100).json)
    hub.receive(change: Values.change(2, nil, "hall", at: noon + 1800).json)
    hub.receive(change: Values.change(1, "hall", nil, at: noon + 1800).json)
    let answer = try await json(
      "/api/v1/sites/flat/occupancy?from=2026-01-15T12:00:00Z&to=2026-01-15T14:00:00Z", hub)
    let hours = try #require(answer["hours"] as? [[String: Any]])
    #expect(hours.map { $0["hour"] as? String } == [noon, noon + 3600].map(Seconds.text))
    let rooms = hours.compactMap { ($0["rooms"] as? [[String: Any]])?.first }
    #expect(rooms.map { $0["maximum"] as? Double } == [2, 2])
    #expect(rooms.map { $0["visits"] as? Double } == [2, 0])
    #expect(rooms.map { $0["mean"] as? Double } == [1.97, 2])
    #expect(rooms.first?["medianDwell"] as? Double == 1700)
  }

  @Test func answersFromTheHistory() async throws {
    let old = now - 10 * 86400
    let hub = FleetHub(
      history: { site, beacon, from, to, _ in
        #expect(site == "flat")
        #expect(beacon == Values.beacon(1))
        #expect(from < old && old < to)
        // The first one says where the beacon was before.
        return [
          Values.change(1, nil, "kitchen", at: from - 500),
          Values.change(1, "kitchen", "hall", at: old),
        ]
      }
    ) { _, _ in [] }
    hub.set(try Values.file())
    let answer = try await json(
      "/api/v1/sites/flat/beacons/\(Values.beacon(1))?from=\(Seconds.text(old - 60))"
        + "&to=\(Seconds.text(old + 60))", hub)
    let stays = try #require(answer["stays"] as? [[String: Any]])
    #expect(stays.map { $0["room"] as? String } == ["kitchen", "hall"])
    #expect(stays.first?["from"] == nil)
    #expect(stays.first?["to"] as? String == Seconds.text(old))
    #expect(stays.last?["from"] as? String == Seconds.text(old))
  }

  /// The database has not yet what came last, and memory not what came first.
  @Test func joinsMemoryAndTheHistory() async throws {
    let old = Values.change(1, "hall", "kitchen", at: now - 9000)
    let both = Values.change(1, "kitchen", "hall", at: now - 500)
    let hub = FleetHub(history: { _, _, _, _, _ in [old, both] }) { _, _ in [] }
    hub.receive(change: both.json)
    hub.receive(change: Values.change(1, "hall", "kitchen", at: now - 100).json)
    let answer = try await json("/api/v1/sites/flat/beacons/\(Values.beacon(1))", hub)
    let stays = try #require(answer["stays"] as? [[String: Any]])
    #expect(stays.map { $0["room"] as? String } == ["hall", "kitchen", "hall", "kitchen"])
    #expect(answer["knownTo"] == nil)
  }

  @Test(
    arguments: [
      // Memory goes on where the history is cut, or later.
      (-7000, nil), (-3000, -4000),
    ] as [(Int64, Int64?)])
  func statesUpToWhenChangesAreKnown(_ oldest: Int64, _ end: Int64?) async throws {
    let now = now
    let hub = FleetHub(
      history: { _, _, _, _, limit in
        let changes = (0..<9).map {
          Values.change($0, nil, "hall", at: now - 8000 + 1000 * Int64($0))
        }
        return Array(changes.prefix(limit))
      }, maximumChanges: 5
    ) { _, _ in [] }
    hub.receive(change: Values.change(20, nil, "hall", at: now + oldest).json)
    hub.receive(change: Values.change(21, nil, "hall", at: now - 50).json)
    let answer = try await json("/api/v1/sites/flat/occupancy", hub)
    #expect(answer["knownTo"] as? String == end.map { Seconds.text(now + $0) })
    let hours = try #require(answer["hours"] as? [[String: Any]])
    let visits = hours.flatMap { $0["rooms"] as? [[String: Any]] ?? [] }
      .compactMap { $0["visits"] as? Double }.reduce(0, +)
    #expect(visits == (end == nil ? 7 : 4))
  }

  @Test func answersWhileTheDatabaseHangs() async throws {
    let end = DispatchSemaphore(value: 0)
    let calls = Mutex(0)
    let hub = FleetHub(
      history: { _, _, _, _, _ in
        calls.withLock { $0 += 1 }
        end.wait()
        return []
      }, historyTime: 0.05
    ) { _, _ in [] }
    hub.set(try Values.file())
    for _ in 0..<2 {
      let refusal = await #expect(throws: HTTPRefusal.self) {
        try await response("/api/v1/sites/flat/occupancy", hub)
      }
      #expect(refusal?.status == .serviceUnavailable)
      #expect(
        refusal?.sentence
          == "the history cannot be read: the database has not answered for 0.05 s")
    }
    hub.receive(picture: Values.picture(at: now).json)
    #expect(try await json("/api/v1/sites/flat", hub)["time"] as? String == Seconds.text(now))
    #expect(calls.withLock { $0 } <= 1, "the second one waits for the first")
    end.signal()
    // The second one is not asked any more.
    end.signal()
  }

  @Test func answersWithFilesAndThePlan() async throws {
    let hub = try hub()
    for path in ["/", "/page.css", "/fleet.css", "/fleet.js", "/plan.js", "/elements.js"] {
      guard case .bytes(let bytes) = try await response(path, hub).body else { continue }
      #expect(bytes.count > 1000, "\(path)")
    }
    let plan = try await response("/api/v1/sites/flat/plan", hub)
    #expect(plan.headers[.contentType] == "image/svg+xml")
    guard case .bytes(let bytes) = plan.body else { return }
    #expect(String(decoding: bytes, as: UTF8.self) == "picture a.svg")
  }

  @Test func answersWithHealthAndMetrics() async throws {
    let hub = try hub()
    #expect(try await response("/health", hub).status == .serviceUnavailable)
    hub.set(fault: nil)
    #expect(try await response("/health", hub).status == .ok)
    guard case .bytes(let bytes) = try await response("/metrics", hub).body else { return }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("beaconscan_fleet_site_beacons{site=\"flat\"} 1\n"))
    #expect(text.contains("beaconscan_fleet_alarms{kind=\"stranger\"} 1\n"))
  }

  @Test(arguments: [
    ("/api/v1/sites/none", 404), ("/api/v1/sites/flat/other", 404), ("/none", 404),
    ("/api/v1/sites/", 404), ("/api/v1/sites/%FF", 404), ("/api/v1/sites/flat/beacons/x", 400),
    ("/api/v1/sites/flat/beacons/E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:9:9", 404),
    ("/api/v1/sites/flat/occupancy?from=x", 400), ("/api/v1/sites/flat/plan?floor=3", 404),
    ("/api/v1/sites/flat/plan?floor=x", 404),
    ("/api/v1/sites/flat/occupancy?from=2026-01-02&to=2026-01-01", 400),
    ("/api/v1/sites/flat/occupancy?from=1970-01-01&to=2261-01-01", 400),
    ("/api/v1/events?site=none", 404), ("/api/v1/events?last=-1", 400),
  ])
  func refuses(_ path: String, _ status: Int) async throws {
    let hub = try hub()
    let refusal = await #expect(throws: HTTPRefusal.self) { try await response(path, hub) }
    #expect(refusal?.status.code == status)
  }

  @Test(arguments: [HTTPMethod.PUT, .POST, .DELETE])
  func isReadOnly(_ method: HTTPMethod) async throws {
    let hub = try hub()
    let refusal = await #expect(throws: HTTPRefusal.self) {
      try await response("/api/v1/sites", hub, method: method)
    }
    #expect(refusal?.status == .methodNotAllowed)
  }

  /// Reads a stream until a text has arrived.
  private func stream(
    _ path: String, _ hub: FleetHub, headers: HTTPHeaders = [:], until end: String,
    then act: @Sendable () -> Void = {}
  ) async throws -> String {
    let response = try await response(path, hub, headers: headers)
    guard case .stream(let write) = response.body else { return "" }
    struct Ended: Error {}
    let text = Mutex("")
    do {
      let isFirst = Mutex(true)
      try await write { bytes in
        let hasEnd = text.withLock { text in
          text += String(decoding: bytes, as: UTF8.self)
          return text.contains(end)
        }
        if hasEnd { throw Ended() }
        if isFirst.withLock({ isFirst in
          defer { isFirst = false }; return isFirst
        }) {
          act()
        }
      }
    } catch is Ended {}
    return text.withLock { $0 }
  }

  @Test func streamsChangesAndAlarms() async throws {
    let hub = try hub()
    let now = now
    let text = try await stream("/api/v1/events?site=flat", hub, until: "event: picture") {
      hub.receive(change: Values.change(3, nil, "hall", at: now, site: "other").json)
      hub.receive(change: Values.change(4, nil, "hall", at: now).json)
      hub.receive(picture: Values.picture(at: now + 1).json)
    }
    #expect(text.contains("id: flat/\(Values.beacon(4))/\(now)\nevent: change\ndata: {"))
    #expect(!text.contains("\"other\""))
    #expect(text.contains("event: alarm\ndata: {\"alarm\":"))
    #expect(text.contains("\"isActive\":false"))
  }

  /// A stream is woken by what it sends, and by time.
  @Test func wakesNoStreamOfAnotherSite() async throws {
    let hub = try hub()
    let place = hub.end(before: 0, of: "flat")
    let all = hub.end(before: 0, of: nil)
    hub.receive(picture: Values.picture(at: now + 1, strangers: ["nine"]).json)
    #expect(hub.hasNews(after: place, of: "flat"))
    #expect(!hub.hasNews(after: all, of: nil), "a stream of all sites has no pictures")
    let next = hub.end(before: 0, of: "flat")
    hub.receive(change: Values.change(3, nil, "hall", at: now, site: "other").json)
    #expect(!hub.hasNews(after: next, of: "flat"))
    #expect(hub.hasNews(after: all, of: nil))
    hub.receive(change: Values.change(3, nil, "hall", at: now).json)
    #expect(hub.hasNews(after: next, of: "flat"))
  }

  @Test func waitersGoOnWhenTheyAreReady() async {
    let waiters = Waiters()
    let checks = Atomic(0)
    let isReady = Atomic(false)
    async let result = waiters.wait {
      checks.add(1, ordering: .relaxed)
      return isReady.load(ordering: .sequentiallyConsistent)
    }
    while checks.load(ordering: .relaxed) == 0 { await Task.yield() }
    let before = checks.load(ordering: .relaxed)
    waiters.wake()
    waiters.wake()
    #expect(checks.load(ordering: .relaxed) == before + 2, "it still waits")
    isReady.store(true, ordering: .sequentiallyConsistent)
    waiters.wake()
    #expect(await result)
  }

  @Test func resumesAfterTheLastEvent() async throws {
    let hub = try hub()
    let text = try await stream(
      "/api/v1/events", hub, headers: ["Last-Event-ID": "flat/\(Values.beacon(1))/\(now - 50)"],
      until: Values.beacon(2))
    #expect(!text.contains("event: missed"))
    #expect(!text.contains(Values.beacon(1)))
    let other = try await stream(
      "/api/v1/events", hub, headers: ["Last-Event-ID": "flat/x/1"], until: "event: missed")
    #expect(other.contains("data: {\"since\":\"flat/x/1\"}"))
  }

  @Test func beginsWithTheLastEvents() async throws {
    let text = try await stream("/api/v1/events?last=1", hub(), until: Values.beacon(2))
    #expect(!text.contains(Values.beacon(1) + "/"))
  }
}

/// JSON as values of the standard library: objects, arrays, texts, numbers and truth values.
enum JSONValues {
  private indirect enum Value: Decodable {
    case value(Any)

    init(from decoder: any Decoder) throws {
      if let object = try? decoder.container(keyedBy: Key.self) {
        var values: [String: Any] = [:]
        for key in object.allKeys {
          if case .value(let value) = try object.decode(Value.self, forKey: key) {
            values[key.stringValue] = value
          }
        }
        self = .value(values)
      } else if var list = try? decoder.unkeyedContainer() {
        var values: [Any] = []
        while !list.isAtEnd {
          if case .value(let value) = try list.decode(Value.self) { values.append(value) }
        }
        let objects = values.compactMap { $0 as? [String: Any] }
        let texts = values.compactMap { $0 as? String }
        self = .value(
          objects.count == values.count ? objects : texts.count == values.count ? texts : values)
      } else {
        let single = try decoder.singleValueContainer()
        if let flag = try? single.decode(Bool.self) {
          self = .value(flag)
        } else if let number = try? single.decode(Double.self) {
          self = .value(number)
        } else {
          self = .value(try single.decode(String.self))
        }
      }
    }
  }

  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  static func object(_ bytes: [UInt8]) -> [String: Any]? {
    guard case .value(let value)? = try? JSONDecoder().decode(Value.self, from: Data(bytes)) else {
      return nil
    }
    return value as? [String: Any]
  }
}
