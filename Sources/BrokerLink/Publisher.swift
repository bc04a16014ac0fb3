package import Advertising
import Ranging
package import Records
package import Regions
import Scanning
package import ServiceCore

/// Turns a receiver's reports into messages.
package struct Publisher: BrokerMessages {
  private let configuration: BrokerConfiguration
  let topics: Topics
  let discovery: Discovery
  package var outbox: Outbox

  private var regions: [String: BrokerRegion] = [:]
  private var names: [BeaconIdentity: String] = [:]
  private var rate = BeaconRate()
  /// Whether regions and beacons are set, so that others on the broker are obsolete.
  private var knowsRegions = false
  private var knowsBeacons = false
  /// Entities retained by the broker, until it is known which of them are set.
  private var strangers = RetainedEntities()
  private static let maximumUnnamed = 64

  init(_ configuration: BrokerConfiguration, position: Int64) {
    self.configuration = configuration
    topics = Topics(prefix: configuration.prefix)
    discovery = Discovery(configuration: configuration, topics: topics)
    outbox = Outbox(position: position)
    outbox.set(topics.status, Array("online".utf8), .status)
    set(discovery.receiver)
  }

  package mutating func setRegions(_ list: [BrokerRegion]) {
    let new = Dictionary(list.map { ($0.name, $0) }) { $1 }
    for (name, old) in regions where new[name] == nil {
      remove(discovery.entities(of: old).map(\.topic))
      for topic in topics.region(name).retained { outbox.remove(topic, .state) }
    }
    for region in list {
      let old = regions[region.name]
      if let old {
        let kept = Set(discovery.entities(of: region).map(\.topic))
        remove(discovery.entities(of: old).map(\.topic).filter { !kept.contains($0) })
        if old.countsBeacons, !region.countsBeacons {
          outbox.remove(topics.region(region.name).beacons, .state)
        }
      }
      set(discovery.entities(of: region))
      if old?.countsBeacons != region.countsBeacons || region.state != .unknown {
        set(region.name, region.state, region.beacons, countsBeacons: region.countsBeacons)
      }
    }
    regions = new
    knowsRegions = true
    removeStrangers()
  }

  package mutating func setBeacons(_ new: [BeaconIdentity: String]) {
    for (beacon, name) in names where new[beacon] == nil {
      remove(discovery.entities(of: beacon, named: name).map(\.topic))
      for topic in topics.beacon(beacon).retained { outbox.remove(topic, .state) }
      rate.remove(beacon)
    }
    for (beacon, name) in new.sorted(by: { $0.key < $1.key }) {
      if names[beacon] == nil {
        // It may have been published without a name.
        rate.remove(beacon)
        setPresence(beacon, "unknown")
      }
      set(discovery.entities(of: beacon, named: name))
    }
    names = new
    knowsBeacons = true
    removeStrangers()
  }

  package mutating func update(ranging report: RangingReport) {
    var present: Set<BeaconIdentity> = []
    var unnamed = 0
    for beacon in report.beacons {
      let name = names[beacon.beacon]
      if name == nil {
        guard configuration.includesUnnamedBeacons, unnamed < Self.maximumUnnamed else { continue }
        unnamed += 1
      } else {
        setPresence(beacon.beacon, "present")
      }
      present.insert(beacon.beacon)
      // Momentary messages are not kept for a later connection.
      guard outbox.isConnected || name != nil, rate.publishes(beacon, at: report.time) else {
        continue
      }
      publish(beacon)
    }
    for beacon in rate.beacons where !present.contains(beacon) && report.covers(beacon) {
      guard outbox.isConnected || names[beacon] != nil, let last = rate.remove(beacon) else {
        continue
      }
      publish(last.withoutSignal)
    }
    for beacon in names.keys where !present.contains(beacon) && report.covers(beacon) {
      setPresence(beacon, "absent")
    }
  }

  package mutating func update(region event: MonitorEvent, _ record: [UInt8]) {
    let topics = topics.region(event.region)
    if let region = regions[event.region] {
      // An event of one beacon does not tell the region's state, but the number inside does.
      let state: RegionState? =
        event.beacon == nil
        ? event.state : event.beaconsInside.map { $0 > 0 ? .inside : .outside }
      if let state {
        set(
          event.region, state, event.beaconsInside ?? (state == .outside ? 0 : nil),
          countsBeacons: region.countsBeacons)
      }
      outbox.set(topics.last, record, .state)
    }
  }

  package var status: String { topics.status }

  package mutating func publish(_ entry: JournalEntry) {
    let topic = entry.region.map { topics.region($0).event } ?? topics.visitEvent
    outbox.append(event: topic, entry.record, id: entry.id)
  }

  package mutating func update(location record: [UInt8]) {
    outbox.set(topics.location, record, .state)
  }

  package mutating func update(health record: [UInt8]) { outbox.set(topics.health, record, .state) }

  package mutating func begin() {
    outbox.begin()
    // While disconnected, momentary messages were not published.
    if configuration.includesUnnamedBeacons { rate.expire() }
  }

  /// Those of Home Assistant's start, and of the entities retained by the broker.
  package var filters: [String] {
    configuration.discoveryPrefix.map { ["\($0)/status", discovery.filter] } ?? []
  }

  package mutating func receive(_ message: BrokerMessage) {
    guard let prefix = configuration.discoveryPrefix else { return }
    if outbox.publishAgain(after: message, in: prefix) { return }
    if strangers.insert(message, isOwn: discovery.isOwn) { removeStrangers() }
  }

  private mutating func removeStrangers() {
    guard knowsRegions, knowsBeacons else { return }
    for topic in strangers.take() where !outbox.has(topic, .discovery) {
      outbox.remove(topic, .discovery)
      for state in discovery.states(of: topic) { outbox.remove(state, .state) }
    }
  }

  private mutating func set(_ entities: [Discovery.Entity]) {
    guard configuration.discoveryPrefix != nil else { return }
    for entity in entities { outbox.set(entity.topic, entity.payload, .discovery) }
  }

  private mutating func remove(_ entities: [String]) {
    for topic in entities { outbox.remove(topic, .discovery) }
  }

  private mutating func set(
    _ region: String, _ state: RegionState, _ beacons: Int?, countsBeacons: Bool
  ) {
    let topics = topics.region(region)
    outbox.set(topics.state, Array(state.name.utf8), .state)
    guard countsBeacons else { return }
    outbox.set(topics.beacons, Array((beacons.map { "\($0)" } ?? "unknown").utf8), .state)
  }

  private mutating func setPresence(_ beacon: BeaconIdentity, _ presence: String) {
    outbox.set(topics.beacon(beacon).presence, Array(presence.utf8), .state)
  }

  private mutating func publish(_ beacon: RangedBeacon) {
    outbox.set(
      topics.beacon(beacon.beacon).range, Self.beacon.json(beacon),
      names[beacon.beacon] == nil ? .momentary : .state)
  }

  private static let beacon = RangedBeacon.record(showsRaw: false, showsSides: false)
}

