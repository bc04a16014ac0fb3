import CaptureFiles
import Frontends
import Glibc
import Ranging
import Records
import Regions
import Scanning
import ServiceCore

/// A source, its beacon service, and the command's client, which states its demand before the
/// start.
final class BeaconSession {
  let scanner: any Scanning.Scanner
  let isLive: Bool
  let beacons: BeaconService
  let client: BeaconClient
  let report: @Sendable (String) -> Void

  /// The location service, if circles are monitored too.
  let location: LocationFeed?
  private let replay: ReplayScanner?
  private let session: ServiceSession
  private let progress: Progress?

  /// Creates the services of a scanner and, if given, of a location source. `replay` is the
  /// recording whose progress is shown, if it is a part of the scanner. With `waits`, adapters need
  /// not be usable yet.
  init(
    _ scanner: any Scanning.Scanner, isLive: Bool? = nil, showsProgress: Bool,
    waits: Bool = false,
    stateFile: String? = nil,
    configuration: BeaconService.Configuration = .init(),
    location source: LocationInput? = nil, of replay: ReplayScanner? = nil,
    report: @escaping @Sendable (String) -> Void = printError
  ) throws {
    self.scanner = scanner
    self.report = report
    self.isLive = isLive ?? !scanner.isRecorded
    if let error = CommandError(scanner.availability, waits: waits && !scanner.isRecorded) {
      throw error
    }
    session = try ServiceSession(stateFile: stateFile, report: report)
    beacons = BeaconService(session.manager, scanner: scanner, configuration: configuration)
    location = source.map { [session] in LocationFeed($0, in: session, report: report) }
    client = BeaconClient(session.client, of: beacons)
    self.replay = replay ?? scanner as? ReplayScanner
    progress = self.replay.flatMap { Progress(of: $0, isWanted: showsProgress) }
  }

  var namesAdapters: Bool { replay?.statuses.contains(where: \.namesAdapters) ?? true }

  /// Whether results arrive in real time, so that each is written at once.
  var isPaced: Bool {
    location?.isPaced ?? replay.map { $0.speed != .max || $0.follows } ?? true
  }

  var began: WallClockTime? { beacons.received?.from.wallClockTime(beacons.wallClockOffset) }

  /// Handles events to the end of the source. Changes of the receiver's state become lines of JSON,
  /// or appear on the writer's screen or standard error. A closure handles other events, and `end`
  /// writes the rest, given whether the source reached its end. For a source that continues, a
  /// reader that has gone is an error, so that a service manager restarts the command.
  func show(
    _ options: OutputOptions, to out: StandardOutput, on writer: (any ResultWriter)? = nil,
    status: StatusLine? = nil, showsFindings: Bool = true,
    while isWanted: (@Sendable () -> Bool)? = nil,
    location consumeLocation: (LocationEvent) throws -> Verdict = { _ in .more },
    _ consume: (BeaconEvent) throws -> Verdict, end: (_ isWhole: Bool) throws -> Void
  ) async throws {
    do {
      location?.reportChoice(options)
      var tally = HealthTally()
      let failure = try await run(
        while: isWanted,
        location: { event in
          if case .health(let health, let time) = event {
            try location?.write(health, at: time, options, to: out, on: writer)
          }
          return try consumeLocation(event)
        }
      ) { event in
        if case .identity(let finding, let time) = event, !options.quiet, showsFindings {
          if options.format == .json {
            try out.writeLine((finding, time), IdentityFinding.record)
          } else if let writer, writer.isScreen {
            try writer.write(trouble: "\(finding)", at: time)
          } else {
            report("beaconscan: \(finding)")
          }
        }
        guard case .health(let health, let time) = event else { return try consume(event) }
        status?.clear()
        tally.update(health)
        if options.format == .json {
          try out.writeLine((health, time), ScannerHealth.record)
          if options.verbose { report("beaconscan: \(health.sentence)") }
        } else if let writer, writer.isScreen {
          try writer.write(trouble: tally.trouble, at: time)
        } else if !options.quiet {
          report("beaconscan: \(health.sentence)")
        }
        return try consume(event)
      }
      status?.clear()
      // A file that is not a recording yields no report.
      if let failure, !isLive, scanner.counts.packets == 0 { throw failure }
      try end(failure == nil)
      try out.flush()
      replay?.remark(options)
      location?.remark(options)
      if isLive, !options.quiet {
        report("beaconscan: " + tally.sentence(scanner.name, beacons.received))
      }
      if let failure { throw failure }
      if isLive, !Interrupt.isRequested, scanner.counts.reports == 0,
        tally.hasNeverReceived(beacons.received)
      {
        throw CommandError(
          .unavailable,
          "nothing could be received all the time; see what prevents it: beaconscan doctor")
      }
    } catch is ClosedPipe where isLive || replay?.follows == true {
      throw CommandError.readerGone
    }
  }

