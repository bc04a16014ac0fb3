import CaptureFiles
import Frontends
import Glibc
import Ranging
import Records
import Scanning
import ServiceCore

/// A source, the beacon service that receives from it, and the client through which the command uses it.
///
/// The source starts with ``run(while:_:)``: until then the client states what it needs.
final class BeaconSession {
  typealias Verdict = ServiceSession.Verdict

  let scanner: any Scanning.Scanner
  /// Whether adapters receive.
  let isLive: Bool
  let beacons: BeaconService
  let client: BeaconClient
  /// Prints what a person should know, a line each.
  let report: @Sendable (String) -> Void

  /// The service of locations, where circles are monitored too.
  let location: LocationFeed?

  private let replay: ReplayScanner?
  private let session: ServiceSession
  private let progress: Progress?

  /// Creates the service of a scanner, and that of a location source, with a file that keeps registered regions. A
  /// terminal may be shown how far a replay has come; the replay is the scanner where no other is given, of which
  /// the scanner is a part. An adapter that is not there yet, or off, is waited for where that is wanted: the
  /// receiver's state says what is the matter.
  ///
  /// - Throws: `CommandError` where the scanner cannot be used.
  init(
    _ scanner: any Scanning.Scanner, isLive: Bool? = nil, showsProgress: Bool,
    waits: Bool = false,
    stateFile: String? = nil,
    configuration: BeaconService.Configuration = .init(),
    location source: LocationInput? = nil, of replay: ReplayScanner? = nil,
    report: @escaping @Sendable (String) -> Void = printError
  ) throws {
    (self.scanner, self.report) = (scanner, report)
    self.isLive = isLive ?? !scanner.isRecorded
    switch scanner.availability {
    case .available: break
    case .unavailable where waits && !scanner.isRecorded: break
    case .notPermitted(let sentence): throw CommandError(.noPermission, sentence)
    case .unavailable(let sentence): throw CommandError(.unavailable, sentence)
    }
    session = try ServiceSession(stateFile: stateFile, report: report)
    beacons = BeaconService(session.manager, scanner: scanner, configuration: configuration)
    location = source.map { [session] in LocationFeed($0, in: session, report: report) }
    client = BeaconClient(session.client, of: beacons)
    self.replay = replay ?? scanner as? ReplayScanner
    progress = self.replay.flatMap { Progress(of: $0, isWanted: showsProgress) }
  }

  /// Whether it is known which adapter received a sighting.
  var namesAdapters: Bool { replay?.statuses.contains(where: \.namesAdapters) ?? true }

  /// Whether results come as they happen, so that a reader wants each at once.
  var isPaced: Bool {
    location?.isPaced ?? replay.map { $0.speed != .max || $0.follows } ?? true
  }

  /// The wall-clock time at which reception began; `nil` before.
  var began: WallClockTime? { beacons.received?.from.wallClockTime(beacons.wallClockOffset) }

  /// Shows the source to its end: the receiver's state as a line of JSON for each change, on the writer's screen,
  /// or as a sentence on standard error; and what a closure makes of the other events. At the end standard error
  /// has what a user should know of the source.
  ///
  /// A writer's screen and a status line are where a sentence would be drawn over. The closure `end` writes the
  /// rest and is given whether the source had come to its end.
  ///
  /// - Throws: As ``run(while:_:)``, and what was wrong with the source. That nobody reads any more is an error where the
  ///   source goes on, so that a service is started again.
  func show(
    _ options: OutputOptions, to out: StandardOutput, on writer: (any ResultWriter)? = nil,
    status: StatusLine? = nil, showsFindings: Bool = true,
    while isWanted: (@Sendable () -> Bool)? = nil,
    location consumeLocation: (LocationEvent) throws -> Verdict = { _ in .more },
    _ consume: (BeaconEvent) throws -> Verdict, end: (_ isWhole: Bool) throws -> Void
  ) async throws {
    do {
      try await write(
        options, to: out, on: writer, status: status, showsFindings: showsFindings,
        while: isWanted, location: consumeLocation, consume, end: end)
    } catch is ClosedPipe where isLive || replay?.follows == true {
      throw CommandError(
        .ioError, "standard output: the program that read it has closed it; start both again")
    }
  }

  private func write(
    _ options: OutputOptions, to out: StandardOutput, on writer: (any ResultWriter)?,
    status: StatusLine?, showsFindings: Bool, while isWanted: (@Sendable () -> Bool)?,
    location consumeLocation: (LocationEvent) throws -> Verdict,
    _ consume: (BeaconEvent) throws -> Verdict, end: (_ isWhole: Bool) throws -> Void
  ) async throws {
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
    // Of a file that is no recording at all there is nothing to report.
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
  }

  /// Returns the summary with a number of beacons, and how many of them made room for others.
  func summary(of beacons: (count: Int, evictions: Int)) -> ScanSummary {
    ScanSummary(counts: scanner.counts, beacons: beacons.count, evictions: beacons.evictions)
  }

  /// Reports that regions were named and no beacon was in them, although some were received.
  func reportNoMatch(_ summary: ScanSummary, _ regions: [NamedRegion], _ options: OutputOptions) {
    guard !options.quiet, !regions.isEmpty,
      let noMatch = noMatch(summary.beacons, of: scanner.counts.sightings, "sightings")
    else { return }
    report(noMatch)
  }

  /// Receives events to the end of the source, or until it is enough, or until an interrupt, and returns what was wrong
  /// with the source. `isWanted` is called ten times a second, on any thread, and of a live source without a terminal once. An event counts as delivered when `consume`
  /// returns. It throws what that throws; ``CommandError/Status/interrupted`` where nothing had come yet, and
  /// ``CommandError/Status/noPermission`` where the administrator forbids it.
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
    // The services that may deliver more.
    var isBeaconsOver = false
    // A live source of locations has no end of its own.
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
            failure = self.failure
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
    // A radio in a quiet room has nothing to show.
    if Interrupt.isRequested, !isLive, failure == nil, scanner.counts.packets == 0 {
      throw CommandError(.interrupted, "interrupted before anything was received")
    }
    return failure
  }

  /// What was wrong with the source that has ended.
  private var failure: CommandError? {
    switch beacons.failure {
    case nil: nil
    case let error as CaptureError: CommandError(error)
    case let error?: CommandError(.unavailable, "\(scanner.name): \(error)")
    }
  }

  /// Why the source may not be used any more.
  private var forbidden: CommandError {
    if case .notPermitted(let sentence) = scanner.availability {
      return CommandError(.noPermission, sentence)
    }
    return ServiceSession.forbidden
  }
}
