import ArgumentParser
import Records
import Scanning
import ServiceCore

/// `beaconscan scan`: every sighting as it is received.
struct ScanCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Show every sighting as it is received.",
    discussion: """
      With no region named, every iBeacon counts. Without --replay an adapter receives; \
      what several adapters receive is shown as often.

      EXAMPLES
        beaconscan scan --adapter hci0
        beaconscan scan --replay captures/visitor.btsnoop
        beaconscan scan --replay captures/lobby.btsnoop --format json --count 5
        gzip -c captures/lobby.btsnoop | beaconscan scan --replay - --format csv
      """)

  @Argument(help: "Recordings, as with --replay.", completion: .file())
  var files: [String] = []

  @OptionGroup var source: SourceOptions
  @OptionGroup var regions: RegionOptions
  @OptionGroup var output: OutputOptions

  @Option(help: ArgumentHelp("Stop after so many sightings.", valueName: "number"))
  var count: Int?

  mutating func validate() throws {
    try source.check(adding: files)
    try checkCount(count)
  }

  func run() async throws {
    try await run(BeaconSession(source.open(), showsProgress: !output.quiet), to: StandardOutput())
  }

  func run(_ session: BeaconSession, to out: StandardOutput) async throws {
    out.apply(output.form)
    let regions = regions.all
    let record = Sighting.record.omitting(keys: regions.isEmpty ? ["region"] : [])
    let recordWithoutAdapter = record.omitting(keys: ["adapter"])
    let flushes = out.isTerminal || session.isPaced
    var left = count ?? .max
    try session.beacons.startSightings(for: session.client)
    try await session.show(output, to: out) { event in
      if case .sightings(let sightings) = event {
        let record = session.namesAdapters ? record : recordWithoutAdapter
        for sighting in sightings where left > 0 && regions.include(sighting.beacon) {
          let region = regions.first { $0.constraint.matches(sighting.beacon) }
          try out.writeLine((sighting, region?.name), record, output.format)
          left -= 1
        }
      }
      // What came together is written together.
      if flushes { try out.flush() }
      return left > 0 ? .more : .enough
    } end: { isWhole in
      if isWhole { try out.writeHeader(record, output.format) }
    }
  }
}