  func summary(of beacons: (count: Int, evictions: Int)) -> ScanSummary {
    ScanSummary(counts: scanner.counts, beacons: beacons.count, evictions: beacons.evictions)
  }

  /// Returns how near a region is to being entered, or left, by its rules or else the given ones.
  func approach(
    to region: String, _ standard: RegionRules, at time: WallClockTime
  ) -> Approach? {
    guard let snapshot = client.snapshot(ofRegion: region) else { return nil }
    let evidence = snapshot.status.state == .inside ? snapshot.status.evidence : nil
    let now = time.monotonicTime(beacons.wallClockOffset)
    return Approach(
      region, snapshot.status.state, at: time, snapshot.region.rules ?? standard,
      client.approach(toRegion: region), leaving: evidence,
      silence: evidence?.lastSighting.map { max(0, now.seconds(since: $0.time)) })
  }

  func reportNoMatch(_ summary: ScanSummary, _ regions: [NamedRegion], _ options: OutputOptions) {
    guard !options.quiet, !regions.isEmpty,
      let noMatch = noMatch(summary.beacons, of: scanner.counts.sightings, "sightings")
    else { return }
    report(noMatch)
  }

  /// Receives events to the end of the source, until `consume` has enough, or until an interrupt.
  /// Returns the fault of the source. `isWanted` is called on any thread.
  func run(
    while isWanted: (@Sendable () -> Bool)? = nil,
    location consumeLocation: (LocationEvent) throws -> Verdict = { _ in .more },
    _ consume: (BeaconEvent) throws -> Verdict
  ) async throws -> CommandError? {
    let isWatched = isWanted != nil || progress != nil
    let wanted: (@Sendable () -> Bool)? =
      isWatched
      ? { @Sendable [progress] in
        progress?.update()
        return isWanted?() ?? true
      } : nil
    defer { progress?.end() }
    var failure: CommandError?
    var isBeaconsOver = false
    // A live location source has no end.
    var isLocationOver = location?.isLive ?? true
    do {
      try await session.run(
        while: wanted,
        every: .milliseconds(isLive && !isScreen(STDERR_FILENO) ? 1000 : 100)
      ) { event in
        switch event {
        case let event as BeaconEvent:
          switch event {
          case .refused: failure = forbidden
          case .ended(_, isFailure: true):
            failure = beacons.failure.map { CommandError($0, of: scanner.name) }
            return .enough
          case .ended: isBeaconsOver = true
          default: break
          }
          if try consume(event) == .enough || failure != nil { return .enough }
        case let event as LocationEvent:
          if case .ended(let sentence, let isFailure) = event {
            if isFailure {
              failure = location?.failure ?? CommandError(.unavailable, sentence)
              return .enough
            }
            isLocationOver = true
          }
          if try consumeLocation(event) == .enough { return .enough }
        default: return .more
        }
        return isBeaconsOver && isLocationOver ? .enough : .more
      }
    } catch let error as CommandError where error.message == ServiceSession.forbidden.message {
      throw forbidden
    }
    if Interrupt.isRequested, !isLive, failure == nil, scanner.counts.packets == 0 {
      throw CommandError(.interrupted, "interrupted before anything was received")
    }
    return failure
  }

  private var forbidden: CommandError {
    CommandError(scanner.availability, waits: true) ?? ServiceSession.forbidden
  }
}
