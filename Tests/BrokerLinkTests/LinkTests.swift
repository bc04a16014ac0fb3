import Advertising
import Foundation
import Ranging
import Records
import Regions
import Scanning
import ServiceCore
import TestDaemons
import TestSupport
import Testing

@testable import BrokerLink

@Suite(.blocking, .mosquitto) struct LinkTests {
  @Test func `states and discovery are retained`() throws {
    let scene = try Scene()
    let link = try scene.link()
    link.update {
      $0.setRegions([BrokerRegion("lobby"), BrokerRegion("town", countsBeacons: false)])
    }
    link.update { $0.setBeacons([keys: "Keys"]) }
    link.start()
    link.update { $0.update(health: record(of: health(.scanning, isLost: false))) }
    scene.append(event(.enter, "lobby", beacons: 2), to: link)
    link.update { $0.update(ranging: report([beacon(), beacon(bag)])) }
    let regions = "beaconscan/kiosk/regions"
    let range = "beaconscan/kiosk/beacons/\(keysLevel)/range"
    let early = try scene.subscriber()
    #expect(eventually { early.newest[range] != nil && link.status.waiting == 0 })
    let subscriber = try scene.subscriber()
    // One that comes later gets everything but the event.
    let event = "\(regions)/lobby/event"
    #expect(eventually { subscriber.newest.count == early.newest.count { $0.key != event } })
    let newest = subscriber.newest
    #expect(subscriber.messages.allSatisfy { $0.isRetained })
    #expect(newest["beaconscan/kiosk/status"] == "online")
    #expect(newest["\(regions)/lobby/state"] == "inside")
    #expect(newest["\(regions)/lobby/beacons"] == "2")
    #expect(object(newest["\(regions)/lobby/last"])["type"] as? String == "enter")
    #expect(newest["\(regions)/town/state"] == "unknown")
    #expect(newest["\(regions)/town/beacons"] == nil)
    #expect(newest["beaconscan/kiosk/beacons/\(keysLevel)/presence"] == "present")
    #expect(object(newest[range])["proximity"] as? String == "near")
    #expect(object(newest["beaconscan/kiosk/health"])["receptionLost"] as? Bool == false)
    // The bag has no name.
    #expect(!newest.keys.contains { $0.contains("-3-5") })

    let prefix = "homeassistant"
    let objects = [
      "binary_sensor/beaconscan_kiosk/receiver",
      "binary_sensor/beaconscan_kiosk/region_lobby_occupancy",
      "sensor/beaconscan_kiosk/region_lobby_beacons",
      "binary_sensor/beaconscan_kiosk/region_town_occupancy",
      "device_tracker/beaconscan_kiosk/beacon_\(keysLevel)_tracker",
      "binary_sensor/beaconscan_kiosk/beacon_\(keysLevel)_presence",
      "sensor/beaconscan_kiosk/beacon_\(keysLevel)_distance",
      "sensor/beaconscan_kiosk/beacon_\(keysLevel)_zone",
    ]
    #expect(
      Set(newest.keys.filter { $0.hasPrefix(prefix) })
        == Set(objects.map { "\(prefix)/\($0)/config" }))
    for (topic, payload) in newest where topic.hasPrefix(prefix) {
      let entity = object(payload)
      #expect(newest[entity["state_topic"] as? String ?? ""] != nil, "\(topic)")
      #expect(entity["availability_topic"] as? String == "beaconscan/kiosk/status")
      let device = entity["device"] as? [String: Any] ?? [:]
      if topic.contains("/beacon_") {
        #expect(
          device["identifiers"] as? [String] == ["beaconscan_kiosk_beacon_\(keysLevel)"])
        #expect(device["name"] as? String == "Keys")
        #expect(device["via_device"] as? String == "beaconscan_kiosk")
      } else {
        #expect(device["identifiers"] as? [String] == ["beaconscan_kiosk"])
        #expect(device["sw_version"] as? String == "1.2.3")
      }
    }
    let tracker = object(newest["\(prefix)/\(objects[4])/config"])
    #expect(tracker["name"] is NSNull)
    #expect(tracker["payload_home"] as? String == "present")
    #expect(tracker["payload_not_home"] as? String == "absent")
    #expect(tracker["source_type"] as? String == "bluetooth_le")
    let distance = object(newest["\(prefix)/\(objects[6])/config"])
    #expect(distance["device_class"] as? String == "distance")
    #expect(distance["state_class"] as? String == "measurement")
    #expect(distance["unit_of_measurement"] as? String == "m")

    link.stop()
    #expect(eventually { subscriber.newest["beaconscan/kiosk/status"] == "offline" })
    #expect(!link.status.isConnected && link.status.lastError == nil)
    #expect(scene.reports == [.connected])
  }

  @Test func `a restarted broker gets everything again, and the events in their order`() throws {
    let scene = try Scene()
    var configuration = scene.configuration
    (configuration.username, configuration.password) = ("kiosk", "secret")
    let link = try scene.link(configuration)
    link.update { $0.setRegions([BrokerRegion("lobby")]) }
    link.start()
    #expect(eventually { link.status.isConnected })
    scene.kill()
    #expect(eventually { !link.status.isConnected })
    for number in 1...500 {
      scene.append(event(number % 2 == 0 ? .exit : .enter, "lobby", at: Double(number)), to: link)
    }
    #expect(link.status.waiting == 500 && link.status.gaps == 0)
    // The subscriber is there before the link, which the broker does not accept at first.
    try scene.restart(try scene.passwords(["reader": "one"]))
    let subscriber = try scene.subscriber(["-u", "reader", "-P", "one"])
    #expect(
      eventually {
        scene.reports.contains {
          if case .failed(let text) = $0 {
            text.contains("refuses the user 'kiosk'")
          } else {
            false
          }
        }
      })
    try runTool(
      ["/usr/bin/mosquitto_passwd", "-b", scene.scratch["passwords"], "kiosk", "secret"])
    scene.broker?.reload()
    let began = ContinuousClock.now
    #expect(eventually { link.status.waiting == 0 })
    print("500 events after a restart: \(ContinuousClock.now - began)")
    let topic = "beaconscan/kiosk/regions/lobby/event"
    #expect(eventually { subscriber.messages.filter { $0.topic == topic }.count >= 500 })
    let messages = subscriber.messages
    let times = messages.filter { $0.topic == topic }.map {
      object($0.payload)["time"] as? String ?? ""
    }
    #expect(times == (1...Int64(500)).map { "\(WallClockTime(nanoseconds: $0 * 1_000_000_000))" })
    // Status, discovery, states, events.
    let groups = messages.filter { $0.topic != "homeassistant/status" }.map { message in
      if message.topic.hasSuffix("/status") {
        0
      } else if message.topic.hasPrefix("homeassistant") {
        1
      } else if message.topic != topic {
        2
      } else {
        3
      }
    }
    #expect(groups == groups.sorted(), "\(groups)")
    #expect(subscriber.newest["beaconscan/kiosk/regions/lobby/state"] == "outside")
    #expect(link.status.reconnects == 1 && link.status.gaps == 0)
    #expect(scene.reports.first == .connected && scene.reports.last == .connected)
    link.stop()
  }

  @Test func `what a killed process did not publish, the next one does`() throws {
    let scene = try Scene()
    let file = scene.scratch["events.sqlite"]
    let topic = "beaconscan/kiosk/regions/lobby/event"
    let subscriber = try scene.subscriber()
    func append(_ numbers: ClosedRange<Int>, to events: TestJournal) {
      for number in numbers {
        events.append(record(of: event(.enter, "lobby", at: Double(number))))
      }
    }
    do {
      let events = TestJournal(file: file)
      let link = try Broker(scene.configuration, events.journal)
      link.start()
      append(1...1, to: events)
      link.update(wakes: true) { $0.update(region: event(.enter, "lobby"), []) }
      #expect(eventually { subscriber.messages.contains { $0.topic == topic } })
      #expect(eventually { link.status.waiting == 0 })
      scene.kill()
      append(2...20, to: events)
      link.stop()
      events.manager.close()
    }
    try scene.restart()
    let again = try scene.subscriber()
    let events = TestJournal(file: file)
    let link = try Broker(scene.configuration, events.journal)
    #expect(link.status.waiting == 19)
    link.start()
    #expect(eventually { again.messages.filter { $0.topic == topic }.count >= 19 })
    let times = again.messages.filter { $0.topic == topic }.map {
      object($0.payload)["time"] as? String ?? ""
    }
    #expect(times == (2...Int64(20)).map { "\(WallClockTime(nanoseconds: $0 * 1_000_000_000))" })
    link.stop()
  }

  @Test func `a broker that stands still holds nobody up, and gets the newest states`() throws {
    let scene = try Scene()
    let link = try scene.link()
    link.update { $0.setRegions([BrokerRegion("lobby")]) }
    link.update { $0.setBeacons([keys: "Keys"]) }
    link.start()
    let subscriber = try scene.subscriber()
    #expect(
      eventually { subscriber.newest["beaconscan/kiosk/beacons/\(keysLevel)/presence"] != nil })
    scene.broker?.pause()
    let began = ContinuousClock.now
    for number in 1...5000 {
      let time = Double(number)
      link.update { $0.update(ranging: report([beacon(at: 1 + time / 10)], at: time)) }
      if number % 10 == 0 { scene.append(event(.enter, "lobby", at: time), to: link) }
    }
    print("5,500 updates without an answer: \(ContinuousClock.now - began)")
    link.update { $0.update(ranging: report([beacon(keys, .immediate, at: 0.25)], at: 6000)) }
    #expect(link.status.waiting == 500)
    scene.broker?.resume()
    let range = "beaconscan/kiosk/beacons/\(keysLevel)/range"
    #expect(
      eventually { object(subscriber.newest[range])["proximity"] as? String == "immediate" })
    #expect(eventually { link.status.waiting == 0 })
    // Of all states at most those in flight were published beside the newest.
    #expect(subscriber.messages.filter { $0.topic == range }.count <= Outbox.window + 2)
    #expect(link.status.gaps == 0)
    // A stop waits for a while, and does not need an answer.
    scene.broker?.pause()
    scene.append(event(.enter, "lobby", at: 7000), to: link)
    let stopping = ContinuousClock.now
    link.stop()
    print("stop without an answer: \(ContinuousClock.now - stopping)")
    scene.broker?.resume()
    #expect(eventually { subscriber.newest["beaconscan/kiosk/status"] == "offline" })
  }

  @Test func `a broker that does not answer any more is given up`() throws {
    let scene = try Scene()
    var configuration = scene.configuration
    configuration.keepAlive = 5
    let link = try scene.link(configuration)
    link.start()
    #expect(eventually { link.status.isConnected })
    scene.broker?.pause()
    #expect(eventually { link.status.lastError?.contains("does not answer") == true })
    // A stop does not wait for it.
    link.stop()
    scene.broker?.resume()
  }

  @Test func `the last will says that a killed process is offline`() throws {
    let scene = try Scene()
    let run = try ChildRun("broker-link-run", ["\(scene.port)"], in: scene.scratch)
    let subscriber = try scene.subscriber()
    #expect(eventually { subscriber.newest["beaconscan/kiosk/status"] == "online" })
    run.kill()
    #expect(eventually { subscriber.newest["beaconscan/kiosk/status"] == "offline" })
    let later = try scene.subscriber()
    #expect(eventually { later.newest["beaconscan/kiosk/status"] == "offline" })
  }

  @Test func `wrong credentials are one sentence, right ones connect`() throws {
    let scene = try Scene()
    scene.kill()
    try scene.restart(try scene.passwords(["kiosk": "secret"]))
    var configuration = scene.configuration
    (configuration.username, configuration.password) = ("kiosk", "wrong")
    let wrong = try scene.link(configuration)
    wrong.start()
    #expect(eventually { wrong.status.lastError != nil })
    let sentence =
      "the MQTT broker at 127.0.0.1:\(scene.port) refuses the user 'kiosk'; check the user name and "
      + "the password"
    #expect(wrong.status.lastError == sentence)
    wrong.stop()
    // However often it was tried.
    #expect(scene.reports == [.failed(sentence)])
    configuration.password = "secret"
    let right = try scene.link(configuration)
    right.start()
    #expect(eventually { right.status.isConnected })
    right.stop()
  }

  @Test func `the rights that docs/mqtt.md names are enough`() throws {
    let scene = try Scene()
    scene.kill()
    let document = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../docs/mqtt.md"), encoding: .utf8)
    let rights = try #require(
      document.components(separatedBy: "```text\nuser kiosk\n").dropFirst().first?
        .components(separatedBy: "```").first)
    try scene.scratch.write(
      Array("user reader\ntopic readwrite #\nuser kiosk\n\(rights)".utf8), "acl")
    let users = try scene.passwords(["kiosk": "secret", "reader": "one"])
    try scene.restart("\(users)\nacl_file \(scene.scratch["acl"])")
    // What an earlier run left.
    let old = "homeassistant/sensor/beaconscan_kiosk/region_old_beacons/config"
    try publish(old, "{}", ["-r", "-u", "reader", "-P", "one"], to: scene)
    var configuration = scene.configuration
    (configuration.username, configuration.password) = ("kiosk", "secret")
    let subscriber = try scene.subscriber(["-u", "reader", "-P", "one"])
    #expect(eventually { subscriber.newest[old] == "{}" })
    let link = try scene.link(configuration)
    link.update { $0.setRegions([BrokerRegion("lobby", state: .inside, beacons: 3)]) }
    link.update { $0.setBeacons([:]) }
    link.start()
    #expect(eventually { subscriber.newest["beaconscan/kiosk/regions/lobby/beacons"] == "3" })
    #expect(eventually { subscriber.newest[old] == "" })
    let discovery = "homeassistant/sensor/beaconscan_kiosk/region_lobby_beacons/config"
    #expect(subscriber.newest[discovery] != nil)
    let before = subscriber.messages.count { $0.topic == discovery }
    try publish("homeassistant/status", "online", ["-u", "reader", "-P", "one"], to: scene)
    #expect(eventually { subscriber.messages.count { $0.topic == discovery } > before })
    link.stop()
    #expect(eventually { subscriber.newest["beaconscan/kiosk/status"] == "offline" })
  }

  /// Publishes a message as another client.
  private func publish(
    _ topic: String, _ payload: String, _ options: [String] = [], to scene: Scene
  ) throws {
    try runTool(
      [
        "/usr/bin/mosquitto_pub", "-h", "127.0.0.1", "-p", "\(scene.port)", "-q", "1", "-t", topic,
        "-m", payload,
      ] + options)
  }

  @Test func `Home Assistant gets everything again when it starts`() throws {
    let scene = try Scene()
    let link = try scene.link()
    link.update { $0.setRegions([BrokerRegion("lobby", state: .inside, beacons: 3)]) }
    link.update { $0.setBeacons([:]) }
    link.start()
    let early = try scene.subscriber()
    let beacons = "beaconscan/kiosk/regions/lobby/beacons"
    #expect(eventually { early.newest[beacons] == "3" })
    let subscriber = try scene.subscriber()
    let discovery = "homeassistant/binary_sensor/beaconscan_kiosk/region_lobby_occupancy/config"
    let state = "beaconscan/kiosk/regions/lobby/state"
    func fresh(_ topic: String) -> Int {
      subscriber.messages.filter { $0.topic == topic && !$0.isRetained }.count
    }
    #expect(fresh(discovery) == 0 && fresh(state) == 0)
    // The link may not be subscribed yet when the first message is sent.
    #expect(
      eventually {
        try? publish("homeassistant/status", "online", to: scene)
        return fresh(discovery) > 0 && fresh(state) > 0
      })
    link.stop()
  }

  @Test func `what is removed is removed from the broker, also what an earlier run left`() throws {
    let scene = try Scene()
    let first = try scene.link()
    first.update {
      $0.setRegions([BrokerRegion("old"), BrokerRegion("lobby"), BrokerRegion("bar")])
    }
    first.update { $0.setBeacons([keys: "Keys", bag: "Bag"]) }
    first.start()
    let subscriber = try scene.subscriber()
    func has(_ part: String, in subscriber: Subscriber) -> Int {
      subscriber.newest.filter { $0.key.contains(part) && !$0.value.isEmpty }.count
    }
    #expect(eventually { has("old", in: subscriber) == 4 && has("bar", in: subscriber) == 4 })
    #expect(eventually { has("-3-4", in: subscriber) == 5 && has("-3-5", in: subscriber) == 5 })
    first.update { $0.setRegions([BrokerRegion("old"), BrokerRegion("lobby")]) }
    first.update { $0.setBeacons([keys: "Keys"]) }
    #expect(eventually { has("bar", in: subscriber) == 0 && has("-3-5", in: subscriber) == 0 })
    #expect(has("old", in: subscriber) == 4 && has("lobby", in: subscriber) == 4)
    first.stop()

    let second = try scene.link()
    second.start()
    #expect(eventually { second.status.isConnected })
    second.update { $0.setRegions([BrokerRegion("lobby")]) }
    second.update { $0.setBeacons([:]) }
    #expect(eventually { has("old", in: subscriber) == 0 && has("-3-4", in: subscriber) == 0 })
    second.stop()
    // The one that stayed was never removed.
    #expect(!subscriber.messages.contains { $0.payload.isEmpty && $0.topic.contains("lobby") })
    let later = try scene.subscriber()
    #expect(eventually { has("lobby", in: later) == 4 })
  }

  @Test func `names with any characters give valid topics`() throws {
    let scene = try Scene()
    let names = [
      "a/b", "a+b", "a#b", "#", "+", "/", " ", "Empfang Süd", "🚪 door", "\u{202E}evil",
      "tab\tline\n",
      "$SYS", "\"quoted\" \\", String(repeating: "x", count: 4096), "a_b", "null\0byte",
    ]
    let link = try scene.link()
    link.update { $0.setRegions(names.map { BrokerRegion($0, state: .inside, beacons: 1) }) }
    link.update { $0.setBeacons([keys: "🔑 /+#", bag: "🔑 /+#"]) }
    link.start()
    let subscriber = try scene.subscriber()
    let states = { subscriber.newest.filter { $0.key.contains("/regions/") } }
    #expect(eventually { states().count >= names.count * 2 })
    #expect(
      eventually { subscriber.newest.keys.filter { $0.hasSuffix("_zone/config") }.count == 2 })
    var identifiers: Set<String> = []
    for (topic, payload) in subscriber.newest where topic.hasPrefix("homeassistant") {
      let entity = object(payload)
      identifiers.insert(entity["unique_id"] as? String ?? "")
      #expect(topic.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(topic)")
      #expect(topic.split(separator: "/").count == 5)
    }
    #expect(identifiers.count == names.count * 2 + 8 + 1)
    let shown = subscriber.newest.values.map { object($0)["name"] as? String }
    for name in names { #expect(shown.contains(name), "\(name)") }
    let devices = subscriber.newest.values.compactMap { object($0)["device"] as? [String: Any] }
    #expect(devices.contains { $0["name"] as? String == "🔑 /+#" })
    link.stop()
  }
}
