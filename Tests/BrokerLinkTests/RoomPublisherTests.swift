import Advertising
import Foundation
import TestDaemons
import TestSupport
import Testing

@testable import BrokerLink

/// The rooms of a fleet's beacons, for Home Assistant.
@Suite struct RoomPublisherTests {
  private let prefix = "beaconscan/fleet"
  /// The identifier of the receiver hall-1 of the museum.
  private let hallID = TopicName.identifier(of: "museum/hall-1")

  private func publisher() -> RoomPublisher {
    var publisher = RoomPublisher(BrokerConfiguration(host: "h", node: "fleet"))
    publisher.outbox.begin()
    return publisher
  }

  private func place(_ room: String?, isOutside: Bool = false, probability: Double = 0.9)
    -> RoomPublisher.Beacon
  {
    RoomPublisher.Beacon(
      keys, name: "Keys", room: room, isOutside: isOutside, probability: probability,
      since: "2026-01-15T12:00:00Z")
  }

  private func hall(isMissing: Bool = false, lost: String? = nil) -> RoomPublisher.Receiver {
    RoomPublisher.Receiver(name: "hall-1", room: "hall", isMissing: isMissing, receptionLost: lost)
  }

  /// What the broker retains after all that waits was sent.
  private func retained(_ publisher: inout RoomPublisher, _ former: [String: String] = [:])
    -> [String: String]
  {
    var retained = former
    while let message = publisher.outbox.next() {
      retained[message.topic] =
        message.payload.isEmpty ? nil : String(decoding: message.payload, as: UTF8.self)
      publisher.outbox.acknowledge(message.token)
    }
    return retained
  }

  @Test func `a named beacon and a receiver are devices`() throws {
    var publisher = publisher()
    publisher.set(sites: ["museum"])
    publisher.set("museum", receivers: [hall()], beacons: [place("hall", probability: 0.93)])
    let all = retained(&publisher)
    let beacon = object(all["\(prefix)/beacons/\(keysLevel)/estimate"])
    #expect(beacon["site"] as? String == "museum")
    #expect(beacon["room"] as? String == "hall")
    #expect(beacon["probability"] as? Double == 0.9)
    #expect(all["\(prefix)/beacons/\(keysLevel)/state"] == "hall")
    #expect(object(all["\(prefix)/receivers/museum/hall-1"])["isMissing"] as? Bool == false)
    let receiver = object(
      all["homeassistant/binary_sensor/beaconscan_fleet/receiver_\(hallID)/config"])
    let device = try #require(receiver["device"] as? [String: Any])
    #expect(device["suggested_area"] as? String == "hall")
    for (entity, topic) in [
      ("device_tracker/beaconscan_fleet/beacon_\(keysLevel)_tracker", "state"),
      ("sensor/beaconscan_fleet/beacon_\(keysLevel)_room", "estimate"),
    ] {
      let entity = object(all["homeassistant/\(entity)/config"])
      #expect(entity["state_topic"] as? String == "\(prefix)/beacons/\(keysLevel)/\(topic)")
      #expect((entity["device"] as? [String: Any])?["name"] as? String == "Keys")
    }
  }

  @Test func `a beacon of two sites is where it is in a room`() {
    var publisher = publisher()
    publisher.set(sites: ["museum", "store"])
    publisher.set("museum", receivers: [], beacons: [place(nil, isOutside: true, probability: 1)])
    publisher.set("store", receivers: [], beacons: [place("shelf", probability: 0.8)])
    var all = retained(&publisher)
    #expect(object(all["\(prefix)/beacons/\(keysLevel)/estimate"])["site"] as? String == "store")
    publisher.set("store", receivers: [], beacons: [place(nil, isOutside: true)])
    publisher.set("museum", receivers: [], beacons: [place(nil)])
    all = retained(&publisher, all)
    let beacon = object(all["\(prefix)/beacons/\(keysLevel)/estimate"])
    #expect(beacon["site"] as? String == "museum")
    #expect(beacon["room"] is NSNull)
    #expect(beacon["isOutside"] as? Bool == false)
    #expect(all["\(prefix)/beacons/\(keysLevel)/state"] == "None")
  }

