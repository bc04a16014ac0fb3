import Advertising
import Records
import Regions
import Scanning
import Testing

@testable import BrokerLink
@testable import Ranging
@testable import ServiceCore

@Suite struct PublisherTests {
  private func publisher(includesUnnamed: Bool = false) -> Publisher {
    var configuration = BrokerConfiguration(host: "localhost", node: "kiosk")
    configuration.includesUnnamedBeacons = includesUnnamed
    configuration.discoveryPrefix = nil
    return Publisher(configuration, position: 0)
  }

  /// Publishes everything that waits, and returns the payloads by topic.
  private func drain(_ publisher: inout Publisher) -> [String: String] {
    var messages: [String: String] = [:]
    while let message = publisher.outbox.next() {
      messages[message.topic] = String(decoding: message.payload, as: UTF8.self)
      publisher.outbox.acknowledge(message.token)
    }
    return messages
  }

  private let range = "beaconscan/kiosk/beacons/\(keysLevel)/range"
  private let presence = "beaconscan/kiosk/beacons/\(keysLevel)/presence"

  @Test func `a beacon is published at most once a second, and when it changes`() {
    var publisher = publisher()
    publisher.begin()
    publisher.setBeacons([keys: "Keys"])
    #expect(drain(&publisher)[presence] == "unknown")
    func published(_ beacon: RangedBeacon, at time: Double) -> Bool {
      publisher.update(ranging: report([beacon], at: time))
      return drain(&publisher)[range] != nil
    }
    #expect(published(beacon(at: 2), at: 1))
    #expect(!published(beacon(at: 3), at: 1.5))
    #expect(published(beacon(at: 3), at: 2))
    // Less than 0.1 m, and less than 5 %.
    #expect(!published(beacon(at: 3.09), at: 3))
    #expect(!published(beacon(at: 3.14), at: 4))
    #expect(published(beacon(at: 3.2), at: 5))
    #expect(published(beacon(keys, .far, at: 3.2), at: 6))
    #expect(published(beacon(keys, .unknown), at: 7))
    // Without a change, every 30 s.
    #expect((8...36).allSatisfy { !published(beacon(keys, .unknown), at: Double($0)) })
    // What is the same to the last digit need not be sent again.
    #expect(!published(beacon(keys, .unknown), at: 37))
    var later = beacon(keys, .unknown)
    later.sightings = 11
    #expect(published(later, at: 67))
  }

  @Test func `a beacon that is gone is absent and has no distance`() {
    var publisher = publisher()
    publisher.begin()
    publisher.setBeacons([keys: "Keys", bag: "Bag"])
    publisher.update(ranging: report([beacon()], at: 1))
    var messages = drain(&publisher)
    #expect(messages[presence] == "present")
    #expect(messages["beaconscan/kiosk/beacons/\(bag.topicLevel)/presence"] == "absent")
    publisher.update(ranging: report([], at: 1.2))
    messages = drain(&publisher)
    #expect(messages[presence] == "absent")
    #expect(object(messages[range])["proximity"] as? String == "unknown")
    #expect(messages[range]?.contains("\"distance\":null") == true)
    // A report of other beacons says nothing of this one.
    publisher.update(ranging: report([beacon()], at: 3))
    _ = drain(&publisher)
    var other = report([], at: 4)
    other.requests = [
      RangingRequest(BeaconConstraint(uuid: ProximityUUID(high: 9, low: 9)))
    ]
    publisher.update(ranging: other)
    #expect(drain(&publisher).isEmpty)
  }

  /// Has an event published as the link does: its state, and what the journal has of it.
  private func update(_ publisher: inout Publisher, _ event: MonitorEvent) {
    let record = record(of: event)
    publisher.update(region: event, record)
    guard event.kind != .state else { return }
    publisher.publish(
      JournalEntry(
        kind: event.kind.rawValue, wallClockTime: event.time, region: event.region, record: record
      ).numbered(publisher.outbox.position + 1, AuthorizationEvent(status: .denied)))
  }

