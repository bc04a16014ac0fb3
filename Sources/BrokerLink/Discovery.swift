import Advertising
import Records

/// Home Assistant's MQTT discovery: devices for the receiver and for each named beacon.
struct Discovery {
  let configuration: BrokerConfiguration
  let topics: Topics

  typealias Entity = (topic: String, payload: [UInt8])

  var receiver: [Entity] {
    let health = entity(
      "binary_sensor", "receiver",
      [
        "name": "Receiver", "device_class": "problem", "entity_category": "diagnostic",
        "state_topic": .text(topics.health),
        "value_template": "{{ 'ON' if value_json.receptionLost else 'OFF' }}",
        "json_attributes_topic": .text(topics.health),
      ])
    guard configuration.hasLocations else { return [health] }
    return [
      health,
      // Home Assistant computes the zone from the attributes.
      entity(
        "device_tracker", Self.location,
        [
          "name": "Location", "source_type": "gps",
          "json_attributes_topic": .text(topics.location),
          "json_attributes_template":
            "{{ dict(value_json, gps_accuracy=value_json.accuracy) | tojson }}",
        ]),
    ]
  }

  private static let location = "location"

  func entities(of region: BrokerRegion) -> [Entity] {
    guard configuration.discoveryPrefix != nil else { return [] }
    let (id, topics) = (TopicName.identifier(of: region.name), topics.region(region.name))
    let occupancy = entity(
      "binary_sensor", "region_\(id)_occupancy",
      [
        "name": .text(region.name), "device_class": "occupancy",
        "state_topic": .text(topics.state), "payload_on": "inside", "payload_off": "outside",
        "value_template": .text(Self.value),
        "json_attributes_topic": .text(topics.last),
      ])
    guard region.countsBeacons else { return [occupancy] }
    return [
      occupancy,
      entity(
        "sensor", "region_\(id)_beacons",
        [
          "name": .text("\(region.name) beacons"), "state_class": "measurement",
          "icon": "mdi:bluetooth", "state_topic": .text(topics.beacons),
          "value_template": .text(Self.value),
        ]),
    ]
  }

  func entities(of beacon: BeaconIdentity, named name: String) -> [Entity] {
    guard configuration.discoveryPrefix != nil else { return [] }
    let (id, topics) = (beacon.topicLevel, topics.beacon(beacon))
    let device: JSONNode = [
      "identifiers": [.text("\(node)_beacon_\(id)")], "name": .text(name),
      "model": "Bluetooth beacon", "via_device": .text(node),
    ]
    return [
      entity(
        "device_tracker", "beacon_\(id)_tracker",
        [
          // Home Assistant uses the device's name.
          "name": nil, "source_type": "bluetooth_le", "state_topic": .text(topics.presence),
          "payload_home": "present", "payload_not_home": "absent",
          "value_template": .text(Self.value),
        ], of: device),
      entity(
        "binary_sensor", "beacon_\(id)_presence",
        [
          "name": "Presence", "device_class": "presence", "state_topic": .text(topics.presence),
          "payload_on": "present", "payload_off": "absent", "value_template": .text(Self.value),
        ], of: device),
      entity(
        "sensor", "beacon_\(id)_distance",
        [
          "name": "Distance", "device_class": "distance",
          "state_class": "measurement", "unit_of_measurement": "m",
          "suggested_display_precision": 1, "state_topic": .text(topics.range),
          "value_template": "{{ value_json.distance }}",
          "json_attributes_topic": .text(topics.range),
        ], of: device),
      entity(
        "sensor", "beacon_\(id)_zone",
        [
          "name": "Zone", "device_class": "enum",
          "options": ["immediate", "near", "far"], "state_topic": .text(topics.range),
          "value_template":
            "{{ 'None' if value_json.proximity == 'unknown' else value_json.proximity }}",
        ], of: device),
    ]
  }

  private static let value = "{{ 'None' if value == 'unknown' else value }}"

  private var node: String { "beaconscan_\(configuration.node)" }
  var filter: String { "\(configuration.discoveryPrefix ?? "")/+/\(node)/+/config" }

  func isOwn(_ topic: String) -> Bool {
    topic.hasPrefix("\(configuration.discoveryPrefix ?? "")/")
      && topic.hasSuffix("/config") && topic.contains("/\(node)/")
  }

  func states(of topic: String) -> [String] {
    let object = topic.split(separator: "/").dropLast().last ?? ""
    func part(_ prefix: String, _ suffix: String) -> String? {
      guard object.hasPrefix(prefix), object.hasSuffix(suffix),
        object.utf8.count > prefix.utf8.count + suffix.utf8.count
      else { return nil }
      return String(object.dropFirst(prefix.count).dropLast(suffix.count))
    }
    if object == Self.location { return [topics.location] }
    if let id = part("region_", "_occupancy") { return topics.region(id: id).retained }
    // The region may have become a circle.
    if let id = part("region_", "_beacons") { return [topics.region(id: id).beacons] }
    if let level = part("beacon_", "_presence") { return topics.beacon(level: level).retained }
    return []
  }

  private func entity(
    _ component: String, _ object: String, _ members: JSONNode, of device: JSONNode? = nil
  ) -> Entity {
    var node = members
    node["unique_id"] = .text("\(self.node)_\(object)")
    node["availability_topic"] = .text(topics.status)
    node["qos"] = 1
    node["device"] = device ?? receiverDevice
    node["origin"] = origin
    return (
      "\(configuration.discoveryPrefix ?? "")/\(component)/\(self.node)/\(object)/config",
      Array(node.line.utf8)
    )
  }

  private var receiverDevice: JSONNode {
    var device: JSONNode = [
      "identifiers": [.text(node)], "name": .text("beaconscan \(configuration.node)"),
      "manufacturer": "beaconscan", "model": "Bluetooth beacon receiver",
    ]
    if let version = configuration.softwareVersion { device["sw_version"] = .text(version) }
    if let room = configuration.room { device["suggested_area"] = .text(room) }
    if let url = configuration.pageURL { device["configuration_url"] = .text(url) }
    return device
  }

  private var origin: JSONNode {
    var origin: JSONNode = ["name": "beaconscan"]
    if let version = configuration.softwareVersion { origin["sw_version"] = .text(version) }
    return origin
  }
}

struct Topics {
  let prefix: String

  var status: String { "\(prefix)/status" }
  var health: String { "\(prefix)/health" }
  var location: String { "\(prefix)/location" }
  var visitEvent: String { "\(prefix)/visits/event" }

  struct Region {
    var state, beacons, last, event: String
    var retained: [String] { [state, beacons, last] }
  }

  func region(_ name: String) -> Region { region(id: TopicName.identifier(of: name)) }

  func region(id: String) -> Region {
    let topic = "\(prefix)/regions/\(id)"
    return Region(
      state: topic + "/state", beacons: topic + "/beacons", last: topic + "/last",
      event: topic + "/event")
  }

  struct Beacon {
    var presence, range: String
    var retained: [String] { [presence, range] }
  }

  func beacon(_ beacon: BeaconIdentity) -> Beacon { self.beacon(level: beacon.topicLevel) }

  func beacon(level: String) -> Beacon {
    let topic = "\(prefix)/beacons/\(level)"
    return Beacon(presence: topic + "/presence", range: topic + "/range")
  }
}
