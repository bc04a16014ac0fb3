import Advertising
import Records
import Regions
import Scanning
import ServiceCore

/// The regions of the service and their states, the receivers' states, and what was counted, as the journal's changes
/// make them: a value that is given each change in order.
struct KioskState: Sendable {
  /// The group of the regions that were added over HTTP.
  static let addedGroup = ClientGroup("http")
  /// The states of adapters that are kept at most.
  private static let maximumReceivers = 64

  private(set) var regions: [String: RegionRecord] = [:]
  private(set) var receivers: [(health: ScannerHealth, time: WallClockTime)] = []
  private(set) var tally = EventTally()
  /// The latest entry that this has.
  private(set) var position: Int64 = 0
  /// Changes with the regions.
  private(set) var revision = 0
  /// The rules of regions that have none of their own report each beacon.
  var reportsEachBeacon = false

  init(position: Int64 = 0) { self.position = position }

  /// What a change did to the regions.
  enum Effect: Equatable {
    case none
    /// The list has another region, or another definition of one.
    case regions
    case region(String)
  }

  /// Applies a change, and returns what it did to the regions.
  mutating func receive(_ change: JournalChange) -> Effect {
    switch change {
    case .registered(BeaconService.name, let group, let name, let registration, let state):
      guard let region = registration as? BeaconRegion else { return .none }
      return register(
        region, name, isRemovable: group == Self.addedGroup,
        state as? BeaconRegistrationState)
    case .unregistered(BeaconService.name, let group, let name):
      // A region of the configuration takes the place of one that was added.
      guard let old = regions[name], old.isRemovable == (group == Self.addedGroup) else {
        return .none
      }
      regions[name] = nil
      tally.transitions[name] = nil
      revision += 1
      return .regions
    case .registered, .unregistered: return .none
    case .entry(let entry):
      position = entry.id
      return receive(entry)
    }
  }

  private mutating func register(
    _ region: BeaconRegion, _ name: String, isRemovable: Bool,
    _ state: BeaconRegistrationState?
  ) -> Effect {
    let old = regions[name]
    var record = RegionRecord(
      name: name, constraint: region.constraint,
      reportsEachBeacon: region.rules?.reportsEachBeacon ?? reportsEachBeacon,
      state: state?.state ?? .unknown, since: state?.since,
      beacons: state?.beacons?.count ?? (state?.state == .outside ? 0 : nil),
      isRemovable: isRemovable)
    record.last = old?.last
    if let old, old.constraint == record.constraint, old.state == record.state {
      record.beacons = old.beacons ?? record.beacons
      record.since = old.since ?? record.since
    }
    regions[name] = record
    let isSame =
      old?.constraint == record.constraint && old?.isRemovable == record.isRemovable
      && old?.reportsEachBeacon == record.reportsEachBeacon
    guard !isSame else { return .region(name) }
    revision += 1
    return .regions
  }

  private mutating func receive(_ entry: JournalEntry) -> Effect {
    switch entry.event {
    case .some(let event as BeaconEvent):
      if case .health(let health, let time) = event { receive(health, at: time) }
      guard let line = entry.line else { return .none }
      receive(line, entry.record)
      return .region(line.region)
    default: return .none
    }
  }

  private mutating func receive(_ line: MonitorEvent, _ record: [UInt8]) {
    // Of a region that reports each of its beacons, the region has no event of its own.
    guard var region = regions[line.region] else { return }
    tally.count(line)
    if let inside = line.beaconsInside { region.beacons = inside }
    let isInside = line.beacon == nil ? line.state == .inside : (region.beacons ?? 0) > 0
    let state: RegionState = isInside ? .inside : .outside
    if region.state != state {
      region.state = state
      region.since = line.time
    }
    region.last = record
    regions[line.region] = region
  }

  private mutating func receive(_ health: ScannerHealth, at time: WallClockTime) {
    // A report about all adapters replaces those of each.
    receivers.removeAll {
      $0.health.adapter == health.adapter || health.adapter == nil || $0.health.adapter == nil
    }
    if receivers.count < Self.maximumReceivers { receivers.append((health, time)) }
    tally.healthChanges += 1
  }

  mutating func count(ranged beacons: Int) {
    tally.ranged = beacons
    tally.reports += 1
  }

  /// The regions, by name.
  var sortedRegions: [RegionRecord] { regions.values.sorted { $0.name < $1.name } }
}

/// What was counted since the start.
struct EventTally: Sendable {
  /// By region: entries and exits. Regions that were removed are not counted.
  var transitions: [String: (enters: Int, exits: Int)] = [:]
  var healthChanges = 0
  /// The beacons of the latest report.
  var ranged = 0
  var reports = 0

  mutating func count(_ event: MonitorEvent) {
    switch event.kind {
    case .enter: transitions[event.region, default: (0, 0)].enters += 1
    case .exit: transitions[event.region, default: (0, 0)].exits += 1
    case .state: break
    }
  }
}
