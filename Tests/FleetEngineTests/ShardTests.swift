import Clocks
import FleetReports
import Testing

@testable import FleetEngine

@Suite struct ShardTests {
  @Test func `names have two digits`() {
    #expect(Shard(number: 5)?.name == "05")
    #expect(Shard(number: 63)?.name == "63")
    #expect(Shard(number: 64) == nil)
    #expect(Shard(number: -1) == nil)
    #expect(Shard.all.count == 64)
  }

  /// The broker makes the routing key from the topic.
  @Test func `a receiver's reports reach their shard`() {
    #expect(FleetTopic.reports(ofSite: "a", receiver: "door") == "fleet/44/a/door/seen")
    #expect(FleetTopic.routingKey(ofSite: "a", receiver: "door") == "fleet.44.a.door.seen")
    #expect(Shard(ofSite: "a").name == "44")
  }

  @Test func `versions have an order`() {
    let versions = ["", "x", "1", "1-2", "1-10", "2-1", "10-0"].map { StateVersion(text: $0) }
    #expect(versions[0...2].allSatisfy { $0 == .none })
    #expect(versions == versions.sorted())
    #expect(StateVersion(text: StateVersion(generation: 3, number: 4).text).number == 4)
    for text in ["1-2-3", "-", "-1", "1--2", "99999999999999999999-1", "1-\u{301}"] {
      #expect(StateVersion(text: text) == .none)
    }
  }

  /// A stream whose leader fails can lose a message and take a later one.
  @Test func `a transition waits for the confirm of the former one of its beacon`() throws {
    func message(_ id: String, _ stream: FleetMessage.Stream = .transitions) -> FleetMessage {
      FleetMessage(stream, id: id, routingKey: "site", body: [])
    }
    var flow = try ShardFlow(Tally(shard: 0, state: nil, context: ()), .none, at: .now)
    flow.published(message("site/beacon/58"))
    flow.published(message("site/60/0", .pictures))
    #expect(flow.mustWait(before: message("site/beacon/63")))
    #expect(!flow.mustWait(before: message("site/other/58")))
    #expect(!flow.mustWait(before: message("site/60/1", .pictures)))
    flow.confirmed()
    #expect(!flow.mustWait(before: message("site/beacon/63")))
  }

  /// A node that comes back has a part of a stream, and the next one has all of it.
  @Test func `a stream that a node has a part of is not another one`() {
    var reach = StreamReach()
    func isOther(_ second: Int64) -> Bool {
      reach.isOfAnotherStream(at: MonotonicTime(nanoseconds: second * 1_000_000_000), after: 30)
    }
    #expect([0, 10, 29].map(isOther) == [false, false, false])
    reach.isComplete()
    #expect([40, 69, 70, 71].map(isOther) == [false, false, true, true])
  }

  @Test(arguments: [
    "nodes", "host", "port", "password", "heartbeat", "key", "authorities",
  ])
  func `a configuration that cannot be used`(what: String) {
    var configuration = EngineConfiguration(nodes: [.init(host: "localhost", port: 5672)])
    var tls = EngineConfiguration.TLS(authorities: "/dev/null")
    switch what {
    case "nodes": configuration.nodes = []
    case "host": configuration.nodes[0].host = "a b"
    case "port": configuration.nodes[0].port = 0
    case "password": configuration.password = "\0"
    case "heartbeat": configuration.heartbeat = 0
    case "key":
      tls.key = "/dev/null"
      configuration.tls = tls
    default:
      tls.authorities = "/nowhere/ca.pem"
      configuration.tls = tls
    }
    #expect(throws: EngineError.self) { try configuration.check() }
  }
}
