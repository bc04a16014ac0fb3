package import Advertising
import Records
package import ServiceCore

/// Turns the rooms of a fleet's beacons into messages, with devices for Home Assistant: one for each
/// beacon that has a name, and one for each receiver.
package struct RoomPublisher: BrokerMessages {
  /// A receiver of a site.
  package struct Receiver: Hashable, Sendable {
    package var name: String
    /// The room that it is in, which Home Assistant suggests as its area.
    package var room: String?
    /// Whether it does not report.
    package var isMissing: Bool
    /// The reason that it receives nothing, as it reports it.
    package var receptionLost: String?

    package init(name: String, room: String?, isMissing: Bool, receptionLost: String?) {
      self.name = name
      self.room = room
      self.isMissing = isMissing
      self.receptionLost = receptionLost
    }
  }

  /// A beacon in a site, or outside of it.
  package struct Beacon: Hashable, Sendable {
    package var beacon: BeaconIdentity
    package var name: String
    /// The room, or `nil` if the beacon is outside or its room is not known.
    package var room: String?
    package var isOutside: Bool
    /// The probability of the room, or of the outside, in steps of 0.1: each change is a message.
    package var probability: Double
    /// The end of the second of its last change, in RFC 3339.
    package var since: String

    package init(
      _ beacon: BeaconIdentity, name: String, room: String?, isOutside: Bool, probability: Double,
      since: String
    ) {
      self.beacon = beacon
      self.name = name
      self.room = room
      self.isOutside = isOutside
      self.probability = (probability * 10).rounded() / 10
      self.since = since
    }
  }

  private struct Site {
    var receivers: [Receiver]
    var beacons: [Beacon]
  }

  private let configuration: BrokerConfiguration
  package var outbox = Outbox(position: 0)
  private var sites: [String: Site] = [:]
  /// The sites of the site files, or `nil` until they are known.
  private var expected: Set<String>?
  private var devices: Set<BeaconIdentity> = []
  private var strangers = RetainedEntities()

  init(_ configuration: BrokerConfiguration) {
    self.configuration = configuration
    outbox.set(status, Array("online".utf8), .status)
  }

  /// Sets the sites that there are. Those without a file disappear.
  package mutating func set(sites names: Set<String>) {
    for site in sites.keys where !names.contains(site) { set(site, receivers: [], beacons: []) }
    sites = sites.filter { names.contains($0.key) }
    expected = names
    removeStrangers()
  }

  /// Sets the receivers and the named beacons of a site.
  package mutating func set(_ site: String, receivers: [Receiver], beacons: [Beacon]) {
    let former = sites.updateValue(Site(receivers: receivers, beacons: beacons), forKey: site)
    let names = Set(receivers.map(\.name))
    for receiver in former?.receivers ?? [] where !names.contains(receiver.name) {
      outbox.remove(entity(of: receiver, in: site).topic, .discovery)
      outbox.remove(topic(of: receiver.name, in: site), .state)
    }
    for receiver in receivers {
      set(entity(of: receiver, in: site))
      let state: JSONNode = [
        "site": .text(site), "isMissing": .boolean(receiver.isMissing),
        "receptionLost": receiver.receptionLost.map { .text($0) } ?? .null,
      ]
      outbox.set(topic(of: receiver.name, in: site), Array(state.line.utf8), .state)
    }
    var changed = Set(beacons.map(\.beacon))
    changed.formUnion(former?.beacons.map(\.beacon) ?? [])
    for beacon in changed { update(beacon) }
    removeStrangers()
  }

  /// Sets the device and the place of a beacon, which several sites may know.
  private mutating func update(_ beacon: BeaconIdentity) {
    let places = sites.flatMap { name, site in
      site.beacons.filter { $0.beacon == beacon }.map { (site: name, beacon: $0) }
    }
    // It is in one site, and outside of the others.
    let place = places.max { first, second in
      let ranks = (Self.rank(first.beacon), Self.rank(second.beacon))
      return ranks.0 != ranks.1 ? ranks.0 < ranks.1 : first.site > second.site
    }
    guard let place else {
      devices.remove(beacon)
      for entity in entities(of: beacon, named: "") { outbox.remove(entity.topic, .discovery) }
      for topic in [topics(of: beacon).state, topics(of: beacon).estimate] {
        outbox.remove(topic, .state)
      }
      return
    }
    devices.insert(beacon)
    for entity in entities(of: beacon, named: place.beacon.name) { set(entity) }
    let topics = topics(of: beacon)
    let state = place.beacon.isOutside ? "not_home" : place.beacon.room ?? "None"
    outbox.set(topics.state, Array(state.utf8), .state)
    let estimate: JSONNode = [
      "site": .text(place.site), "room": place.beacon.room.map { .text($0) } ?? .null,
      "isOutside": .boolean(place.beacon.isOutside),
      "probability": .number(place.beacon.probability),
      "since": .text(place.beacon.since),
    ]
    outbox.set(topics.estimate, Array(estimate.line.utf8), .state)
  }

  /// The order in which a place is preferred to others: a room, an unknown one, and the outside.
  private static func rank(_ beacon: Beacon) -> Double {
    beacon.room != nil ? 2 + beacon.probability : beacon.isOutside ? 0 : 1
  }

  // MARK: - Topics

  package var status: String { "\(configuration.prefix)/status" }

  private func topic(of receiver: String, in site: String) -> String {
    "\(configuration.prefix)/receivers/\(TopicName.identifier(of: site))/"
      + TopicName.identifier(of: receiver)
  }

  /// The topics of a beacon's place: the state of its device tracker, and a record.
  private func topics(of beacon: BeaconIdentity) -> (state: String, estimate: String) {
    let topic = "\(configuration.prefix)/beacons/\(beacon.topicLevel)"
    return ("\(topic)/state", "\(topic)/estimate")
  }

  package var filters: [String] {
    configuration.discoveryPrefix.map { ["\($0)/status", "\($0)/+/\(node)/+/config"] } ?? []
  }

  package mutating func begin() { outbox.begin() }

  package mutating func publish(_ entry: JournalEntry) {}

  package mutating func receive(_ message: BrokerMessage) {
    guard let prefix = configuration.discoveryPrefix else { return }
    if outbox.publishAgain(after: message, in: prefix) { return }
    let node = node
    let isInserted = strangers.insert(message) {
      $0.hasPrefix("\(prefix)/") && $0.hasSuffix("/config") && $0.contains("/\(node)/")
    }
    if isInserted { removeStrangers() }
  }

  /// Removes the entities of earlier processes when all sites are known.
  private mutating func removeStrangers() {
    guard let expected, expected.allSatisfy({ sites[$0] != nil }) else { return }
    for topic in strangers.take() where !outbox.has(topic, .discovery) {
      outbox.remove(topic, .discovery)
    }
  }

  // MARK: - Home Assistant

  private typealias Entity = (topic: String, payload: [UInt8])

  private var node: String { "beaconscan_\(configuration.node)" }

  private mutating func set(_ entity: Entity) {
    guard configuration.discoveryPrefix != nil else { return }
    outbox.set(entity.topic, entity.payload, .discovery)
  }

  private func entity(of receiver: Receiver, in site: String) -> Entity {
    let id = "\(TopicName.identifier(of: site))_\(TopicName.identifier(of: receiver.name))"
    var device: JSONNode = [
      "identifiers": [.text("\(node)_receiver_\(id)")],
      "name": .text("\(site) \(receiver.name)"), "manufacturer": "beaconscan",
      "model": "Bluetooth beacon receiver",
    ]
    if let room = receiver.room { device["suggested_area"] = .text(room) }
    return entity(
      "binary_sensor", "receiver_\(id)",
      [
        "name": "Receiver", "device_class": "problem", "entity_category": "diagnostic",
        "state_topic": .text(topic(of: receiver.name, in: site)),
        "value_template":
          "{{ 'ON' if value_json.isMissing or value_json.receptionLost else 'OFF' }}",
        "json_attributes_topic": .text(topic(of: receiver.name, in: site)),
      ], of: device)
  }

  private func entities(of beacon: BeaconIdentity, named name: String) -> [Entity] {
    let (id, topics) = (beacon.topicLevel, topics(of: beacon))
    let device: JSONNode = [
      "identifiers": [.text("\(node)_beacon_\(id)")], "name": .text(name),
      "model": "Bluetooth beacon",
    ]
    return [
      entity(
        "device_tracker", "beacon_\(id)_tracker",
        [
          // Home Assistant uses the device's name, and the whole message as the name of a place.
          "name": nil, "source_type": "bluetooth_le", "state_topic": .text(topics.state),
          "json_attributes_topic": .text(topics.estimate),
        ], of: device),
      entity(
        "sensor", "beacon_\(id)_room",
        [
          "name": "Room", "icon": "mdi:map-marker", "state_topic": .text(topics.estimate),
          "value_template":
            "{{ 'outside' if value_json.isOutside else value_json.room or 'None' }}",
          "json_attributes_topic": .text(topics.estimate),
        ], of: device),
    ]
  }

  private func entity(
    _ component: String, _ object: String, _ members: JSONNode, of device: JSONNode
  ) -> Entity {
    var node = members
    node["unique_id"] = .text("\(self.node)_\(object)")
    node["availability_topic"] = .text(status)
    node["qos"] = 1
    node["device"] = device
    node["origin"] = ["name": "beaconscan"]
    return (
      "\(configuration.discoveryPrefix ?? "")/\(component)/\(self.node)/\(object)/config",
      Array(node.line.utf8)
    )
  }
}
