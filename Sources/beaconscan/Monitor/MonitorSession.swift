import Records
import Regions
import Scanning
import ServiceCore

/// One run of `monitor`: registers the regions and writes what happens to them.
final class MonitorSession {
  private let session: BeaconSession
  private let regions: [NamedRegion]
  private let writer: any MonitorWriter
  private let health: HealthLog
  private let commands: EventCommands?
  private var events: MonitorEvents
  private var left: Int

  init(
    _ session: BeaconSession, regions: [NamedRegion], rules: RegionRules,
    writer: any MonitorWriter, health: HealthLog, commands: EventCommands?, count: Int?
  ) {
    self.session = session
    self.regions = regions
    self.writer = writer
    self.health = health
    self.commands = commands
    events = MonitorEvents(rules: rules)
    left = count ?? .max
    if writer.showsBeacons { health.showOnScreen = writer.write(trouble:at:) }
  }

  /// Registers the regions, and no others.
  func start(isQuiet: Bool) throws {
    let (beacons, client) = (session.beacons, session.client)
    let stored = unregisterOthers(isQuiet: isQuiet)
    for region in regions {
      // Other rules for the same beacons begin with what is known of them.
      var state = RegionState.outside
      if stored[region.name] == region.constraint,
        let known = beacons.snapshot(ofRegion: region.name, for: client)
      {
        if known.status.state != .unknown { state = known.status.state }
        if state == .inside, let since = known.since {
          events.record(region: region.name, insideSince: since)
        }
      }
      do throws(BeaconServiceError) {
        try beacons.register(
          BeaconRegion(identifier: region.name, constraint: region.constraint), assuming: state,
          for: client)
        if writer.showsBeacons {
          try beacons.startRanging(RangingRequest(region.constraint), for: client)
        }
      } catch {
        throw CommandError(
          session.scanner.availability == .available ? .usage : .unavailable, "\(error)")
      }
    }
  }

  /// Receives events to the end.
  ///
  /// - Returns: What was wrong with the source.
  func run() async throws -> CommandError? {
    defer { commands?.finish() }
    let failure = try await session.run { event in
      switch event {
      case .region(let event):
        let line = events.line(of: event)
        try writer.write(line)
        commands?.run(on: line)
        if line.kind != .state { left -= 1 }
      case .ranging(let report): try writer.write(report)
      case .health(let change, let time): try health.report(change, at: time)
      case .sightings, .regionState, .registered, .identity, .refused, .ended: break
      }
      return left > 0 ? .more : .enough
    }
    let beacons = session.beacons.beaconsMonitored
    try writer.end(
      ScanSummary(
        counts: session.scanner.counts, beacons: beacons.count, evictions: beacons.evictions))
    return failure
  }

  /// Unregisters regions that the state file has and the command line does not name.
  ///
  /// - Returns: The beacons of the others.
  private func unregisterOthers(isQuiet: Bool) -> [String: BeaconConstraint] {
    let names = Set(regions.map(\.name))
    var stored: [String: BeaconConstraint] = [:]
    for region in session.beacons.regions(of: session.client) {
      if names.contains(region.identifier) {
        stored[region.identifier] = region.constraint
        continue
      }
      session.beacons.unregister(region.identifier, for: session.client)
      if !isQuiet {
        printError(
          "beaconscan: the state file has the region '\(region.identifier)', which is not named any "
            + "more; it was removed")
      }
    }
    return stored
  }
}
