import ArgumentParser
import Scanning
import ServiceCore

/// `beaconscan scan`: every sighting as it is received.
struct ScanCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Show every sighting as it is received.",
    discussion: """
      With no region named, every iBeacon counts. Without --replay an adapter listens; what several \
      adapters receive is shown as often.

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

  func run() async throws {
    try await run(BeaconSession(source, output: output), to: StandardOutput())
  }

  /// Shows what a source receives.
  func run(_ session: BeaconSession, to out: StandardOutput) async throws {
    let flushes = out.isTerminal || session.isPaced
    let writer = SightingWriter(format: output.format, output: out)
    let health = HealthLog(session, output, to: out)
    let constraints = regions.all.map(\.constraint)
    var left = count ?? .max
    try session.beacons.startSightings(for: session.client)
    let failure = try await session.run { event in
      if case .health(let change, let time) = event { try health.report(change, at: time) }
      if case .sightings(let sightings) = event {
        let namesAdapter = session.namesAdapters
        for sighting in sightings where left > 0 {
          guard constraints.isEmpty || constraints.contains(where: { $0.matches(sighting.beacon) })
          else { continue }
          try writer.write(sighting, namesAdapter: namesAdapter)
          left -= 1
        }
      }
      // What came together is written together.
      if flushes { try out.flush() }
      return left > 0 ? .more : .enough
    }
    if failure == nil { try writer.writeHeader() }
    try out.flush()
    session.remark(output)
    health.end()
    if let failure { throw failure }
  }
}
