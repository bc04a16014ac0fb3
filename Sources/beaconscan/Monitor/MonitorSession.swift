import CaptureFiles
import CoreLocation
import Records
import Regions
import Scanning

/// One run of `monitor`: starts the regions and hands on what happens to them.
final class MonitorSession {
  private let scan: ManagedScan
  private let regions: [NamedRegion]
  private let writer: any MonitorWriter
  private let health: HealthLog
  private let commands: EventCommands?
  private let delegate = MonitorDelegate()
  private var events: MonitorEvents
  private var left: Int

  init(
    _ scan: ManagedScan, regions: [NamedRegion], rules: RegionRules, writer: any MonitorWriter,
    health: HealthLog,
    commands: EventCommands?, count: Int?
  ) {
    self.scan = scan
    self.regions = regions
    self.writer = writer
    self.health = health
    self.commands = commands
    events = MonitorEvents(rules: rules)
    left = count ?? .max
    if writer.showsBeacons { health.showOnScreen = writer.write(trouble:at:offset:) }
  }

  /// Starts to monitor the regions, and no others.
  func start(isQuiet: Bool) throws {
    if let failure = scan.services.storageFailure { throw CommandError(.cannotCreate, failure) }
    let kept = stopOthers(isQuiet: isQuiet)
    let untold = scan.services.untold
    for transition in untold where left > 0 { try tell(transition) }
    // With a delegate, what is shown counts as told. There is no way back to what was not.
    scan.manager.delegate = delegate
    for region in regions {
      let asked = CLBeaconRegion(
        beaconIdentityConstraint: CLBeaconIdentityConstraint(region.constraint),
        identifier: region.name)
      // Other rules for the same beacons begin with what is known of them.
      var state = RegionState.outside
      if kept[region.name] == asked.beaconIdentityConstraint {
        let known = scan.services.status(ofRegion: region.name)?.state ?? .unknown
        if known != .unknown { state = known }
        if known == .inside, let since = scan.services.keptSince(ofRegion: region.name) {
          events.record(region: region.name, insideSince: since.wallClockTime(.zero))
        }
      }
      scan.services.startMonitoring(asked, assuming: state, for: scan.manager)
      if writer.showsBeacons {
        scan.manager.startRangingBeacons(satisfying: asked.beaconIdentityConstraint)
      }
    }
    if let failure = delegate.failure {
      throw CommandError(scan.scanner.availability == .available ? .usage : .unavailable, failure)
    }
  }

  /// Listens to the end.
  ///
  /// - Returns: What was wrong with the source.
  func run() throws -> CommandError? {
    defer { commands?.finish() }
    // What was left from the run before may have been enough.
    let failure = left == 0 ? nil : try listen()
    let beacons = scan.services.beaconsMonitored
    try writer.end(
      ScanSummary(
        counts: scan.scanner.counts, beacons: beacons.count, evictions: beacons.evictions))
    return failure
  }

  private func listen() throws -> CommandError? {
    try scan.run { news in
      switch news {
      case .heard: break
      case .ranged(let report): try writer.write(report, offset: scan.wallClockOffset)
      case .region(let transition): try tell(transition)
      case .health(let change): try health.tell(change)
      }
      return left > 0 ? .more : .enough
    }
  }

  private func tell(_ transition: RegionTransition) throws {
    guard let event = events.event(of: transition, offset: scan.wallClockOffset) else { return }
    try writer.write(event)
    commands?.run(on: event)
    if event.kind != .state { left -= 1 }
  }

  /// Stops regions that the state file has and the command line does not name.
  ///
  /// - Returns: What the others mean.
  private func stopOthers(isQuiet: Bool) -> [String: CLBeaconIdentityConstraint] {
    let names = Set(regions.map(\.name))
    var kept: [String: CLBeaconIdentityConstraint] = [:]
    for case let region as CLBeaconRegion in scan.manager.monitoredRegions {
      if names.contains(region.identifier) {
        kept[region.identifier] = region.beaconIdentityConstraint
      } else {
        scan.manager.stopMonitoring(for: region)
        if !isQuiet {
          printError(
            "beaconscan: the state file has the region '\(region.identifier)', which is not named "
              + "any more; it was taken out")
        }
      }
    }
    return kept
  }
}

/// Takes what is told of regions: events come with their reasons from the services, so that only failures
/// are left.
private final class MonitorDelegate: CLLocationManagerDelegate {
  /// Why a region cannot be monitored: the first sentence.
  private(set) var failure: String?

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) {
    if failure == nil {
      failure = "region '\(region?.identifier ?? "")': \(error.localizedDescription)"
    }
  }
}
