import ArgumentParser
import CoreLocation
import Scanning

/// `beaconscan scan`: every sighting as it is heard.
struct ScanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Show every sighting as it is heard.",
    discussion: """
      With no region named, every iBeacon counts. Without --replay an adapter listens; what several \
      adapters hear is shown as often.

      EXAMPLES
        beaconscan scan --adapter hci0
        beaconscan scan --replay captures/visitor.btsnoop
        beaconscan scan --replay captures/lobby.btsnoop --format json --count 5
        gzip -c captures/lobby.btsnoop | beaconscan scan --replay - --format csv
      """)

  @OptionGroup var source: SourceOptions
  @OptionGroup var regions: RegionOptions
  @OptionGroup var output: OutputOptions

  @Option(name: .long, help: ArgumentHelp("Stop after so many sightings.", valueName: "number"))
  var count: Int?

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count must be 1 or more.") }
  }

  func run() throws {
    try run(ManagedScan(source, output: output), to: StandardOutput())
  }

  /// Shows what a source hears.
  func run(_ scan: ManagedScan, to out: StandardOutput) throws {
    let flushes = out.isTerminal || scan.isPaced
    let writer = SightingWriter(format: output.format, output: out)
    let health = HealthLog(scan, output, to: out)
    let constraints = regions.all.map(\.constraint)
    var left = count ?? .max
    var interest = ServiceInterest()
    interest.inSightings = true
    scan.services.ask(interest, for: scan.manager)
    func show(_ news: ServiceNews) throws -> ManagedScan.Verdict {
      if case .health(let change) = news { try health.tell(change) }
      guard case .heard(let sightings) = news else { return .more }
      let namesAdapters = scan.namesAdapters
      for sighting in sightings {
        guard constraints.isEmpty || constraints.contains(where: { $0.matches(sighting.beacon) })
        else { continue }
        try writer.write(sighting, namesAdapter: namesAdapters)
        left -= 1
        if left == 0 { return .enough }
      }
      return .more
    }
    let failure = try scan.run { news in
      let verdict = try show(news)
      // What came together is written together.
      if flushes { try out.flush() }
      return verdict
    }
    if failure == nil { try writer.writeHeader() }
    try out.flush()
    scan.remark(output)
    health.end()
    if let failure { throw failure }
  }
}
