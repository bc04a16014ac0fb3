import Frontends
import LocationSources
import Positioning
import Records
import Scanning
import ServiceCore

/// A location source that options have opened, with the tracks where these are it.
struct LocationInput {
  var source: any LocationSource
  /// The tracks that are replayed; `nil` where the source is live.
  let tracks: TrackReplay?
  /// The compass that belongs to a live source.
  let compass: CompassSource?
  /// Whether results come as they happen, so that a reader wants each at once.
  let isPaced: Bool
  /// Which source is used and why; `nil` for tracks.
  let choice: String?

  init(
    _ source: any LocationSource, tracks: TrackReplay? = nil, compass: CompassSource? = nil,
    isPaced: Bool = true, choice: String? = nil
  ) {
    (self.source, self.tracks, self.isPaced) = (source, tracks, isPaced)
    (self.compass, self.choice) = (compass, choice)
  }
}

/// The location service of a session, and what people should know of its source.
final class LocationFeed {
  typealias Verdict = ServiceSession.Verdict

  let service: LocationService
  let session: ServiceSession
  /// Whether results come as they happen.
  let isPaced: Bool
  private let tracks: TrackReplay?
  private let compass: CompassSource?
  private let choice: String?
  let report: @Sendable (String) -> Void

  var client: LocationClient { LocationClient(session.client, of: service) }
  var isLive: Bool { tracks == nil }

  /// Adds the service of a source to a session.
  init(
    _ input: LocationInput, in session: ServiceSession,
    report: @escaping @Sendable (String) -> Void = printError
  ) {
    (self.session, self.report) = (session, report)
    (tracks, isPaced, choice) = (input.tracks, input.isPaced, input.choice)
    compass = input.compass
    service = LocationService(session.manager, source: input.source)
  }

  /// What was wrong with the source that has ended; `nil` for nothing.
  var failure: CommandError? {
    switch service.failure {
    case nil: nil
    case let error as TrackError: CommandError(error)
    case let error?: CommandError(.unavailable, "\(service.source?.name ?? ""): \(error)")
    }
  }

  /// Why headings cannot be received; `nil` where they can, and for tracks.
  var compassFailure: CommandError? {
    guard let compass else { return nil }
    // It waits for the answer, which the source then knows.
    let availability = compass.availability
    guard service.source?.mayHaveCompass == false else { return nil }
    return switch availability {
    case .available: nil
    case .notPermitted(let sentence): CommandError(.noPermission, sentence)
    case .unavailable(let sentence): CommandError(.unavailable, sentence)
    }
  }

  /// The wall-clock time that the source has come to.
  var now: WallClockTime {
    guard !isLive, let fix = service.latestFix else { return .now }
    return fix.time.wallClockTime(service.wallClockOffset)
  }

  /// Writes to standard error which source is used and why.
  func reportChoice(_ options: OutputOptions) {
    if let choice, !options.quiet { report("beaconscan: \(choice)") }
  }

  /// Writes a change of the source's state: as a line of JSON, on the writer's screen, or as a sentence on standard
  /// error.
  func write(
    _ health: LocationHealth, at time: WallClockTime, _ options: OutputOptions,
    to out: StandardOutput, on writer: (any ResultWriter)?
  ) throws {
    if options.format == .json {
      try out.writeLine((health, time), LocationHealth.record)
      if options.verbose { report("beaconscan: \(health.sentence)") }
    } else if let writer, writer.isScreen {
      try writer.write(trouble: health.condition.isFault ? health.sentence : nil, at: time)
    } else if !options.quiet, health.sentence != choice {
      report("beaconscan: \(health.sentence)")
    }
  }

  /// Shows the source to its end, where there is no other service: its state, and what a closure makes of the other
  /// events. The closure `end` writes the rest. A source that refuses this application its location ends it where
  /// `endsAtRefusal` is set.
  ///
  /// - Throws: What was wrong with the source, and what the closures throw.
  func show(
    _ options: OutputOptions, to out: StandardOutput, on writer: (any ResultWriter)? = nil,
    while isWanted: (@Sendable () -> Bool)? = nil, endsAtRefusal: Bool = false,
    _ consume: (LocationEvent) throws -> Verdict, end: () throws -> Void
  ) async throws {
    reportChoice(options)
    var failure: CommandError?
    do {
      try await session.run(while: isWanted) { event in
        guard let event = event as? LocationEvent else { return .more }
        switch event {
        case .health(let health, let time):
          if endsAtRefusal, health.subject == .locations,
            health.condition == .denied || health.condition == .notPermitted
          {
            failure = CommandError(.noPermission, health.sentence)
          }
          if failure == nil || options.format == .json {
            try write(health, at: time, options, to: out, on: writer)
          }
        case .refused: failure = refusal
        case .ended(let sentence, let isFailure):
          if isFailure { failure = self.failure ?? CommandError(.unavailable, sentence) }
          return .enough
        default: break
        }
        return failure == nil ? try consume(event) : .enough
      }
      // Of a file that is no recording at all there is nothing to report.
      if let failure, let tracks, tracks.counts.allSatisfy({ $0.counts.records == 0 }) {
        throw failure
      }
      try end()
      try out.flush()
    } catch is ClosedPipe where isLive || isPaced {
      throw CommandError(
        .ioError, "standard output: the program that read it has closed it; start both again")
    }
    remark(options)
    if let failure { throw failure }
    if Interrupt.isRequested, !isLive, service.latestFix == nil {
      throw CommandError(.interrupted, "interrupted before anything was received")
    }
  }

  /// Why the source may not be used any more.
  private var refusal: CommandError {
    if case .notPermitted(let sentence)? = service.source?.availability {
      return CommandError(.noPermission, sentence)
    }
    return ServiceSession.forbidden
  }

  /// What was counted in each track.
  var summaries: [TrackSummary] {
    tracks?.counts.map { TrackSummary(file: $0.name, counts: $0.counts) } ?? []
  }

  /// Writes to standard error what a user should know of the tracks: what was discarded, and with --verbose also
  /// what else is strange about them; nothing with --quiet, and nothing that lines of JSON have.
  func remark(_ options: OutputOptions) {
    guard !options.quiet else { return }
    for summary in summaries {
      if failure == nil, !Interrupt.isRequested, let noFix = summary.noFix {
        report(noFix)
        continue
      }
      if options.verbose { report("beaconscan: \(summary.file): \(summary.sentence)") }
      for remark in summary.remarks(includesDelivered: options.verbose) {
        report("beaconscan: \(summary.file): \(remark)")
      }
    }
  }
}