  @Test func `a region's state comes from its events, also from those of single beacons`() {
    var publisher = publisher()
    publisher.setRegions([BrokerRegion("lobby")])
    publisher.begin()
    let topics = Topics(prefix: "beaconscan/kiosk").region("lobby")
    #expect(drain(&publisher)[topics.state] == "unknown")
    update(&publisher, event(.enter, "lobby", beacons: 1, beacon: keys))
    var messages = drain(&publisher)
    #expect(messages[topics.state] == "inside" && messages[topics.beacons] == "1")
    #expect(object(messages[topics.event])["type"] as? String == "enter")
    update(&publisher, event(.enter, "lobby", at: 2, beacons: 2, beacon: bag))
    messages = drain(&publisher)
    #expect(messages[topics.state] == nil && messages[topics.beacons] == "2")
    update(&publisher, event(.exit, "lobby", at: 3, beacons: 1, beacon: keys))
    messages = drain(&publisher)
    // One has left, and the other is inside.
    #expect(messages[topics.state] == nil && messages[topics.beacons] == "1")
    update(&publisher, event(.exit, "lobby", at: 4, beacons: 0, beacon: bag))
    messages = drain(&publisher)
    #expect(messages[topics.state] == "outside" && messages[topics.beacons] == "0")
    update(&publisher, event(.state, "lobby", at: 5, beacons: nil))
    messages = drain(&publisher)
    #expect(messages[topics.state] == "inside" && messages[topics.beacons] == "unknown")
    // A state is no event.
    #expect(messages[topics.event] == nil && messages[topics.last] != nil)
  }

  /// A publisher with discovery.
  private func publisher(
    hasLocations: Bool, room: String? = nil, pageURL: String? = nil
  ) -> Publisher {
    var configuration = BrokerConfiguration(host: "localhost", node: "kiosk")
    configuration.hasLocations = hasLocations
    configuration.room = room
    configuration.pageURL = pageURL
    return Publisher(configuration, position: 0)
  }

  /// Has a broker send what it retains: the messages that are not empty.
  private func receive(_ publisher: inout Publisher, _ messages: [String: String]) {
    for (topic, payload) in messages where !payload.isEmpty {
      publisher.receive(
        BrokerMessage(topic: topic, payload: Array(payload.utf8), isRetained: true))
    }
  }

  private let tracker = "homeassistant/device_tracker/beaconscan_kiosk/location/config"
  private let location = "beaconscan/kiosk/location"

