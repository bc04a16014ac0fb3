import Advertising
import Positioning
import Records
import Regions
import Scanning
import ServiceCore

/// The regions, receivers' states and counts, which result from the journal's changes in order.
struct KioskState: Sendable {
  static let addedGroup = ClientGroup("http")
  private static let maximumReceivers = 64

  private(set) var regions: [String: RegionRecord] = [:]
  private(set) var receivers: [(health: ScannerHealth, time: WallClockTime)] = []
  /// The states of the fix source and of the compass.
  private(set) var locationSources: [(health: LocationHealth, time: WallClockTime)] = []
  private(set) var visit: [UInt8]?
  var tally = EventTally()
  private(set) var position: Int64 = 0
  private(set) var revision = 0
  /// Whether regions without rules of their own report each beacon.
  var reportsEachBeacon = false

  init(position: Int64 = 0) { self.position = position }

  /// Applies a change. Returns whether it changed the regions: their list, a definition, or a state
  /// without an event.
  mutating func receive(_ change: JournalChange) -> Bool {
    switch change {
    case .registered(_, let group, let name, let registration, let state):
      switch registration {
      case let region as BeaconRegion:
        return register(record(of: region, state as? BeaconRegistrationState, group), name)
      case let registration as LocationRegistration:
        guard let circle = registration.circle else { return false }
        return register(
          record(of: circle, state as? LocationRegistrationState, group), circle.identifier)
      default: return false
      }
    case .unregistered(BeaconService.name, let group, let name):
      return remove(name, in: group) { $0.constraint != nil }
    case .unregistered(LocationService.name, let group, let stored):
      guard let name = LocationService.circle(ofStored: stored) else { return false }
      return remove(name, in: group) { $0.circle != nil }
    case .unregistered: return false
    case .entry(let entry):
      position = entry.id
      receive(entry)
      return false
    }
  }

  private func record(
    of region: BeaconRegion, _ state: BeaconRegistrationState?, _ group: ClientGroup
  ) -> RegionRecord {
    RegionRecord(
      name: region.identifier, subject: .beacons(region.constraint),
      reportsEachBeacon: region.rules?.reportsEachBeacon ?? reportsEachBeacon,
      state: state?.state ?? .unknown, since: state?.since,
      beacons: state?.beacons?.count ?? (state?.state == .outside ? 0 : nil),
      isRemovable: group == Self.addedGroup)
  }

  private func record(
    of circle: CircularRegion, _ state: LocationRegistrationState?, _ group: ClientGroup
  ) -> RegionRecord {
    var record = RegionRecord(
      name: circle.identifier, subject: .circle(circle), reportsEachBeacon: false,
      state: .unknown, isRemovable: group == Self.addedGroup)
    if case .circle(let state, let since)? = state {
      record.state = RegionState(state)
      record.since = since
    }
    return record
  }

  /// Removes a region of a kind. A region that has replaced it stays.
  private mutating func remove(
    _ name: String, in group: ClientGroup, _ isOfKind: (RegionRecord) -> Bool
  ) -> Bool {
    guard let old = regions[name], isOfKind(old), old.isRemovable == (group == Self.addedGroup)
    else { return false }
    regions[name] = nil
    tally.transitions[name] = nil
    revision += 1
    return true
  }

  private mutating func register(_ new: RegionRecord, _ name: String) -> Bool {
    let old = regions[name]
    var record = new
    record.last = old?.last
    if let old, old.subject == record.subject, old.state == record.state {
      record.beacons = old.beacons ?? record.beacons
      record.since = old.since ?? record.since
    }
    regions[name] = record
    let isSame =
      old?.subject == record.subject && old?.isRemovable == record.isRemovable
      && old?.reportsEachBeacon == record.reportsEachBeacon && old?.state == record.state
    if !isSame { revision += 1 }
    return !isSame
  }

  private mutating func receive(_ entry: JournalEntry) {
    switch entry.event {
    case BeaconEvent.health(let health, let time)?: receive(health, at: time)
    case LocationEvent.health(let health, let time)?:
      locationSources.removeAll { $0.health.subject == health.subject }
      locationSources.append((health, time))
      tally.healthChanges += 1
    case LocationEvent.visit?:
      visit = entry.record
      tally.visits += 1
    default: break
    }
    if let line = entry.line { receive(line, entry.record) }
  }

  private mutating func receive(_ line: MonitorEvent, _ record: [UInt8]) {
    // A region that reports each beacon has no events of its own.
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
    // A report about all adapters replaces those about single adapters, and vice versa.
    receivers.removeAll {
      $0.health.adapter == health.adapter || health.adapter == nil || $0.health.adapter == nil
    }
    if receivers.count < Self.maximumReceivers { receivers.append((health, time)) }
    tally.healthChanges += 1
  }

  var sortedRegions: [RegionRecord] { regions.values.sorted { $0.name < $1.name } }
}

struct EventTally: Sendable {
  /// The entries and exits by region, without removed regions.
  var transitions: [String: (enters: Int, exits: Int)] = [:]
  var healthChanges = 0
  var ranged = 0
  var visits = 0

  mutating func count(_ event: MonitorEvent) {
    switch event.kind {
    case .enter: transitions[event.region, default: (0, 0)].enters += 1
    case .exit: transitions[event.region, default: (0, 0)].exits += 1
    case .state: break
    }
  }
}
