import ArgumentParser
import CaptureFiles
import Frontends
import LocationSources
import Positioning
import Records
import Scanning
import ServiceCore

struct LocateCommand: AsyncParsableCommand, MainSection {
  static let mainSection = "Location"

  static let configuration = CommandConfiguration(
    commandName: "locate",
    abstract: "Show where this machine is: now, or as it moves; headings and visits.",
    discussion: """
      Without other options it shows one fix and ends: the first that is accurate to 10 m, or to \
      --accuracy, or the best within 10 seconds of the first. With --follow, --duration, --count, \
      --heading or --visits it shows each fix until it is interrupted.

      Locations come from gpsd, from GeoClue or from the --position; standard error has the choice \
      and its reason. The accuracy is the radius that contains this machine with a probability of \
      68 %. What a source does not know is null, or empty. With --interval a live source works no \
      more often than that.

      A recorded track is replayed with --replay, or by its name: NMEA 0183, GPX or a log of gpsd \
      (JSON). All its fixes are shown, on its own time, and what was discarded and why.

      EXAMPLES
        beaconscan locate --source gpsd
        beaconscan locate --follow --interval 10 --format json
        beaconscan locate --replay captures/visitor.gpx --distance 100
        beaconscan locate --position 52.5163,13.3777,34 --source fixed
      """)

  @Argument(.file("files", "Tracks, as with --replay.", valid: "")) var files: [String]

  @OptionGroup(title: "Input") var recordings: RecordingOptions
  @OptionGroup(title: "Input") var pace: PaceOptions
  @OptionGroup(title: "Location") var location: LocationOptions
  @OptionGroup(title: "Input") var configuration: ConfigurationOption

  @Option(
    Inputs.meters(
      "accuracy", "The accuracy that is needed; coarser ones cost less power.", shown: "the best"))
  var accuracy: Double?

  @Option(
    Inputs.meters("distance", "Show a fix only so far from the one before.", shown: "every fix"))
  var distance: Double?

  @Option(
    .time(
      "interval", "Show a fix at most every so often, at most 1d: 10s, 1m.",
      in: .leastNonzeroMagnitude...86400, shown: "every fix",
      valid: "write \(Seconds.example), of more than 0 and at most 1d"))
  var interval: Seconds?

  @Flag(Inputs.heading) var heading: Bool
  @Flag(Inputs.visits) var visits: Bool

  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Output") var clock: ZoneOption

  @Option(Inputs.count("Stop after so many fixes.").rare) var count: Int?

  mutating func validate() throws {
    recordings.set(pace)
    try recordings.check(adding: files, beside: location.liveOption)
    try location.check(beside: recordings.replay)
    if isLive, recordings.speed != .max, Settings.current.isGiven("speed") {
      throw ValidationError("--speed belongs to a recording; name it with --replay FILE.")
    }
  }

  private var isLive: Bool { recordings.replay.isEmpty }

  private var isOnce: Bool {
    isLive && !recordings.follow && recordings.duration == nil && count == nil && !heading
      && !visits
  }

  func run() async throws {
    let session = try ServiceSession(report: printError)
    let input =
      isLive
      ? try location.open(waits: recordings.follow) : try recordings.open(tracks: recordings.replay)
    try await run(LocationFeed(input, in: session), to: StandardOutput())
  }

  func run(_ feed: LocationFeed, to out: StandardOutput) async throws {
    out.apply(output.form, clock.zone)
    out.flushesLines = out.isTerminal || feed.isPaced
    let service = feed.service
    let table = LocateLine.row(showsHeadings: heading, showsVisits: visits)
    var left = count ?? .max
    var gate = IntervalGate(interval, isLive: isLive)
    func write(_ line: LocateLine) throws {
      switch output.format {
      case .json: try out.writeLine(line, line.record)
      case .csv: try out.writeLine(line, LocateLine.row, .csv)
      case .table: try out.writeLine(line, table, .table)
      }
    }
    if heading, let failure = feed.compassFailure { throw failure }
    do throws(LocationServiceError) {
      let needed = AccuracyClass(desiredAccuracy: accuracy ?? (isOnce ? 10 : -1))
      if isOnce {
        try feed.client.requestFix(needed)
      } else {
        var settings = UpdateSettings()
        settings.accuracy = needed
        settings.distanceFilter = distance
        settings.interval = interval?.value ?? 0
        settings.pausesAutomatically = false
        settings.takesBatches = true
        try feed.client.startUpdates(settings)
      }
      if heading, isLive || service.source?.hasCompass == true {
        try feed.client.startHeadings()
      } else if heading {
        feed.report("\(recordings.replay.joined(separator: ", ")): no headings are recorded here")
      }
      if visits { try feed.client.startVisits() }
    } catch {
      throw CommandError(.unavailable, "\(error)")
    }
    try await feed.show(
      output, to: out, duration: recordings.nanoseconds, endsAtRefusal: true
    ) { event in
      switch event {
      case .fixes(let fixes):
        for fix in fixes where left > 0 && gate.admits(fix) {
          try write(.fix(fix))
          left -= 1
        }
      case .requestedFix(let fix):
        try write(.fix(fix))
        return .enough
      case .requestTimedOut:
        throw CommandError(
          .unavailable,
          "no fix came; "
            + (service.health.flatMap { $0.condition.isFault ? $0.sentence : nil }
              ?? "place the receiver under the open sky")
            + "; or give the place: --position LATITUDE,LONGITUDE")
      case .requestFailed(let health): throw CommandError(.noPermission, health.sentence)
      case .heading(let heading): try write(.heading(heading))
      case .visit(let visit): try write(.visit(visit, at: feed.now))
      default: break
      }
      return left > 0 ? .more : .enough
    } end: {
      switch output.format {
      case .json: try out.write(feed.summaries, TrackSummary.record, .json)
      case .csv: try out.writeHeader(LocateLine.row, .csv)
      case .table: if !out.hasWritten { try out.write("no fix\n") }
      }
    }
  }
}

private struct IntervalGate {
  private let nanoseconds: Int64
  private var next: MonotonicTime?

  /// Creates a gate. A live source keeps the interval itself, and its fixes may be a tenth early.
  init(_ interval: Seconds?, isLive: Bool) {
    nanoseconds = Int64((interval?.value ?? 0) * (isLive ? 0.9e9 : 1e9))
  }

  mutating func admits(_ fix: Fix) -> Bool {
    guard next.map({ fix.time >= $0 }) ?? true else { return false }
    next = fix.time.advanced(by: nanoseconds)
    return true
  }
}
