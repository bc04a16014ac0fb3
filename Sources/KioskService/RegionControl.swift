package import Advertising
package import Frontends
package import Positioning
import Records
package import Regions
import Scanning
package import ServiceCore
import Synchronization

package struct RegionConfiguration: Sendable {
  package var regions: [BeaconRegion]
  package var circles: [CircularRegion]
  /// The rules of regions without rules of their own.
  package var rules: RegionRules
  package var names: [BeaconIdentity: String]
  /// Returns a region's rules from options of `monitor`, such as `exit-after=20s` and `each`.
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

/// Registers the configured regions and those added over HTTP, each for its own client, so that
/// both kinds survive a restart. The journal delivers the changes in order with the events.
final class RegionControl: KioskControl {
  static let maximumAdded = 256

  private let configured: OwnedRegions
  private let added: OwnedRegions
  private let hub: KioskHub
  /// Whether the beacons of regions are ranged always, for the history, and not only on demand.
  private let rangesAlways: Bool
  private let configuration: Mutex<RegionConfiguration>

  init(
    _ beacons: BeaconService, _ locations: LocationService?, configured: ServiceClient,
    hub: KioskHub, _ configuration: RegionConfiguration, rangesAlways: Bool
  ) {
    self.configured = OwnedRegions(configured, beacons, locations)
    added = OwnedRegions(
      beacons.manager.addClient(in: KioskState.addedGroup, isReceiving: false), beacons, locations)
    self.hub = hub
    self.rangesAlways = rangesAlways
    self.configuration = Mutex(configuration)
    hub.setRules(configuration.rules)
    // Stored regions start with their stored states.
    for owned in [self.configured, added] {
      let group = owned.beacons.client.group
      for region in owned.beacons.regions {
        if let known = owned.beacons.snapshot(ofRegion: region.identifier) {
          hub.restore(known, in: group)
        }
      }
      for name in owned.circles {
        if let known = owned.locations?.snapshot(ofCircle: name) { hub.restore(known, in: group) }
      }
    }
  }

  /// Replaces the configured regions, and returns the names of the removed ones. Unchanged ones
  /// keep their states. Others start outside, so that a visitor who is present enters.
  func configure(_ new: RegionConfiguration) throws(RegionRefusal) -> [String] {
    try configuration.withLock { configuration throws(RegionRefusal) in
      guard configured.locations != nil || new.circles.isEmpty else {
        throw .invalid(
          "circles need locations, which the service does not have; start it with --source")
      }
      try check(new)
      configuration = new
      hub.setRules(new.rules)
      // A configured region replaces an added one of the same name.
      let regions = Set(new.regions.map(\.identifier))
      let circles = Set(new.circles.map(\.identifier))
      for name in regions.union(circles) { added.unregister(name) }
      let old = Set(configured.beacons.regions.map(\.identifier))
      let oldCircles = Set(configured.circles)
      for name in old where !regions.contains(name) { configured.beacons.unregister(name) }
      for name in oldCircles where !circles.contains(name) {
        configured.locations?.unregister(name)
      }
      // The service's own rules are those of its start.
      for var region in new.regions {
        region.rules = region.rules ?? new.rules
        try configured.register(region)
      }
      for circle in new.circles { try configured.register(circle) }
      // Clients must receive the list even if it is that of the previous process.
      hub.announceRegions()
      range(new)
      return oldCircles.union(old).subtracting(regions).subtracting(circles).sorted()
    }
  }

  private func check(_ new: RegionConfiguration) throws(RegionRefusal) {
    do {
      for region in new.regions { try configured.beacons.service.check(region.identifier) }
      for circle in new.circles { try configured.locations?.service.check(circle.identifier) }
    } catch {
      throw .conflict("\(error)")
    }
  }

  private func range(_ configuration: RegionConfiguration) {
    guard rangesAlways else { return }
    let constraints =
      [configured, added].flatMap(\.beacons.regions).map(\.constraint)
      + configuration.names.keys.map {
        BeaconConstraint(uuid: $0.uuid, major: $0.major, minor: $0.minor)
      }
    let wanted = Set(constraints.map { RangingRequest($0) })
    let ranged = configured.beacons.rangingRequests.filter { $0.constraint != nil }
    for request in ranged.subtracting(wanted) { configured.beacons.stopRanging(request) }
    for request in wanted.subtracting(ranged) {
      // The receiver's state contains the error.
      try? configured.beacons.startRanging(request)
    }
  }

  func set(_ name: String, _ request: RegionRequest) async throws(RegionRefusal) -> Bool {
    let isNew = try configuration.withLock { configuration throws(RegionRefusal) in
      var rules: RegionRules?
      if case .beacons(let constraint) = request.subject, !request.rules.isEmpty {
        rules = try configuration.readRules(
          NamedRegion(name: name, constraint: constraint, rules: request.rules))
      }
      guard !configured.has(name) else {
        throw .conflict("'\(name)' is a region of the configuration; choose another name")
      }
      let stored = added.beacons.regions
      let isNew = !added.has(name)
      guard !isNew || stored.count + added.circles.count < Self.maximumAdded else {
        throw .conflict(
          "\(Self.maximumAdded) regions were added, which is the limit; remove one")
      }
      switch request.subject {
      case .beacons(let constraint):
        var region = BeaconRegion(identifier: name, constraint: constraint)
        region.rules = rules
        added.locations?.unregister(name)
        try added.register(region)
      case .circle(let circle):
        try added.register(circle)
        added.beacons.unregister(name)
      }
      range(configuration)
      return isNew
    }
    // The next request of the client must see the change.
    await hub.journal.settled()
    return isNew
  }

  func approach(to name: String) -> Approach? {
    for owned in [configured, added] {
      guard let known = owned.beacons.snapshot(ofRegion: name) else { continue }
      guard known.status.state != .inside else { return nil }
      let rules = known.region.rules ?? configuration.withLock(\.rules)
      return Approach(
        name, known.status.state, at: .now, rules, owned.beacons.approach(toRegion: name))
    }
    return nil
  }

  func remove(_ name: String) async throws(RegionRefusal) {
    try configuration.withLock { configuration throws(RegionRefusal) in
      if configured.has(name) {
        throw .conflict("'\(name)' is a region of the configuration; remove it there")
      }
      guard added.has(name) else { throw .unknown }
      added.unregister(name)
      range(configuration)
    }
    await hub.journal.settled()
  }
}

private struct OwnedRegions {
  let beacons: BeaconClient
  let locations: LocationClient?

  init(_ client: ServiceClient, _ beacons: BeaconService, _ locations: LocationService?) {
    self.beacons = BeaconClient(client, of: beacons)
    self.locations = locations.map { LocationClient(client, of: $0) }
  }

  func register(_ region: BeaconRegion) throws(RegionRefusal) {
    do throws(BeaconServiceError) {
      try beacons.register(region, assuming: beacons.assumedState(of: region))
    } catch {
      throw .conflict("\(error)")
    }
  }

  func register(_ circle: CircularRegion) throws(RegionRefusal) {
    guard let locations else {
      throw .conflict(
        "a circle needs locations, which the service does not have; start it with --source")
    }
    do throws(LocationServiceError) {
      let state = locations.assumedState(of: circle)
      try locations.register(MonitoredCircle(circle), assuming: state)
    } catch {
      throw .conflict("\(error)")
    }
  }

  func unregister(_ name: String) {
    beacons.unregister(name)
    locations?.unregister(name)
  }

  var circles: [String] { locations?.circles.map(\.region.identifier) ?? [] }

  func has(_ name: String) -> Bool {
    beacons.snapshot(ofRegion: name) != nil || locations?.snapshot(ofCircle: name) != nil
  }
}
