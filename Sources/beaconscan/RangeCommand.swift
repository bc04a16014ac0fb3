public import ArgumentParser
import Frontends
import LiveScanning
public import Ranging
import Records
import Scanning
import ServiceCore

struct RangeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "range", _superCommandName: Beaconscan.name,
    abstract: "Show nearby beacons with proximity and distance, once a second.",
    discussion: """
      A distance is as likely too long as too short; accuracy is its standard deviation. Both rest \
      on the power that the beacon states for 1 m: calibrate on site where it must be right. See \
      docs/ranging.md. With no region named, every iBeacon counts.

      On a terminal, a live run and a paced replay (--speed 1x) redraw their table in place; \
      the keys d, n and l sort it by distance, name or last sighting, and q ends it. \
      Otherwise the table comes at the end: the sightings of each beacon, and its zones in order.

      Without --replay an adapter receives. While reception is lost no reports come; standard \
      error has the reason, and reports resume by themselves. What several adapters receive is one \
      beacon, with the strongest of their signals; --sides adds whether the left or the right of \
      two adapters receives it stronger.

      --on-change shows a line for each beacon that appears, comes into another zone (immediate, \
      near, far, unknown) or disappears, in place of the reports. --exec runs a command by /bin/sh \
      for each such change, as monitor does for its events: with a line of JSON on its standard \
      input, and with BEACONSCAN_TYPE (appear, zone, disappear), BEACONSCAN_PROXIMITY, \
      BEACONSCAN_PREVIOUS, BEACONSCAN_REGION, BEACONSCAN_UUID, BEACONSCAN_MAJOR, BEACONSCAN_MINOR, \
      BEACONSCAN_DISTANCE, BEACONSCAN_RSSI and so on where they are known.

      EXAMPLES
        beaconscan range --duration 60
        beaconscan range --replay captures/visitor.btsnoop
        beaconscan range --replay captures/visitor.btsnoop --speed 10x
        beaconscan range --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 \\
          --format json --replay captures/visitor.btsnoop
        beaconscan range --region kiosk=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:100 \\
          --on-change --exec 'echo "$BEACONSCAN_PROXIMITY" > zone' \\
          --replay captures/visitor.btsnoop
      """)

  @Argument(help: "Recordings, as with --replay.", completion: .file())
  var files: [String] = []

  @OptionGroup var source: SourceOptions
  @OptionGroup var regions: RegionOptions
  @OptionGroup var calibration: CalibrationOptions

  @Option(
    help: ArgumentHelp(
      "Where zones end, in meters: enter and leave immediate, enter and leave near.",
      valueName: "a,b,c,d"))
  var zones: ProximityLimits?

  @Option(
    help: ArgumentHelp(
      "Show which of two adapters is nearer to each beacon: left=hci0,right=hci1.",
      discussion: "The adapters should stand 2 m apart or more; give their --adapter-offset.",
      valueName: "left=adapter,right=adapter"), transform: Sides.init(option:))
  var sides: Sides?

  @OptionGroup var output: OutputOptions

  @Option(help: ArgumentHelp("Time between two reports: 1, 500ms or 1m.", valueName: "time"))
  var interval = Seconds(1)

  @Flag(
    help: "Show only what changes: beacons that appear, come into another zone, or disappear.")
  var onChange = false

  @Option(help: ArgumentHelp("Run this on each such change, by /bin/sh.", valueName: "command"))
  var exec: String?

  @Option(
    help: ArgumentHelp(
      "Stop after so many reports; with --on-change, after so many changes.", valueName: "number"))
  var count: Int?

  @Flag(help: "Show the raw signal and the distance from it beside the smoothed.")
  var raw = false

  mutating func validate() throws {
    try regions.checkBeaconsOnly()
    try source.check(adding: files)
    guard interval.value >= 0.05, interval.value <= 86400 else {
      throw ValidationError("--interval must be from 50ms to 1d.")
    }
    try checkCount(count)
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
    out.apply(output.form, output.zone)
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
      case .table where out.isTerminal && session.isPaced:
        LiveRangeWriter(
          output: out, regions: regions, beacon: beacon, showsSides: sides != nil)
      case .table: VisitRangeWriter(output: out, regions: regions, showsSides: sides != nil)
      }
    let requests: [BeaconConstraint?] = regions.isEmpty ? [nil] : regions.map(\.constraint)
    for constraint in requests {
      try session.client.startRanging(RangingRequest(constraint))
    }
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

extension ProximityLimits: ExpressibleByArgument {
  /// Reads four distances in meters.
  public init?(argument: String) {
    let words = argument.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = words.compactMap { Double($0) }
    guard words.count == 4, numbers.count == 4 else { return nil }
    try? self.init(
      enterImmediate: numbers[0], leaveImmediate: numbers[1], enterNear: numbers[2],
      leaveNear: numbers[3])
  }
}

extension Sides {
  init(option: String) throws {
    let example = "for example left=hci0,right=hci1"
    var adapters: [String: AdapterName] = [:]
    for pair in option.split(separator: ",", omittingEmptySubsequences: false) {
      let words = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let side = words.first, side == "left" || side == "right", words.count == 2 else {
        throw ValidationError("'\(pair)' is neither left=ADAPTER nor right=ADAPTER; \(example).")
      }
      guard let adapter = AdapterName(String(words[1])) else {
        throw ValidationError(
          "'\(words[1])' is no adapter; name it by its number or its address, \(example) or "
            + "\(side)=AA:BB:CC:DD:EE:FF.")
      }
      guard adapters.updateValue(adapter, forKey: String(side)) == nil else {
        throw ValidationError("\(side) is given twice; give left and right once each, \(example).")
      }
    }
    guard let left = adapters["left"], let right = adapters["right"] else {
      let missing = adapters["left"] == nil ? "left" : "right"
      throw ValidationError("\(missing) is missing; name both adapters, \(example).")
    }
    guard left != right else {
      throw ValidationError("left and right are both \(left); name two adapters, \(example).")
    }
    self.init(left: left, right: right)
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
