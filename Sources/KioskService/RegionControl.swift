package import Advertising
package import Frontends
package import Positioning
import Records
package import Regions
import Scanning
package import ServiceCore
import Synchronization

/// The regions of a service's configuration, and how the rules of others are read.
package struct RegionConfiguration: Sendable {
  /// The regions of beacons of the configuration.
  package var regions: [BeaconRegion]
  /// The circles of the configuration.
  package var circles: [CircularRegion]
  /// The rules of regions that have none of their own.
  package var rules: RegionRules
  /// The beacons that have names, and theirs.
  package var names: [BeaconIdentity: String]
  /// Returns the rules of a region, from the options of `monitor` as texts: `exit-after=20s`, `each`.
  package var readRules: @Sendable (NamedRegion) throws(RegionRefusal) -> RegionRules

  package init(
    regions: [BeaconRegion], circles: [CircularRegion] = [], rules: RegionRules,
    names: [BeaconIdentity: String],
    readRules: @escaping @Sendable (NamedRegion) throws(RegionRefusal) -> RegionRules
  ) {
    self.regions = regions
    self.circles = circles
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
  /// The service of circles; `nil` where the service has no locations.
  private let locations: LocationService?
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
    _ beacons: BeaconService, _ locations: LocationService?, configured: ClientIdentifier,
    hub: KioskHub, _ configuration: RegionConfiguration, rangesAlways: Bool
  ) {
    self.beacons = beacons
    self.locations = locations
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
      for name in circles(of: client) {
        guard let known = locations?.snapshot(ofCircle: name, for: client) else { continue }
        hub.restore(known, in: group)
      }
    }
  }

  /// Registers the configuration's regions in place of those before. The regions that stay keep their states; others
  /// count as outside, so that someone who is there already enters.
  ///
  /// - Returns: The names of the regions that were removed.
  func configure(_ new: RegionConfiguration) throws(RegionRefusal) -> [String] {
    try configuration.withLock { configuration throws(RegionRefusal) in
      guard locations != nil || new.circles.isEmpty else {
        throw .invalid("circles need locations, which the service began without; start it again")
      }
      try check(new)
      configuration = new
      hub.setRules(new.rules)
      // The configuration comes first.
      let (regions, circles) = (
        Set(new.regions.map(\.identifier)), Set(new.circles.map(\.identifier))
      )
      for name in regions.union(circles) { unregister(name, for: added) }
      let old = Dictionary(
        beacons.regions(of: configured).map { ($0.identifier, $0) }, uniquingKeysWith: { $1 })
      let oldCircles = Set(self.circles(of: configured))
      for name in old.keys where !regions.contains(name) {
        beacons.unregister(name, for: configured)
      }
      for name in oldCircles where !circles.contains(name) {
        locations?.unregister(name, for: configured)
      }
      for region in new.regions { try register(region, old[region.identifier], for: configured) }
      for circle in new.circles { try register(circle, for: configured) }
      // A broker has none yet where these are the regions of the process before.
      hub.announceRegions()
      range(new)
      return oldCircles.union(old.keys).subtracting(regions).subtracting(circles).sorted()
    }
  }

  /// Throws where something of a configuration cannot be registered, before anything is changed.
  private func check(_ new: RegionConfiguration) throws(RegionRefusal) {
    do throws(BeaconServiceError) {
      for region in new.regions { try beacons.check(region.identifier) }
    } catch {
      throw .conflict("\(error)")
    }
    do throws(LocationServiceError) {
      for circle in new.circles { try locations?.check(circle.identifier) }
    } catch {
      throw .conflict("\(error)")
    }
  }

  /// Registers a region. Other rules for the same beacons begin with what is known of them.
  private func register(
    _ region: BeaconRegion, _ old: BeaconRegion?, for client: ClientIdentifier
  ) throws(RegionRefusal) {
    var assumed = RegionState.outside
    if old?.constraint == region.constraint,
      let known = beacons.snapshot(ofRegion: region.identifier, for: client),
      known.status.state != .unknown
    {
      assumed = known.status.state
    }
    do throws(BeaconServiceError) {
      try beacons.register(region, assuming: assumed, for: client)
    } catch {
      throw .conflict("\(error)")
    }
  }

  private func register(
    _ circle: CircularRegion, for client: ClientIdentifier
  ) throws(RegionRefusal) {
    guard let locations else {
      throw .conflict(
        "a circle needs locations, which the service does not have; start it with --source")
    }
    // As with beacons, the machine that is there already enters.
    var assumed = GeofenceState.outside
    if let known = locations.snapshot(ofCircle: circle.identifier, for: client),
      known.circle.region == circle, known.state != .unknown
    {
      assumed = known.state
    }
    do throws(LocationServiceError) {
      try locations.register(MonitoredCircle(circle), assuming: assumed, for: client)
    } catch {
      throw .conflict("\(error)")
    }
  }

  private func unregister(_ name: String, for client: ClientIdentifier) {
    beacons.unregister(name, for: client)
    locations?.unregister(name, for: client)
  }

  /// The names of a client's circles.
  private func circles(of client: ClientIdentifier) -> [String] {
    locations?.circles(of: client).map(\.region.identifier) ?? []
  }

  /// Whether a client has a region of a name.
  private func has(_ name: String, _ client: ClientIdentifier) -> Bool {
    beacons.snapshot(ofRegion: name, for: client) != nil
      || locations?.snapshot(ofCircle: name, for: client) != nil
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
      var rules: RegionRules?
      if case .beacons(let constraint) = request.subject, !request.rules.isEmpty {
        rules = try configuration.readRules(
          NamedRegion(name: name, constraint: constraint, rules: request.rules))
      }
      guard !has(name, configured) else {
        throw .conflict("'\(name)' is a region of the configuration; choose another name")
      }
      let stored = beacons.regions(of: added)
      let isNew = !has(name, added)
      guard !isNew || stored.count + circles(of: added).count < Self.maximumAdded else {
        throw .conflict(
          "\(Self.maximumAdded) regions were added, which is the limit; remove one")
      }
      switch request.subject {
      case .beacons(let constraint):
        var region = BeaconRegion(identifier: name, constraint: constraint)
        region.rules = rules
        locations?.unregister(name, for: added)
        try register(region, stored.first { $0.identifier == name }, for: added)
      case .circle(let circle):
        try register(circle, for: added)
        beacons.unregister(name, for: added)
      }
      range(configuration)
      return isNew
    }
    // A client that asks now finds what it has set.
    await hub.journal.settled()
    return isNew
  }

  /// Removes a region that was added, when the hub has it no more.
  func remove(_ name: String) async throws(RegionRefusal) {
    try configuration.withLock { configuration throws(RegionRefusal) in
      if has(name, configured) {
        throw .conflict("'\(name)' is a region of the configuration; remove it there")
      }
      guard has(name, added) else { throw .unknown }
      unregister(name, for: added)
      range(configuration)
    }
    await hub.journal.settled()
  }
}
