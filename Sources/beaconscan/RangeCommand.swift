import ArgumentParser
import Frontends
import LiveScanning
import Ranging
import Records
import Scanning
import ServiceCore

struct RangeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "range",
    abstract: "Show nearby beacons with proximity and distance, once a second.",
    discussion: """
      A distance is as likely too long as too short; accuracy is its standard deviation. Both rest \
      on the power that the beacon states for 1 m: calibrate on site where it must be right. See \
      docs/ranging.md. What several adapters receive is one beacon, with the strongest of their \
      signals.

      On a terminal, a live run and a paced replay (--speed 1x) redraw their table in place; the \
      keys d, n and l sort it, and q ends it. Elsewhere, as in a pipe, they write a line for each \
      beacon of a report. The table at the end has the sightings of each beacon, and its zones in \
      order; a replay that is not paced writes only that. While reception is lost no reports come; \
      standard error has the reason, and reports resume by themselves.

      --exec runs a command by /bin/sh for each change of --on-change, as monitor does for its \
      events: with a line of JSON on its standard input, and with BEACONSCAN_TYPE (appear, zone, \
      disappear), BEACONSCAN_PROXIMITY, BEACONSCAN_PREVIOUS, BEACONSCAN_REGION and so on.

      EXAMPLES
        beaconscan range --duration 60
        beaconscan range --replay captures/visitor.btsnoop --speed 10x
        beaconscan range --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 \\
          --format json --replay captures/visitor.btsnoop
        beaconscan range --region kiosk=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:100 \\
          --on-change --exec 'echo "$BEACONSCAN_PROXIMITY" > zone' \\
          --replay captures/visitor.btsnoop
      """)

  @Argument(Inputs.files) var files: [String]

  @OptionGroup var source: SourceOptions
  @OptionGroup(title: "Input") var pace: PaceOptions
  @OptionGroup(title: "Which beacons") var regions: RegionOptions
  @OptionGroup(title: "Distance") var calibration: CalibrationOptions

  @Option(
    Setting(
      "zones", "Where zones end, in meters: enter and leave immediate, enter and leave near.",
      "a,b,c,d", shown: "0.5,0.7,4,5",
      valid: "write four distances in meters that increase in pairs, such as 0.5,0.7,3,4",
      read: ProximityLimits.init(text:)
    ).rare)
  var zones: ProximityLimits?

  @Option(
    Setting(
      SettingDescription(
        "sides", "Show which of two adapters is nearer to each beacon: left=hci0,right=hci1.",
        "left=adapter,right=adapter",
        details: "The adapters should stand 2 m apart or more; give their --adapter-offset."),
      valid: { Sides.requirement(for: $0) }, read: Sides.init(text:)
    ).rare)
  var sides: Sides?

  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Output") var clock: ZoneOption

  @Option(Inputs.interval) var interval: Seconds

  @Flag(
    .flag(
      "on-change",
      "Show only what changes: beacons that appear, come into another zone, or disappear."))
  var onChange: Bool

  @Option(Inputs.exec("Run this on each such change, by /bin/sh.")) var exec: String?

  @Option(Inputs.count("Stop after so many reports; with --on-change, after so many changes.").rare)
  var count: Int?

  @Flag(Inputs.raw) var raw: Bool

  mutating func validate() throws {
    try regions.checkBeaconsOnly()
    source.recordings.set(pace)
    try source.check(adding: files)
    try sides?.check(source)
  }

  func run() async throws {
    try exec.map(EventCommand.init(script:))?.check()
    var source = source
    try calibration.check(source, isQuiet: output.quiet)
    if let sides, source.isLive, source.adapter.isEmpty {
      source.adapter = [.these([sides.left, sides.right])]
    }
    try await run(
      BeaconSession(
        source.open(offsets: calibration.adapterOffset, sides: sides), showsProgress: !output.quiet,
        configuration: configuration),
      to: StandardOutput())
  }

  var configuration: BeaconService.Configuration {
    var configuration = BeaconService.Configuration()
    calibration.apply(to: &configuration)
    if let zones { configuration.ranging.limits = zones }
    configuration.sides = sides
    configuration.rangingInterval = interval.value
    return configuration
  }

  func run(_ session: BeaconSession, to out: StandardOutput) async throws {
    out.apply(output.form, clock.zone)
    let isScreen = output.format == .table && out.isTerminal && session.isPaced
    if raw, onChange || output.format == .table && !isScreen, Settings.current.isGiven("raw") {
      throw CommandError(
        .usage,
        "--raw is for reports, which \(onChange ? "--on-change replaces" : "this table sums up"); give "
          + "--format json or csv too, or leave it out")
    }
    // A command must not get ahead of the output.
    out.flushesLines = out.isTerminal || session.isPaced || exec != nil
    let regions = regions.all
    let beacon = RangedBeacon.record(showsRaw: raw, showsSides: sides != nil)
    let writer: any ResultWriter =
      switch output.format {
      case _ where onChange: ChangeWriter(output: out, format: output.format, regions: regions)
      case .json, .csv:
        RecordRangeWriter(
          output: out, regions: regions, isJSON: output.format == .json, beacon: beacon)
      case .table where isScreen:
        LiveRangeWriter(
          output: out, regions: regions, beacon: beacon, showsSides: sides != nil)
      case .table where session.isPaced:
        LineRangeWriter(output: out, regions: regions, showsSides: sides != nil)
      case .table: VisitRangeWriter(output: out, regions: regions, showsSides: sides != nil)
      }
    let requests: [BeaconConstraint?] = regions.isEmpty ? [nil] : regions.map(\.constraint)
    try session.client.startRanging(requests.map { RangingRequest($0) })
    let commands = exec.map { EventCommands($0, isWaitedFor: !session.isPaced) }
    defer { commands?.finish() }
    var zones = ZoneChanges(regions: regions)
    var left = count ?? .max
    try await session.show(output, to: out, on: writer) { event in
      guard case .ranging(let report) = event else { return .more }
      try writer.write(report)
      if !onChange { left -= 1 }
      guard onChange || commands != nil else { return left > 0 ? .more : .enough }
      for change in zones.update(report) where left > 0 {
        try writer.write(change)
        if onChange { left -= 1 }
        commands?.run(on: HookEvent(change))
      }
      return left > 0 ? .more : .enough
    } end: { _ in
      let summary = session.summary(of: session.beacons.beaconsRanged)
      try writer.end(summary)
      session.reportNoMatch(summary, regions, output)
      source.reportOthers(summary.counts, output)
    }
  }
}

