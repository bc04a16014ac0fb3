import Advertising
import Ranging
import Records
package import Regions
import Scanning
import ServiceCore

/// Turns a receiver's reports into messages. It has no clock and no connection.
struct Publisher {
  private let configuration: BrokerConfiguration
  let topics: Topics
  let discovery: Discovery
  var outbox: Outbox

  private var regions: [String: BrokerRegion] = [:]
  private var names: [BeaconIdentity: String] = [:]
  private var rate = BeaconRate()
  /// Whether regions and beacons are set, so that others on the broker are obsolete.
  private var knowsRegions = false
  private var knowsBeacons = false
  /// Entities retained by the broker, until it is known which of them are set.
  private var strangers: Set<String> = []
  /// The bound on `strangers`, larger than the number of possible regions.
  static let maximumStrangers = 1 << 16

  init(_ configuration: BrokerConfiguration, position: Int64) {
    self.configuration = configuration
    topics = Topics(configuration)
    discovery = Discovery(configuration: configuration, topics: topics)
    outbox = Outbox(position: position)
    outbox.set(topics.status, Array("online".utf8), .status)
    set(discovery.receiver)
  }

  // Settings.

  mutating func setRegions(_ list: [BrokerRegion]) {
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

  mutating func setBeacons(_ new: [BeaconIdentity: String]) {
    for (beacon, name) in names where new[beacon] == nil {
      if configuration.shape == .beaconscan {
        remove(discovery.entities(of: beacon, named: name).map(\.topic))
        let topics = topics.beacon(beacon)
        outbox.remove(topics.presence, .state)
        outbox.remove(topics.range, .state)
      }
      rate.remove(beacon)
    }
    for (beacon, name) in new.sorted(by: { $0.key < $1.key }) {
      if names[beacon] == nil {
        // It may have been published without a name.
        rate.remove(beacon)
        if configuration.shape == .beaconscan {
          outbox.set(topics.beacon(beacon).presence, Array("unknown".utf8), .state)
        }
      }
      if configuration.shape == .beaconscan { set(discovery.entities(of: beacon, named: name)) }
    }
    names = new
    knowsBeacons = true
    removeStrangers()
  }

  // Reports.

  mutating func update(ranging report: RangingReport) {
    let time = report.wallClockTime
    var present: Set<BeaconIdentity> = []
    var unnamed = 0
    for beacon in report.beacons {
      let name = names[beacon.beacon]
      if name == nil {
        guard configuration.includesUnnamedBeacons, unnamed < configuration.maximumUnnamedBeacons
        else { continue }
        unnamed += 1
      } else {
        setPresence(beacon.beacon, "present")
      }
      present.insert(beacon.beacon)
      // Momentary messages are not kept for a later connection.
      guard outbox.isConnected || isRetained(name),
        rate.publishes(beacon, at: report.time)
      else { continue }
      publish(PublishedBeacon(beacon, name: name, time: time, room: configuration.usedRoom))
    }
    for beacon in rate.beacons where !present.contains(beacon) && report.covers(beacon) {
      guard outbox.isConnected || isRetained(names[beacon]) else { continue }
      guard let last = rate.remove(beacon) else { continue }
      publish(
        PublishedBeacon(absent: last, name: names[beacon], time: time, room: configuration.usedRoom)
      )
    }
    for beacon in names.keys where !present.contains(beacon) && report.covers(beacon) {
      setPresence(beacon, "absent")
    }
  }

  mutating func update(region event: MonitorEvent, _ record: [UInt8]) {
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

  mutating func publish(_ entry: JournalEntry) {
    let topic = entry.region.map { topics.region($0).event } ?? topics.visitEvent
    outbox.append(event: topic, entry.record, id: entry.id)
  }

  mutating func update(location record: [UInt8]) { outbox.set(topics.location, record, .state) }

  mutating func update(health record: [UInt8]) { outbox.set(topics.health, record, .state) }

  // Messages of the broker.

  mutating func begin() {
    outbox.begin()
    // While disconnected, momentary messages were not published.
    if configuration.shape != .beaconscan || configuration.includesUnnamedBeacons {
      rate.expire()
    }
  }

  /// The subscriptions: Home Assistant's start, and the entities retained by the broker.
  var filters: [String] {
    configuration.discoveryPrefix.map { ["\($0)/status", discovery.filter] } ?? []
  }

  mutating func receive(_ message: MQTTClient.Received) {
    guard let prefix = configuration.discoveryPrefix else { return }
    if message.topic == "\(prefix)/status" {
      // A retained status is older than this connection, on which everything was published.
      if !message.isRetained, message.payload == Array("online".utf8) { outbox.publishAgain() }
    } else if message.isRetained, !message.payload.isEmpty,
      strangers.count < Self.maximumStrangers, discovery.isOwn(message.topic)
    {
      strangers.insert(message.topic)
      removeStrangers()
    }
  }

  /// Removes entities of earlier runs that are no longer set.
  private mutating func removeStrangers() {
    guard knowsRegions, knowsBeacons, !strangers.isEmpty else { return }
    for topic in strangers where !outbox.has(topic, .discovery) {
      outbox.remove(topic, .discovery)
      for state in discovery.states(of: topic) { outbox.remove(state, .state) }
    }
    strangers = []
  }

  // Messages.

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
    guard configuration.shape == .beaconscan else { return }
    outbox.set(topics.beacon(beacon).presence, Array(presence.utf8), .state)
  }

  /// Returns whether the broker retains a beacon's messages.
  private func isRetained(_ name: String?) -> Bool {
    configuration.shape == .beaconscan && name != nil
  }

  private mutating func publish(_ beacon: PublishedBeacon) {
    var record: [UInt8] = []
    switch configuration.shape {
    case .beaconscan: Self.beacon.append(beacon.beacon, to: &record)
    case .espresense:
      // ESPresense sends nothing about beacons that it does not receive.
      guard beacon.isPresent, beacon.beacon.estimate != nil else { return }
      PublishedBeacon.espresense.append(beacon, to: &record)
    case .roomAssistant: PublishedBeacon.roomAssistant.append(beacon, to: &record)
    }
    outbox.set(
      topics.report(of: beacon.beacon.beacon), record,
      isRetained(beacon.name) ? .state : .momentary)
  }

  /// A beacon as in the output of `range`.
  private static let beacon = RangedBeacon.record(showsRaw: false, showsSides: false)
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
  /// The number of beacons inside, or `nil` if it is not known.
  package var beacons: Int?
  /// Whether the region has beacons to count; a circle has none.
  package var countsBeacons: Bool

  package init(
    _ name: String, state: RegionState = .unknown, beacons: Int? = nil, countsBeacons: Bool = true
  ) {
    (self.name, self.state, self.beacons) = (name, state, beacons)
    self.countsBeacons = countsBeacons
  }
}
