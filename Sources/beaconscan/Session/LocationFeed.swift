import Frontends
import LocationSources
import Positioning
import Records
import Scanning
import ServiceCore

struct LocationInput {
  var source: any LocationSource
  /// The replayed tracks, or `nil` for a live source.
  var tracks: TrackReplay?
  var compass: CompassSource?
  /// Whether results arrive in real time, so that each is written at once.
  var isPaced = true
  /// The name of the source and the reason for its choice, or `nil` for tracks.
  var choice: String?
}

final class LocationFeed {
  let service: LocationService
  let session: ServiceSession
  private let input: LocationInput
  let report: @Sendable (String) -> Void

  var client: LocationClient { LocationClient(session.client, of: service) }
  var isLive: Bool { input.tracks == nil }
  var isPaced: Bool { input.isPaced }

  init(
    _ input: LocationInput, in session: ServiceSession,
    report: @escaping @Sendable (String) -> Void = printError
  ) {
    self.session = session
    self.report = report
    self.input = input
    service = LocationService(session.manager, source: input.source)
  }

  var failure: CommandError? {
    service.failure.map { CommandError($0, of: service.source?.name ?? "") }
  }

  var compassFailure: CommandError? {
    guard let compass = input.compass else { return nil }
    // Reading it waits for the answer, which the source then knows.
    let availability = compass.availability
    guard service.source?.mayHaveCompass == false else { return nil }
    return CommandError(availability)
  }

  var now: WallClockTime {
    guard !isLive, let fix = service.latestFix else { return .now }
    return fix.time.wallClockTime(service.wallClockOffset)
  }

  func reportChoice(_ options: OutputOptions) {
    if let choice = input.choice, !options.quiet { report("beaconscan: \(choice)") }
  }

  func write(
    _ health: LocationHealth, at time: WallClockTime, _ options: OutputOptions,
    to out: StandardOutput, on writer: (any ResultWriter)?
  ) throws {
    if options.format == .json {
      try out.writeLine((health, time), LocationHealth.record)
      if options.verbose { report("beaconscan: \(health.sentence)") }
    } else if let writer, writer.isScreen {
      try writer.write(trouble: health.condition.isFault ? health.sentence : nil, at: time)
    } else if !options.quiet, health.sentence != input.choice {
      report("beaconscan: \(health.sentence)")
    }
  }

  /// Handles events to the end of a source that is the only one. A live source ends after the
  /// duration in nanoseconds. With `endsAtRefusal`, a source that denies access to the location
  /// ends the run.
  func show(
    _ options: OutputOptions, to out: StandardOutput, on writer: (any ResultWriter)? = nil,
    duration: Int64?, endsAtRefusal: Bool = false,
    _ consume: (LocationEvent) throws -> Verdict, end writeEnd: () throws -> Void
  ) async throws {
    reportChoice(options)
    let end = isLive ? duration.map { MonotonicTime.now.advanced(by: $0) } : nil
    var failure: CommandError?
    do {
      try await session.run(
        while: end.map { end in { @Sendable in MonotonicTime.now < end } }
      ) { event in
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
        case .refused: failure = forbidden
        case .ended(let sentence, let isFailure):
          if isFailure { failure = self.failure ?? CommandError(.unavailable, sentence) }
          return .enough
        default: break
        }
        return failure == nil ? try consume(event) : .enough
      }
      // A file that is not a recording yields no report.
      if let failure, let tracks = input.tracks,
        tracks.counts.allSatisfy({ $0.counts.records == 0 })
      {
        throw failure
      }
      try writeEnd()
      try out.flush()
    } catch is ClosedPipe where isLive || isPaced {
      throw CommandError.readerGone
    }
    remark(options)
    if let failure { throw failure }
    if Interrupt.isRequested, !isLive, service.latestFix == nil {
      throw CommandError(.interrupted, "interrupted before anything was received")
    }
  }

  private var forbidden: CommandError {
    service.source.flatMap { CommandError($0.availability, waits: true) }
      ?? ServiceSession.forbidden
  }

  var summaries: [TrackSummary] {
    input.tracks?.counts.map { TrackSummary(file: $0.name, counts: $0.counts) } ?? []
  }

  /// Writes remarks on the tracks to standard error, except those that JSON lines contain.
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
