import ArgumentParser
import CaptureFiles
import Frontends
import LocationSources
import Positioning
import Ranging
import Records
import Regions
import Scanning
import ServiceCore

struct MonitorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "monitor",
    abstract:
      "Show when regions of beacons and circles on the earth are entered and left, and why.",
    discussion: """
      A region is entered with the first of its beacons that meets the rules and left with the \
      last. With --each, each of its beacons enters and leaves. Without other options, one \
      sighting is enough to enter, and a beacon is gone after its exit timeout, which is learned \
      from its own gaps. The rules hold for every region; those that a region has of its own come \
      first: --region door=UUID,enter-distance=1,each. See docs/regions.md.

      A circle on the earth is a region too: --region NAME=LATITUDE,LONGITUDE,RADIUS, in degrees and \
      meters. Fixes come from a track among the recordings, or as beaconscan locate receives them; \
      where they are too coarse for a circle, its state stays.

      At the start every region counts as outside, so that someone who is there already enters. \
      The first lines of --format json and csv, and the first events of --exec, are the states at \
      the start. With --state-file monitoring resumes with the stored states, also after a crash; \
      an event counts as reported when its line was written.

      On a terminal, a live run and a paced replay (--speed 1x) redraw a table of the regions in \
      place; the keys d, n and l sort it, and q ends it. While reception is lost no region is left; \
      standard error has the reason, and monitoring resumes by itself.

      --exec runs a command by /bin/sh for each event, one at a time; of more than 256 events that \
      wait the oldest are dropped. The event is a line of JSON on its standard input, and its \
      columns in --format csv are in the environment where they are known: BEACONSCAN_TYPE (enter, \
      exit, state), BEACONSCAN_STATE (inside, outside), BEACONSCAN_REGION, BEACONSCAN_TIME, \
      BEACONSCAN_BEACONS (how many are inside) and so on. What it prints goes to standard error.

      EXAMPLES
        beaconscan monitor --region lobby=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 \\
          --state-file regions
        beaconscan monitor --each --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 \\
          --replay captures/visitor.btsnoop
        beaconscan monitor --region stop=52.5163,13.3777,200 captures/visitor.gpx \\
          --region kiosk=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:100 \\
          captures/visitor.btsnoop
        beaconscan monitor --uuid 0EDCE000-1111-4222-8333-444455556666 \\
          --exec 'echo "$BEACONSCAN_STATE" > screen' --exit-after 30 \\
          --state-file regions --replay captures/edge.btsnoop
      """)

  @Argument(Inputs.files) var files: [String]

  @OptionGroup var source: SourceOptions
  @OptionGroup(title: "Input") var pace: PaceOptions
  @OptionGroup(title: "Location") var location: LocationOptions
  @OptionGroup(title: "Which beacons") var regions: RegionOptions
  @OptionGroup(title: "Rules") var rules: RuleOptions
  @OptionGroup(title: "Distance") var calibration: CalibrationOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Output") var clock: ZoneOption

  @Option(Inputs.stateFile) var stateFile: String?
  @Option(Inputs.exec("Run this on each event, by /bin/sh.")) var exec: String?
  @Option(Inputs.count("Stop after so many entries and exits.").rare) var count: Int?

  @Flag(
    .flag(
      "explain", "Show each region's rules, and how near its beacons came to meeting each.",
      details: "Without it, only the regions that were not entered are explained, at the end."))
  var explain: Bool

  mutating func validate() throws {
    source.recordings.set(pace)
    try source.check(adding: files)
    if !source.isLive, Settings.current.usesEveryRegion {
      regions.leaveOut(notIn: source.recordings.replay, areSomeNeeded: true)
    }
    try location.check(beside: source.recordings.replay)
    if regions.all.isEmpty, regions.circles.isEmpty {
      throw ValidationError(
        "No region is named; name one, for example with "
          + "--region lobby=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 or --uuid UUID, "
          + "or a circle with --region fair=LATITUDE,LONGITUDE,RADIUS.")
    }
  }

  func run() async throws {
    try exec.map(EventCommand.init(script:))?.check()
    try calibration.check(source, isQuiet: output.quiet)
    // Rules are checked before anything is stored.
    _ = try self.rules.apply(to: regions.all)
    let rules = try rules.rules
    let out = StandardOutput()
    let (captures, tracks) = RecordingFormat.sort(
      source.recordings.replay, pipesAreTracks: regions.all.isEmpty)
    guard !regions.circles.isEmpty else {
      if let track = tracks.first {
        throw CommandError(
          .badData,
          "\(track): it is a track, and no region is a circle; leave it out, or name a circle "
            + "too: --region fair=LATITUDE,LONGITUDE,RADIUS")
      }
      return try await run(
        BeaconSession(
          source.open(offsets: calibration.adapterOffset, waits: true),
          showsProgress: !output.quiet,
          waits: true, stateFile: stateFile, configuration: configuration(rules)), rules, to: out)
    }
    if !source.isLive {
      try regions.check(captures, tracks)
      if let capture = captures.first, regions.all.isEmpty {
        throw CommandError(
          .badData,
          "\(capture): it is not a track, and every region is a circle; leave it out, or name a region of "
            + "beacons too")
      }
    }
    var input =
      source.isLive ? try location.open(waits: true) : try source.recordings.open(tracks: tracks)
    guard !regions.all.isEmpty else {
      let session = try ServiceSession(stateFile: stateFile, report: printError)
      return try await run(LocationFeed(input, in: session), rules, to: out)
    }
    var source = source
    source.recordings.replay = captures
    var scanner = try source.open(offsets: calibration.adapterOffset, waits: true)
    let replay = scanner as? ReplayScanner
    if let replay, let tracks = input.tracks {
      let merged = MergedReplay(replay, tracks, startsTogether: true)
      scanner = merged.scanner
      input.source = merged.source
    }
    try await run(
      BeaconSession(
        scanner, showsProgress: !output.quiet, waits: true, stateFile: stateFile,
        configuration: configuration(rules), location: input, of: replay), rules, to: out)
  }

  func configuration(_ rules: RegionRules) -> BeaconService.Configuration {
    var configuration = BeaconService.Configuration()
    configuration.rules = rules
    calibration.apply(to: &configuration)
    return configuration
  }

  func run(_ session: BeaconSession, _ standard: RegionRules, to out: StandardOutput) async throws {
    let monitor = makeOutput(standard, session: session, location: session.location, to: out)
    defer { monitor.commands?.finish() }
    try register(in: session, ranges: monitor.writer.isScreen, &monitor.events)
    func writeStates(at time: WallClockTime?) throws {
      guard let time else { return }
      let offset = session.beacons.wallClockOffset
      for line in monitor.events.removeStates(at: time, offset) { try monitor.write(line) }
      session.client.stopSightings()
    }
    // A recording's start is known with its first sighting, a live source's with its state.
    if !session.isLive { try session.client.startSightings() }
    if let feed = session.location { try registerCircles(in: feed, &monitor.events) }
    try await session.show(
      output, to: out, on: monitor.writer,
      location: { event in
        guard let feed = session.location else { return .more }
        return try monitor.receive(event, from: feed)
      }
    ) { event in
      switch event {
      case .region(let event):
        if !session.isLive { try writeStates(at: session.began) }
        try monitor.write(monitor.events.line(of: event))
      case .ranging(let report): try monitor.writer.write(report)
      case .sightings: try writeStates(at: session.began)
      case .health(_, let time): try writeStates(at: time)
      case .regionState, .registered, .identity, .refused, .ended: break
      }
      return monitor.isEnough ? .enough : .more
    } end: { _ in
      try writeStates(at: session.began)
      if let feed = session.location { try monitor.end(feed, output, to: out) }
      let end = session.beacons.received?.to.wallClockTime(session.beacons.wallClockOffset)
      let names = regions.all.map(\.name).filter { explain || !monitor.entered.contains($0) }
      if let end {
        try monitor.writer.write(names.compactMap { session.approach(to: $0, standard, at: end) })
      }
      let summary = session.summary(of: session.beacons.beaconsMonitored)
      try monitor.writer.end(summary)
      session.reportNoMatch(summary, regions.all, output)
      source.reportOthers(summary.counts, output)
    }
  }

  func run(_ feed: LocationFeed, _ rules: RegionRules, to out: StandardOutput) async throws {
    let monitor = makeOutput(rules, session: nil, location: feed, to: out)
    defer { monitor.commands?.finish() }
    try registerCircles(in: feed, &monitor.events)
    try await feed.show(
      output, to: out, on: monitor.writer, duration: source.recordings.nanoseconds
    ) { event in
      try monitor.receive(event, from: feed)
    } end: {
      try monitor.end(feed, output, to: out)
      try monitor.writer.end()
    }
  }

  private func makeOutput(
    _ rules: RegionRules, session: BeaconSession?, location: LocationFeed?, to out: StandardOutput
  ) -> MonitorOutput {
    let isPaced = session?.isPaced ?? location?.isPaced ?? true
    // Commands and state files must not get ahead of the output.
    out.apply(output.form, clock.zone)
    out.flushesLines = out.isTerminal || isPaced || exec != nil || stateFile != nil
    let line = EventLine(
      regions: regions.all.map(\.name) + regions.circles.map(\.identifier),
      showsCircles: !regions.circles.isEmpty)
    // A command's output would be drawn over.
    let writer: any ResultWriter =
      output.format == .table && out.isTerminal && isPaced && exec == nil
      ? LiveMonitorWriter(
        output: out, regions: regions.all, circles: regions.circles, session: session,
        location: location, line: line, explaining: explain ? rules : nil)
      : EventWriter(output: out, format: output.format, line: line, explains: explain)
    return MonitorOutput(
      writer, exec.map { EventCommands($0, isWaitedFor: !isPaced) }, MonitorEvents(rules: rules),
      count: count)
  }

  /// Registers only these circles. Those in the state file keep their states.
  private func registerCircles(in feed: LocationFeed, _ events: inout MonitorEvents) throws {
    do throws(LocationServiceError) {
      // The start of a track is known with its first fix.
      if !feed.isLive { try feed.client.startUpdates() }
      for name in try feed.client.replaceCircles(with: regions.circles, &events) {
        reportRemoved(name)
      }
    } catch {
      throw CommandError(.unavailable, "\(error)")
    }
  }

  private func reportRemoved(_ name: String) {
    guard !output.quiet else { return }
    printError(
      "beaconscan: the state file has the region '\(name)', which is not named any "
        + "more; it was removed")
  }

  private func register(
    in session: BeaconSession, ranges: Bool, _ events: inout MonitorEvents
  ) throws {
    let client = session.client
    let registered = try rules.apply(to: regions.all)
    do throws(BeaconServiceError) {
      for name in try client.replaceRegions(with: registered, &events) {
        reportRemoved(name)
      }
      if ranges { try client.startRanging(registered.map { RangingRequest($0.constraint) }) }
    } catch {
      throw CommandError(
        session.scanner.availability == .available ? .usage : .unavailable, "\(error)")
    }
  }
}
