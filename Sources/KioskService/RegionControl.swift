package import Advertising
package import Frontends
package import Regions
import Scanning
package import ServiceCore
import Synchronization

/// The regions of a service's configuration, and how the rules of others are read.
package struct RegionConfiguration: Sendable {
  /// The regions of the configuration.
  package var regions: [BeaconRegion]
  /// The rules of regions that have none of their own.
  package var rules: RegionRules
  /// The beacons that have names, and theirs.
  package var names: [BeaconIdentity: String]
  /// Returns the rules of a region, from the options of `monitor` as texts: `exit-after=20s`, `each`.
  package var readRules: @Sendable (NamedRegion) throws(RegionRefusal) -> RegionRules

  package init(
    regions: [BeaconRegion], rules: RegionRules, names: [BeaconIdentity: String],
    readRules: @escaping @Sendable (NamedRegion) throws(RegionRefusal) -> RegionRules
  ) {
    self.regions = regions
    self.rules = rules
    self.names = names
    self.readRules = readRules
  }
}

/// Registers regions: those of the configuration, which belong to a client of their own, and those that are added over
/// HTTP, so that each kind outlives the process as what it is. What follows from a registration, the journal's observers
/// are given in order with the events.
final class RegionControl: Sendable {
  /// The group of the regions that were added over HTTP.
  private static let addedGroup = KioskState.addedGroup
  /// The regions that can be added over HTTP at most.
  static let maximumAdded = 256

  private let beacons: BeaconService
  /// The client of the configuration's regions.
  private let configured: ClientIdentifier
  /// The client of the regions that were added.
  private let added: ClientIdentifier
  private let hub: KioskHub
  /// Whether the beacons of regions are ranged all the time, and not only while somebody wants them: the history has
  /// their presence.
  private let rangesAlways: Bool
  /// Held while regions are changed.
  private let configuration: Mutex<RegionConfiguration>

  init(
    _ beacons: BeaconService, configured: ClientIdentifier, hub: KioskHub,
    _ configuration: RegionConfiguration, rangesAlways: Bool
  ) {
    self.beacons = beacons
    self.configured = configured
    self.hub = hub
    self.rangesAlways = rangesAlways
    self.configuration = Mutex(configuration)
    added = beacons.manager.addClient(in: Self.addedGroup, isReceiving: false)
    hub.setRules(configuration.rules)
    // Those that are stored begin with what is known of them.
    for (client, group) in [(configured, ClientGroup.application), (added, Self.addedGroup)] {
      for region in beacons.regions(of: client) {
        guard let known = beacons.snapshot(ofRegion: region.identifier, for: client) else {
          continue
        }
        hub.restore(known, in: group)
      }
    }
  }

  /// Registers the configuration's regions in place of those before. The regions that stay keep their states; others
  /// count as outside, so that someone who is there already enters.
  ///
  /// - Returns: The names of the regions that were removed.
  func configure(_ new: RegionConfiguration) throws(BeaconServiceError) -> [String] {
    try configuration.withLock { configuration throws(BeaconServiceError) in
      configuration = new
      hub.setRules(new.rules)
      // The configuration comes first.
      for region in new.regions { beacons.unregister(region.identifier, for: added) }
      let old = Dictionary(
        beacons.regions(of: configured).map { ($0.identifier, $0) }, uniquingKeysWith: { $1 })
      let kept = Set(new.regions.map(\.identifier))
      let removed = old.keys.filter { !kept.contains($0) }.sorted()
      for name in removed { beacons.unregister(name, for: configured) }
      for region in new.regions { try register(region, old[region.identifier], for: configured) }
      range(new)
      return removed
    }
  }

  /// Registers a region. Other rules for the same beacons begin with what is known of them.
  private func register(
    _ region: BeaconRegion, _ old: BeaconRegion?, for client: ClientIdentifier
  ) throws(BeaconServiceError) {
    var assumed = RegionState.outside
    if old?.constraint == region.constraint,
      let known = beacons.snapshot(ofRegion: region.identifier, for: client),
      known.status.state != .unknown
    {
      assumed = known.status.state
    }
    try beacons.register(region, assuming: assumed, for: client)
  }

  /// Ranges the beacons of regions, and those with names, where that is wanted all the time.
  private func range(_ configuration: RegionConfiguration) {
    guard rangesAlways else { return }
    let constraints =
      [configured, added].flatMap { beacons.regions(of: $0) }.map(\.constraint)
      + configuration.names.keys.map {
        BeaconConstraint(uuid: $0.uuid, major: $0.major, minor: $0.minor)
      }
    let wanted = Set(constraints.map { RangingRequest($0) })
    let ranged = beacons.rangingRequests(of: configured).filter { $0.constraint != nil }
    for request in ranged.subtracting(wanted) { beacons.stopRanging(request, for: configured) }
    for request in wanted.subtracting(ranged) {
      // Why it cannot be met is in the receiver's state.
      try? beacons.startRanging(request, for: configured)
    }
  }

  /// Adds or replaces a region. Returns whether it is new, when the hub has it.
  func set(_ name: String, _ request: RegionRequest) async throws(RegionRefusal) -> Bool {
    let isNew = try configuration.withLock { configuration throws(RegionRefusal) in
      var region = BeaconRegion(identifier: name, constraint: request.constraint)
      if !request.rules.isEmpty {
        region.rules = try configuration.readRules(
          NamedRegion(name: name, constraint: request.constraint, rules: request.rules))
      }
      guard beacons.snapshot(ofRegion: name, for: configured) == nil else {
        throw .conflict("'\(name)' is a region of the configuration; choose another name")
      }
      let stored = beacons.regions(of: added)
      let old = stored.first { $0.identifier == name }
      guard old != nil || stored.count < Self.maximumAdded else {
        throw .conflict(
          "\(Self.maximumAdded) regions were added, which is the limit; remove one")
      }
      do throws(BeaconServiceError) {
        try register(region, old, for: added)
      } catch {
        throw .conflict("\(error)")
      }
      range(configuration)
      return old == nil
    }
    // A client that asks now finds what it has set.
    await hub.journal.settled()
    return isNew
  }

  /// Removes a region that was added, when the hub has it no more.
  func remove(_ name: String) async throws(RegionRefusal) {
    try configuration.withLock { configuration throws(RegionRefusal) in
      if beacons.snapshot(ofRegion: name, for: configured) != nil {
        throw .conflict("'\(name)' is a region of the configuration; remove it there")
      }
      guard beacons.snapshot(ofRegion: name, for: added) != nil else { throw .unknown }
      beacons.unregister(name, for: added)
      range(configuration)
    }
    await hub.journal.settled()
  }
}
