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
    /// The probability of the room, or of the outside, in steps of 0.1, as each change is a message;
    /// `nil` for a beacon that no receiver has received for long.
    package var probability: Double?
    /// The end of the second of its last change, in RFC 3339.
    package var since: String?

    package init(
      _ beacon: BeaconIdentity, name: String, room: String?, isOutside: Bool,
      probability: Double? = nil, since: String? = nil
    ) {
      self.beacon = beacon
      self.name = name
      self.room = room
      self.isOutside = isOutside
      self.probability = probability.map { ($0 * 10).rounded() / 10 }
      self.since = since
    }
  }

  private struct Site {
    var receivers: [String: Receiver] = [:]
    var beacons: [BeaconIdentity: Beacon] = [:]
    /// The looks since which it has no file.
    var missing = 0
  }

  /// The looks without a file after which a site is gone: an editor may replace the file.
  static let patience = 30

  private let configuration: BrokerConfiguration
  package var outbox = Outbox(position: 0)
  private var sites: [String: Site] = [:]
  /// The places of each beacon, by the sites.
  private var places: [BeaconIdentity: [String: Beacon]] = [:]
  /// The sites of the site files, or `nil` until they are known.
  private var expected: Set<String>?
  private var strangers = RetainedEntities()

  init(_ configuration: BrokerConfiguration) {
    self.configuration = configuration
    outbox.set(status, Array("online".utf8), .status)
  }

  /// Sets the sites that have files. Another one disappears after some looks.
  package mutating func set(sites names: Set<String>) {
    for site in sites.keys {
      let missing = names.contains(site) ? 0 : (sites[site]?.missing ?? 0) + 1
      sites[site]?.missing = missing
      guard missing >= Self.patience else { continue }
      set(site, receivers: [], beacons: [])
      sites[site] = nil
    }
    expected = names
    removeStrangers()
  }

  /// Sets the receivers and the named beacons of a site.
  package mutating func set(_ site: String, receivers: [Receiver], beacons: [Beacon]) {
    let former = sites[site] ?? Site()
    var new = former
    new.receivers = Dictionary(receivers.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    new.beacons = Dictionary(beacons.map { ($0.beacon, $0) }, uniquingKeysWith: { $1 })
    sites[site] = new
    for receiver in former.receivers.values where new.receivers[receiver.name] == nil {
      outbox.remove(entity(of: receiver, in: site).topic, .discovery)
      outbox.remove(topic(of: receiver.name, in: site), .state)
    }
    for receiver in new.receivers.values where former.receivers[receiver.name] != receiver {
      set(entity(of: receiver, in: site))
      let state: JSONNode = [
        "site": .text(site), "isMissing": .boolean(receiver.isMissing),
        "receptionLost": receiver.receptionLost.map { .text($0) } ?? .null,
      ]
      outbox.set(topic(of: receiver.name, in: site), Array(state.line.utf8), .state)
    }
    for beacon in Set(former.beacons.keys).union(new.beacons.keys)
    where former.beacons[beacon] != new.beacons[beacon] {
      places[beacon, default: [:]][site] = new.beacons[beacon]
      update(beacon)
    }
    removeStrangers()
  }

  /// Sets the device and the place of a beacon, which several sites may know.
  private mutating func update(_ beacon: BeaconIdentity) {
    let topics = topics(of: beacon)
    // It is in one site, and outside of the others.
    let place = places[beacon]?.max { first, second in
      let ranks = (Self.rank(first.value), Self.rank(second.value))
      return ranks.0 != ranks.1 ? ranks.0 < ranks.1 : first.key > second.key
    }
    guard let (site, place) = place.map({ ($0.key, $0.value) }) else {
      places[beacon] = nil
      for entity in entities(of: beacon, named: "") { outbox.remove(entity.topic, .discovery) }
      outbox.remove(topics.state, .state)
      outbox.remove(topics.estimate, .state)
      return
    }
    for entity in entities(of: beacon, named: place.name) { set(entity) }
    let state = place.isOutside ? "not_home" : place.room ?? "None"
    outbox.set(topics.state, Array(state.utf8), .state)
    let estimate: JSONNode = [
      "site": .text(site), "room": place.room.map { .text($0) } ?? .null,
      "isOutside": .boolean(place.isOutside),
      "probability": place.probability.map { .number($0) } ?? .null,
      "since": place.since.map { .text($0) } ?? .null,
    ]
    outbox.set(topics.estimate, Array(estimate.line.utf8), .state)
  }

  /// The order in which a place is preferred to others: a room, an unknown one, and the outside.
  private static func rank(_ beacon: Beacon) -> Double {
    beacon.room != nil ? 2 + (beacon.probability ?? 0) : beacon.isOutside ? 0 : 1
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
    let own = ["\(configuration.prefix)/beacons/#", "\(configuration.prefix)/receivers/#"]
    return configuration.discoveryPrefix.map {
      ["\($0)/status", "\($0)/+/\(node)/+/config"] + own
    } ?? own
  }

  package mutating func begin() { outbox.begin() }

  package mutating func publish(_ entry: JournalEntry) {}

  package mutating func receive(_ message: BrokerMessage) {
    if let prefix = configuration.discoveryPrefix, outbox.publishAgain(after: message, in: prefix) {
      return
    }
    let isInserted = strangers.insert(message) { [self] in isState($0) || isEntity($0) }
    if isInserted { removeStrangers() }
  }

  private func isState(_ topic: String) -> Bool {
    topic.hasPrefix("\(configuration.prefix)/beacons/")
      || topic.hasPrefix("\(configuration.prefix)/receivers/")
  }

  private func isEntity(_ topic: String) -> Bool {
    configuration.discoveryPrefix.map { topic.hasPrefix("\($0)/") } ?? false
      && topic.hasSuffix("/config") && topic.contains("/\(node)/")
  }

  /// Removes what earlier processes have published when all sites are known.
  private mutating func removeStrangers() {
    guard let expected, expected.allSatisfy({ sites[$0] != nil }) else { return }
    for topic in strangers.take() {
      let kind: Outbox.Kind = isState(topic) ? .state : .discovery
      if !outbox.has(topic, kind) { outbox.remove(topic, kind) }
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
    // Two pairs of names differ also where they would not with `_` between them.
    let id = TopicName.identifier(of: "\(site)/\(receiver.name)")
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