extension ProximityLimits {
  fileprivate init?(text: String) {
    let words = text.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = words.compactMap { Double($0) }
    guard words.count == 4, numbers.count == 4 else { return nil }
    try? self.init(
      enterImmediate: numbers[0], leaveImmediate: numbers[1], enterNear: numbers[2],
      leaveNear: numbers[3])
  }
}

extension Sides {
  fileprivate init?(text: String) {
    guard let sides = try? Self.read(text) else { return nil }
    self = sides
  }

  fileprivate static func requirement(for text: String) -> String {
    let example = "write two adapters such as left=hci0,right=hci1"
    guard !text.isEmpty else { return example }
    do throws(CommandError) {
      _ = try read(text)
      return example
    } catch {
      return "\(error.message); \(example)"
    }
  }

  private static func read(_ text: String) throws(CommandError) -> Sides {
    var adapters: [String: AdapterName] = [:]
    for pair in text.split(separator: ",", omittingEmptySubsequences: false) {
      let words = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let side = words.first, side == "left" || side == "right", words.count == 2 else {
        throw .init(.usage, "'\(pair)' is neither left=ADAPTER nor right=ADAPTER")
      }
      guard let adapter = AdapterName(String(words[1])) else {
        throw .init(.usage, "'\(words[1])' is not an adapter's number or address")
      }
      guard adapters.updateValue(adapter, forKey: String(side)) == nil else {
        throw .init(.usage, "\(side) is given twice")
      }
    }
    guard let left = adapters["left"], let right = adapters["right"] else {
      throw .init(.usage, "\(adapters["left"] == nil ? "left" : "right") is missing")
    }
    guard left != right else { throw .init(.usage, "left and right are both \(left)") }
    return Sides(left: left, right: right)
  }

  func check(_ source: SourceOptions) throws {
    for name in [left, right] {
      if case .address = name, !source.isLive {
        throw ValidationError(
          "--sides \(name): recordings have adapters' numbers, not their addresses; name it as "
            + "hci0 in the first recording, hci100 in the second and so on.")
      }
      let isScanning = source.adapter.contains { $0 == .all || $0.names.contains(name) }
      guard source.adapter.isEmpty || isScanning else {
        throw ValidationError(
          "--sides needs \(name), which --adapter leaves out; add --adapter \(name), or give no "
            + "--adapter.")
      }
    }
  }
}
