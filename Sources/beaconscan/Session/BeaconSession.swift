import CaptureFiles
import Dispatch
import Glibc
import Ranging
import Records
import Scanning
import ServiceCore
import Synchronization

/// A source, the beacon service that receives from it, and the client through which the command uses it.
///
/// The source starts with ``run(while:_:)``: until then the client states what it needs.
final class BeaconSession {
  /// What a consumer of events wants next.
  enum Verdict { case more, enough }

  let scanner: any Scanning.Scanner
  /// Whether adapters receive.
  let isLive: Bool
  let beacons: BeaconService
  let client: ClientIdentifier
  /// Prints what a person should know, a line each.
  let report: @Sendable (String) -> Void

  private let replay: ReplayScanner?
  private let manager: ServiceManager
  private let authorization = AuthorizationOnStart()
  private let progress: Progress?
  /// A recording stands still until the next event is requested, so that what is shown of it at the end does not
  /// change meanwhile.
  private var events: ClientEvents<BeaconEvent>.Iterator

  /// Creates the service of a scanner, with a file that keeps registered regions. A terminal may be shown how far a
  /// replay has come.
  ///
  /// - Throws: `CommandError` where the scanner cannot be used.
  init(
    _ scanner: any Scanning.Scanner, isLive: Bool? = nil, showsProgress: Bool,
    stateFile: String? = nil, configuration: BeaconService.Configuration = .init(),
    report: @escaping @Sendable (String) -> Void = printError
  ) throws {
    (self.scanner, self.report) = (scanner, report)
    self.isLive = isLive ?? !scanner.isRecorded
    switch scanner.availability {
    case .available: break
    case .notPermitted(let sentence): throw CommandError(.noPermission, sentence)
    case .unavailable(let sentence): throw CommandError(.unavailable, sentence)
    }
    var settings = ServiceManager.Configuration()
    settings.applicationIdentifier = "beaconscan"
    settings.persistence = stateFile.map { .file($0) } ?? .none
    settings.authorization = authorization
    settings.logger = diagnostics(to: report)
    manager = ServiceManager(settings)
    if let failure = manager.storageFailure { throw CommandError(.cannotCreate, failure) }
    beacons = BeaconService(manager, scanner: scanner, configuration: configuration)
    client = manager.addClient(isReceiving: false)
    events = beacons.events(for: client).makeAsyncIterator()
    replay = scanner as? ReplayScanner
    progress = replay.flatMap { Progress(of: $0, isWanted: showsProgress) }
  }

  /// Whether it is known which adapter received a sighting.
  var namesAdapters: Bool { replay?.statuses.contains(where: \.namesAdapters) ?? true }

  /// Whether results come as they happen, so that a reader wants each at once.
  var isPaced: Bool { replay.map { $0.speed != .max || $0.follows } ?? true }

  /// Shows the source to its end: the receiver's state as a line of JSON for each change, on the writer's screen,
  /// or as a sentence on standard error; and what a closure makes of the other events. At the end standard error
  /// has what a user should know of the source.
  ///
  /// A writer's screen and a status line are where a sentence would be drawn over. The closure `end` writes the
  /// rest and is given whether the source had come to its end.
  ///
  /// - Throws: As ``run(while:_:)``, and what was wrong with the source.
  func show(
    _ options: OutputOptions, to out: StandardOutput, on writer: (any ResultWriter)? = nil,
    status: StatusLine? = nil, showsFindings: Bool = true,
    while isWanted: (@Sendable () -> Bool)? = nil,
    _ consume: (BeaconEvent) throws -> Verdict, end: (_ isWhole: Bool) throws -> Void
  ) async throws {
    var tally = HealthTally()
    let failure = try await run(while: isWanted) { event in
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
    while isWanted: (@Sendable () -> Bool)? = nil, _ consume: (BeaconEvent) throws -> Verdict
  ) async throws -> CommandError? {
    manager.setReceiving(true, for: client)
    authorization.start()
    manager.requestAuthorization(.authorizedAlways)
    guard manager.authorizationStatus.isAuthorized else { throw forbidden }
    // Without the client, its events end.
    let interrupt = Interrupt.onRequest { [manager, client] in manager.removeClient(client) }
    let watch =
      isWanted == nil && progress == nil
      ? nil
      : Task.detached { [manager, client, progress, isLive] in
        let isShown = isScreen(STDERR_FILENO)
        while isWanted?() ?? true, !Task.isCancelled {
          progress?.update()
          try? await Task.sleep(for: .milliseconds(isLive && !isShown ? 1000 : 100))
        }
        if !Task.isCancelled { manager.removeClient(client) }
      }
    defer {
      interrupt.cancel()
      watch?.cancel()
      progress?.clear()
      manager.flush()
    }
    var failure: CommandError?
    do {
      while !Interrupt.isRequested, let event = try await events.next() {
        if case .refused = event { failure = forbidden }
        let verdict = try consume(event)
        events.acknowledge()
        if verdict == .enough || failure != nil { break }
      }
    } catch let error as CaptureError {
      failure = CommandError(error)
    } catch let error where !(error is CommandError || error is ClosedPipe) {
      failure = CommandError(.unavailable, "\(scanner.name): \(error)")
    } catch {
      await manager.stop()
      throw error
    }
    // A controller scans on without its host.
    await manager.stop()
    // A radio in a quiet room has nothing to show.
    if Interrupt.isRequested, !isLive, failure == nil, scanner.counts.packets == 0 {
      throw CommandError(.interrupted, "interrupted before anything was received")
    }
    return failure
  }

  /// Why the source may not be used any more.
  private var forbidden: CommandError {
    if case .notPermitted(let sentence) = scanner.availability {
      return CommandError(.noPermission, sentence)
    }
    return CommandError(
      .noPermission,
      "the administrator does not allow beaconscan to receive; see \(SystemAuthorization.path)")
  }
}

/// The system's authorization, but nothing before the start: a source that starts with the first of several
/// requests would be ahead of the others.
private final class AuthorizationOnStart: AuthorizationProvider {
  private let system = SystemAuthorization()
  private let hasStarted = Atomic<Bool>(false)

  func start() { hasStarted.store(true, ordering: .releasing) }

  func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
    hasStarted.load(ordering: .acquiring)
      ? system.rule(for: application, scanner: scanner) : .granted(.notDetermined)
  }
}