  @Test func `receivers whose names look alike with their sites' are two`() {
    var publisher = publisher()
    publisher.set(sites: ["a", "a_b"])
    func receiver(_ name: String) -> RoomPublisher.Receiver {
      RoomPublisher.Receiver(name: name, room: nil, isMissing: false, receptionLost: nil)
    }
    publisher.set("a", receivers: [receiver("b_c")], beacons: [])
    publisher.set("a_b", receivers: [receiver("c")], beacons: [])
    #expect(retained(&publisher).keys.count { $0.hasPrefix("homeassistant/") } == 2)
  }

  @Test func `a beacon that nothing is known of keeps its device`() {
    var publisher = publisher()
    publisher.set(sites: ["museum"])
    publisher.set("museum", receivers: [], beacons: [place("hall")])
    let all = retained(&publisher)
    publisher.set(
      "museum", receivers: [],
      beacons: [RoomPublisher.Beacon(keys, name: "Keys", room: nil, isOutside: true)])
    let later = retained(&publisher, all)
    #expect(later.count == all.count)
    #expect(later["\(prefix)/beacons/\(keysLevel)/state"] == "not_home")
    #expect(object(later["\(prefix)/beacons/\(keysLevel)/estimate"])["probability"] is NSNull)
  }

  @Test func `what a site has no more disappears`() {
    var publisher = publisher()
    publisher.set(sites: ["museum"])
    publisher.set("museum", receivers: [hall()], beacons: [place("hall")])
    var all = retained(&publisher)
    #expect(all.count == 7)
    publisher.set("museum", receivers: [hall(lost: "hci0 is gone")], beacons: [])
    all = retained(&publisher, all)
    #expect(!all.keys.contains { $0.contains(keysLevel) })
    #expect(
      object(all["\(prefix)/receivers/museum/hall-1"])["receptionLost"] as? String
        == "hci0 is gone")
    // An editor replaces the file.
    publisher.set(sites: [])
    publisher.set(sites: ["museum"])
    for _ in 1..<RoomPublisher.patience { publisher.set(sites: []) }
    all = retained(&publisher, all)
    #expect(all.count == 3)
    publisher.set(sites: [])
    all = retained(&publisher, all)
    #expect(all.keys.sorted() == ["\(prefix)/status"])
  }

  @Test func `entities of an earlier process are removed when all sites are known`() {
    var publisher = publisher()
    let old = "homeassistant/sensor/beaconscan_fleet/beacon_old_room/config"
    let other = "homeassistant/sensor/beaconscan_kiosk/beacon_old_room/config"
    let state = "\(prefix)/beacons/old/state"
    for topic in [old, other, state] {
      publisher.receive(BrokerMessage(topic: topic, payload: [0x7B], isRetained: true))
    }
    publisher.set(sites: ["museum"])
    var all = retained(&publisher, [old: "{}", other: "{}", state: "hall"])
    #expect(all[old] != nil)
    publisher.set("museum", receivers: [hall()], beacons: [])
    all = retained(&publisher, all)
    #expect(all[old] == nil)
    #expect(all[state] == nil)
    #expect(all[other] != nil)
  }

  @Test(.mosquitto, .blocking) func `a broker has the rooms`() throws {
    let scratch = try Scratch()
    let broker = try MosquittoBroker(in: scratch)
    var configuration = BrokerConfiguration(host: "127.0.0.1", node: "fleet")
    configuration.port = broker.port
    let link = try Broker<RoomPublisher>(configuration)
    link.start()
    defer { link.stop() }
    link.update {
      $0.set(sites: ["museum"])
      $0.set("museum", receivers: [hall(isMissing: true)], beacons: [place("hall")])
    }
    let subscriber = try Subscriber(to: broker.port, in: scratch)
    let topic = "\(prefix)/beacons/\(keysLevel)/state"
    #expect(eventually { subscriber.newest[topic] != nil })
    link.update { $0.set("museum", receivers: [hall()], beacons: [place("shop")]) }
    #expect(eventually { subscriber.newest[topic] == "shop" })
    link.stop()
    #expect(eventually { subscriber.newest["\(prefix)/status"] == "offline" })
  }
}
