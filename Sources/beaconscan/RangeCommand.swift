import ArgumentParser
import Ranging
import Records
import Scanning
import ServiceCore

/// `beaconscan range`: nearby beacons, once a second.
struct RangeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "range",
    abstract: "Show nearby beacons with proximity and distance, once a second.",
    discussion: """
      A distance is as likely too long as too short; accuracy is its standard deviation. Both rest \
      on the power that the beacon states for 1 m: calibrate on site where it must be right. See \
      docs/ranging.md. With no region named, every iBeacon counts.

      On a terminal, a live run and a paced replay (--speed 1x) redraw their table in place. \
      Otherwise the table comes at the end: the sightings of each beacon, and its zones in order.

      Without --replay an adapter listens. While reception is lost no reports come; standard error has the \
      reason, and reports resume by themselves. What several adapters receive is one beacon, with the \
      strongest of their signals.

      EXAMPLES
        beaconscan range --duration 60
        beaconscan range --replay captures/visitor.btsnoop
        beaconscan range --replay captures/visitor.btsnoop --speed 10x
        beaconscan range --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 \\
          --format json --replay captures/visitor.btsnoop
      """)

  @OptionGroup var source: SourceOptions
  @OptionGroup var regions: RegionOptions
  @OptionGroup var ranging: RangingOptions
  @OptionGroup var output: OutputOptions

  @Option(name: .long, help: ArgumentHelp("Time between two reports.", valueName: "seconds"))
  var interval = 1.0

  @Option(name: .long, help: ArgumentHelp("Stop after so many reports.", valueName: "number"))
  var count: Int?

  @Flag(name: .long, help: "Show the raw signal and the distance from it beside the smoothed.")
  var raw = false

  func validate() throws {
    guard interval >= 0.05, interval <= 86400 else {
      throw ValidationError("--interval must be from 0.05 to 86400 seconds.")
    }
    if let count, count < 1 { throw ValidationError("--count must be 1 or more.") }
  }

  func run() async throws {
    try await run(
      BeaconSession(
        source, offsets: ranging.calibration.adapterOffsets, output: output,
        configuration: configuration), to: StandardOutput())
  }

  /// The service's settings.
  var configuration: BeaconService.Configuration {
    var configuration = BeaconService.Configuration()
    configuration.ranging = ranging.configuration
    configuration.rangingInterval = interval
    return configuration
  }

  /// Shows what a source receives.
  func run(_ session: BeaconSession, to out: StandardOutput) async throws {
    out.flushesLines = out.isTerminal || session.isPaced
    let writer = makeWriter(out, isPaced: session.isPaced)
    let health = HealthLog(session, output, to: out)
    if writer.showsHealth { health.showOnScreen = writer.write(trouble:at:) }
    let requests: [BeaconConstraint?] =
      regions.all.isEmpty ? [nil] : regions.all.map(\.constraint)
    for constraint in requests {
      try session.beacons.startRanging(RangingRequest(constraint), for: session.client)
    }
    var left = count ?? .max
    let failure = try await session.run { event in
      if case .health(let change, let time) = event { try health.report(change, at: time) }
      guard case .ranging(let report) = event else { return .more }
      try writer.write(report)
      left -= 1
      return left == 0 ? .enough : .more
    }
    let beacons = session.beacons.beaconsRanged
    try writer.end(
      ScanSummary(
        counts: session.scanner.counts, beacons: beacons.count, evictions: beacons.evictions))
    try out.flush()
    session.remark(output)
    health.end()
    if let failure { throw failure }
  }

  private func makeWriter(_ out: StandardOutput, isPaced: Bool) -> any RangeWriter {
    let regions = regions.all
    switch output.format {
    case .json, .csv:
      return RecordRangeWriter(
        output: out, regions: regions, isJSON: output.format == .json, showsRaw: raw)
    case .table where out.isTerminal && isPaced:
      return LiveRangeWriter(output: out, regions: regions, showsRaw: raw)
    case .table: return VisitRangeWriter(output: out, regions: regions)
    }
  }
}
