import ArgumentParser
import Ranging
import Records
import Regions
import Scanning
import ServiceCore

/// `beaconscan monitor`: entering and leaving regions.
struct MonitorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "monitor",
    abstract: "Show when regions are entered and left, and why.",
    discussion: """
      A region is entered with the first of its beacons that meets the rules and left with the \
      last. With --each, each of its beacons enters and leaves. Without other options, one \
      sighting is enough to enter, and a beacon is gone after its exit timeout, which is learned \
      from its own gaps. See docs/regions.md.

      The rules hold for every region; those that a region has of its own come first. They stand \
      behind its beacons, under the names of the options: --region door=UUID,enter-distance=1,each.

      At the start every region counts as outside, so that someone who is there already enters. \
      The first lines of --format json and csv, and the first events of --exec, are the states at \
      the start. \
      With --state-file monitoring resumes with the stored states, also after a crash, and reports \
      only what really changed; an event counts as reported when its line was written.

      On a terminal, a live run and a paced replay (--speed 1x) redraw a table of the regions in \
      place; the keys d, n and l sort it by distance, name or last change, and q ends it. Otherwise \
      there is a line for each event.

      Without --replay an adapter receives. While reception is lost no region is left; standard \
      error has the reason, and monitoring resumes by itself. What several adapters receive is one \
      beacon.

      --exec runs a command by /bin/sh for each event. The event stands as a line of JSON on its \
      standard input, and its columns in --format csv stand in the environment where they are \
      known: BEACONSCAN_TYPE (enter, exit, state), BEACONSCAN_STATE (inside, outside), \
      BEACONSCAN_REGION, BEACONSCAN_TIME, BEACONSCAN_RULE, BEACONSCAN_DWELL, BEACONSCAN_UUID, \
      BEACONSCAN_MAJOR, BEACONSCAN_MINOR, BEACONSCAN_RSSI, BEACONSCAN_DISTANCE, \
      BEACONSCAN_BEACONS (how many are inside) and so on. What it prints goes to standard error. One runs at a time, in the order of the \
      events; monitoring goes on meanwhile, and of more than 256 events that wait the oldest are \
      dropped. A replay that is not paced waits for each.

      EXAMPLES
        beaconscan monitor --region lobby=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 \\
          --state-file regions
        beaconscan monitor --each --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 \\
          --replay captures/visitor.btsnoop
        beaconscan monitor --enter-distance 1 --exit-distance 3 --format json \\
          --region kiosk=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:100 \\
          --replay captures/visitor.btsnoop
        beaconscan monitor --uuid 0EDCE000-1111-4222-8333-444455556666 \\
          --exec 'echo "$BEACONSCAN_STATE" > screen' --exit-after 30 \\
          --state-file regions --replay captures/edge.btsnoop
      """)

  @Argument(help: "Recordings, as with --replay.", completion: .file())
  var files: [String] = []

  @OptionGroup var source: SourceOptions
  @OptionGroup var regions: RegionOptions
  @OptionGroup var rules: RuleOptions
  @OptionGroup var calibration: CalibrationOptions
  @OptionGroup var output: OutputOptions

  @Option(
    help: ArgumentHelp(
      "Keep regions and their states here, and resume with what is there.", valueName: "file"),
    completion: .file())
  var stateFile: String?

  @Option(help: ArgumentHelp("Run this on each event, by /bin/sh.", valueName: "command"))
  var exec: String?

  @Option(help: ArgumentHelp("Stop after so many entries and exits.", valueName: "number"))
  var count: Int?

  mutating func validate() throws {
    try source.check(adding: files)
    if regions.all.isEmpty {
      throw ValidationError(
        "No region is named; name one, for example with "
          + "--region lobby=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 or --uuid UUID.")
    }
    try checkCount(count)
    if stateFile?.isEmpty == true { throw ValidationError("--state-file must have a name.") }
    if stateFile == "-" {
      throw ValidationError("--state-file is a file that stays; write its name, not -.")
    }
  }

  func run() async throws {
    try exec.map(EventCommand.init(script:))?.check()
    try calibration.check(source, isQuiet: output.quiet)
    // A wrong rule is found before anything is stored.
    for region in regions.all { _ = try self.rules.rules(of: region) }
    let rules = try rules.rules
    try await run(
      BeaconSession(
        source.open(offsets: calibration.adapterOffset), showsProgress: !output.quiet,
        stateFile: stateFile, configuration: configuration(rules)), rules, to: StandardOutput())
  }

  func configuration(_ rules: RegionRules) -> BeaconService.Configuration {
    var configuration = BeaconService.Configuration()
    configuration.rules = rules
    calibration.apply(to: &configuration)
    return configuration
  }

  func run(_ session: BeaconSession, _ rules: RegionRules, to out: StandardOutput) async throws {
    // What a command acts on, and what will not be reported again, was written before.
    out.apply(output.form)
    out.flushesLines = out.isTerminal || session.isPaced || exec != nil || stateFile != nil
    let line = EventLine(regions: regions.all)
    // What a command prints would be drawn over.
    let writer: any ResultWriter =
      output.format == .table && out.isTerminal && session.isPaced && exec == nil
      ? LiveMonitorWriter(output: out, regions: regions.all, session: session, line: line)
      : EventWriter(output: out, format: output.format, line: line)
    let commands = exec.map { EventCommands($0, isWaitedFor: !session.isPaced) }
    var events = MonitorEvents(rules: rules)
    try register(in: session, ranges: writer.isScreen, &events)
    var left = count ?? .max
    defer { commands?.finish() }
    func write(_ line: MonitorEvent) throws {
      try writer.write(line)
      commands?.run(on: HookEvent(line))
      if line.kind != .state { left -= 1 }
    }
    func writeStates(at time: WallClockTime?) throws {
      guard let time else { return }
      let offset = session.beacons.wallClockOffset
      for line in events.removeStates(at: time, offset) { try write(line) }
      session.beacons.stopSightings(for: session.client)
    }
    // The first moment of a recording is known with its first sighting, that of an adapter with its state.
    if !session.isLive { try session.beacons.startSightings(for: session.client) }
    try await session.show(output, to: out, on: writer) { event in
      switch event {
      case .region(let event): try write(events.line(of: event))
      case .ranging(let report): try writer.write(report)
      case .sightings: try writeStates(at: session.began)
      case .health(_, let time): try writeStates(at: time)
      case .regionState, .registered, .identity, .refused, .ended: break
      }
      return left > 0 ? .more : .enough
    } end: { _ in
      try writeStates(at: session.began)
      let summary = session.summary(of: session.beacons.beaconsMonitored)
      try writer.end(summary)
      session.reportNoMatch(summary, regions.all, output)
    }
  }

  /// Registers the regions, and no others; those that the state file has resume with their states.
  private func register(
    in session: BeaconSession, ranges: Bool, _ events: inout MonitorEvents
  ) throws {
    let (beacons, client, regions) = (session.beacons, session.client, regions.all)
    let stored = beacons.regions(of: client)
    for old in stored where !regions.contains(where: { $0.name == old.identifier }) {
      beacons.unregister(old.identifier, for: client)
      guard !output.quiet else { continue }
      printError(
        "beaconscan: the state file has the region '\(old.identifier)', which is not named any "
          + "more; it was removed")
    }
    for region in regions {
      let registered = BeaconRegion(
        identifier: region.name, constraint: region.constraint,
        rules: region.rules.isEmpty ? nil : try rules.rules(of: region))
      var state = RegionState.outside
      var insideSince: WallClockTime?
      // Other rules for the same beacons begin with what is known of them.
      if stored.contains(where: {
        $0.identifier == region.name && $0.constraint == region.constraint
      }), let known = beacons.snapshot(ofRegion: region.name, for: client) {
        if known.status.state != .unknown { state = known.status.state }
        if state == .inside { insideSince = known.since }
      }
      do throws(BeaconServiceError) {
        try beacons.register(registered, assuming: state, for: client)
        if let snapshot = beacons.snapshot(ofRegion: region.name, for: client) {
          events.begin(with: snapshot, insideSince: insideSince)
        }
        if ranges { try beacons.startRanging(RangingRequest(region.constraint), for: client) }
      } catch {
        throw CommandError(
          session.scanner.availability == .available ? .usage : .unavailable, "\(error)")
      }
    }
  }
}
