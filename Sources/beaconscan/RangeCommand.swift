import ArgumentParser
import CaptureFiles
import Ranging
import Scanning

/// `beaconscan range`: nearby beacons, once a second.
struct RangeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "range",
    abstract: "Show nearby beacons with proximity and distance, once a second.",
    discussion: """
      A distance is as likely too long as too short; accuracy is its standard deviation. Both rest \
      on the power that the beacon says is heard at 1 m: calibrate on site what must be right. See \
      docs/ranging.md.

      On a terminal, a paced replay (--speed 1x) redraws its table in place. Otherwise the table \
      comes at the end: what was heard of each beacon, and its zones in order.

      EXAMPLES
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

  func run() throws {
    let driver = try ReplayDriver(source, output: output)
    let out = StandardOutput()
    out.flushesLines = out.isTerminal || driver.isPaced || source.follow
    let constraints = regions.all.map(\.constraint)
    let writer = makeWriter(out, isPaced: driver.isPaced || source.follow)
    var session = RangingSession(
      ranger: Ranger(ranging.configuration), interval: Int64(interval * 1e9))
    var left = count ?? .max
    let outcome = try driver.run { sightings, reached in
      session.start(at: driver.replay.firstTime ?? reached)
      for sighting in sightings {
        while let report = session.report(before: sighting.time) {
          try writer.write(report, shift: driver.replay.wallClockShift)
          left -= 1
          if left == 0 { return .enough }
        }
        guard constraints.isEmpty || constraints.contains(where: { $0.matches(sighting.beacon) })
        else { continue }
        session.hear(sighting)
      }
      while let report = session.report(before: reached) {
        try writer.write(report, shift: driver.replay.wallClockShift)
        left -= 1
        if left == 0 { return .enough }
      }
      return .more
    }
    if Interrupt.isRequested, outcome.reached == nil {
      throw CommandError(.interrupted, "interrupted before anything was heard")
    }
    if left > 0, let end = outcome.reached, let report = session.lastReport(at: end) {
      try writer.write(report, shift: driver.replay.wallClockShift)
    }
    try writer.end(
      counts: driver.replay.counts, beacons: session.ranger.beaconsHeard,
      evictions: session.ranger.evictions)
    try out.flush()
    driver.replay.remark(output)
    if let failure = outcome.failure { throw failure }
  }

  private func makeWriter(_ out: StandardOutput, isPaced: Bool) -> any RangeWriter {
    let regions = regions.all
    switch output.format {
    case .json: return JSONRangeWriter(output: out, regions: regions, showsRaw: raw)
    case .csv: return CSVRangeWriter(output: out, regions: regions, showsRaw: raw)
    case .table where out.isTerminal && isPaced:
      return LiveRangeWriter(output: out, regions: regions, showsRaw: raw)
    case .table: return VisitRangeWriter(output: out, regions: regions)
    }
  }
}