extension BeaconIdentity {
  /// The beacon in topics and identifiers. It does not depend on the name.
  var topicLevel: String { "\(uuid)".lowercased() + "-\(major)-\(minor)" }
}

extension RangedBeacon {
  /// The beacon without the values that need a signal.
  fileprivate var withoutSignal: RangedBeacon {
    var beacon = self
    beacon.proximity = .unknown
    beacon.estimate = nil
    beacon.rawDistance = nil
    beacon.side = nil
    beacon.rssi = nil
    beacon.smoothed = nil
    beacon.smoothedError = nil
    beacon.sightings = 0
    return beacon
  }
}

extension RangingReport {
  /// Returns whether the report would contain the beacon if it were received.
  fileprivate func covers(_ beacon: BeaconIdentity) -> Bool {
    requests.isEmpty || requests.contains { $0.constraint?.matches(beacon) ?? true }
  }
}

package struct BrokerRegion: Sendable, Equatable {
  package var name: String
  package var state: RegionState
  package var beacons: Int?
  package var countsBeacons: Bool

  package init(
    _ name: String, state: RegionState = .unknown, beacons: Int? = nil, countsBeacons: Bool = true
  ) {
    self.name = name
    self.state = state
    self.beacons = beacons
    self.countsBeacons = countsBeacons
  }
}