  @Test func `a receiver with locations is tracked, and no longer without them`() {
    var first = publisher(hasLocations: true)
    first.setRegions([])
    first.setBeacons([:])
    first.update(location: Array(#"{"latitude":52.5,"longitude":13.4,"accuracy":5}"#.utf8))
    first.begin()
    let messages = drain(&first)
    let entity = object(messages[tracker])
    #expect(entity["source_type"] as? String == "gps")
    #expect(entity["json_attributes_topic"] as? String == location)
    #expect(entity["unique_id"] as? String == "beaconscan_kiosk_location")
    #expect(object(messages[location])["accuracy"] as? Int == 5)
    for hasLocations in [true, false] {
      var second = publisher(hasLocations: hasLocations)
      second.begin()
      receive(&second, messages)
      second.setRegions([])
      second.setBeacons([:])
      let later = drain(&second)
      #expect(later[tracker]?.isEmpty == !hasLocations)
      #expect(later[location] == (hasLocations ? nil : ""))
    }
  }

  @Test func `a region of beacons that becomes a circle has no beacons any more`() {
    let topics = Topics(prefix: "beaconscan/kiosk").region("lobby")
    let beacons = "homeassistant/sensor/beaconscan_kiosk/region_lobby_beacons/config"
    let occupancy = "homeassistant/binary_sensor/beaconscan_kiosk/region_lobby_occupancy/config"
    let circle = BrokerRegion("lobby", countsBeacons: false)
    var publisher = publisher(hasLocations: true)
    publisher.setRegions([BrokerRegion("lobby", state: .inside, beacons: 2)])
    publisher.setBeacons([:])
    publisher.begin()
    let before = drain(&publisher)
    #expect(before[beacons] != nil && before[topics.beacons] == "2")
    publisher.setRegions([circle])
    let after = drain(&publisher)
    #expect(after[beacons] == "" && after[topics.beacons] == "")
    #expect(after[occupancy] == nil && after[topics.state] == "unknown")
    update(&publisher, event(.enter, "lobby", beacons: nil))
    let entered = drain(&publisher)
    #expect(entered[topics.state] == "inside" && entered[topics.beacons] == nil)
    #expect(entered[topics.event] != nil && entered[topics.event] == entered[topics.last])
    // In the next run.
    var next = self.publisher(hasLocations: true)
    next.begin()
    receive(&next, before)
    next.setRegions([circle])
    next.setBeacons([:])
    let later = drain(&next)
    #expect(later[beacons] == "" && later[topics.beacons] == "")
    #expect(later[occupancy]?.isEmpty == false && later[topics.state] == "unknown")
  }

  @Test func `a visit is an event without a region`() {
    var publisher = publisher()
    publisher.begin()
    _ = drain(&publisher)
    publisher.publish(
      JournalEntry(
        kind: "visit", wallClockTime: WallClockTime(nanoseconds: 0), record: Array("{}".utf8)
      ).numbered(7, AuthorizationEvent(status: .denied)))
    let message = publisher.outbox.next()
    #expect(message?.topic == "beaconscan/kiosk/visits/event" && message?.isRetained == false)
    #expect(publisher.outbox.acknowledged == 6)
    publisher.outbox.acknowledge(message?.token ?? 0)
    #expect(publisher.outbox.acknowledged == 7)
  }

  @Test func `the receiver's device has the page that was given`() {
    func device(of publisher: Publisher) -> [String: Any] {
      let entity = publisher.discovery.receiver.first.map {
        String(decoding: $0.payload, as: UTF8.self)
      }
      return object(entity)["device"] as? [String: Any] ?? [:]
    }
    let given = device(
      of: publisher(hasLocations: false, room: "hall", pageURL: "http://kiosk.local:8732/"))
    #expect(given["suggested_area"] as? String == "hall")
    #expect(given["configuration_url"] as? String == "http://kiosk.local:8732/")
    let none = device(of: publisher(hasLocations: false))
    #expect(none["name"] as? String == "beaconscan kiosk")
    #expect(none["suggested_area"] == nil && none["configuration_url"] == nil)
  }

  @Test func `beacons without a name are published on request, the closest, and not retained`() {
    var publisher = publisher(includesUnnamed: true)
    publisher.setBeacons([:])
    publisher.begin()
    let crowd = (1...200).map { number in
      beacon(BeaconIdentity(uuid: keys.uuid, major: 9, minor: number), at: Double(number) / 10)
    }
    publisher.update(ranging: report(crowd))
    var topics: [String] = []
    while let message = publisher.outbox.next() {
      if message.topic.hasSuffix("/range") {
        topics.append(message.topic)
        #expect(!message.isRetained)
      }
      publisher.outbox.acknowledge(message.token)
    }
    #expect(topics.count == 64 && topics.first?.hasSuffix("-9-1/range") == true)
  }
}

@Suite struct TopicNameTests {
  @Test(arguments: [
    ("lobby", "lobby"), ("Lobby_2-b", "Lobby_2-b"), ("café/1", "caf__1--638ed5d1d4ac7e79"),
    ("", "--cbf29ce484222325"),
  ])
  func `identifiers stay what they are`(name: String, identifier: String) {
    #expect(TopicName.identifier(of: name) == identifier)
  }

  @Test func `different names have different identifiers`() {
    let names = [
      "a/b", "a+b", "a b", "a_b", "a--b", "a-", "a--", "a-b", String(repeating: "y", count: 64),
      String(repeating: "y", count: 65), String(repeating: "y", count: 66), "é", "e\u{301}",
      TopicName.identifier(of: "a/b"),
    ]
    let identifiers = names.map(TopicName.identifier)
    // Of two names in Swift's canonical equivalence, either may be used.
    #expect(Set(identifiers).count == names.count)
    #expect(identifiers.allSatisfy { $0.utf8.count <= 82 && TopicName.isLevel($0) })
    #expect(TopicName.identifier(of: String(repeating: "y", count: 64)).utf8.count == 64)
  }
}
