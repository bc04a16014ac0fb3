import ArgumentParser
import Frontends
import Records
import Scanning
import ServiceCore

struct ScanCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Show every sighting as it is received.",
    discussion: """
      With no region named, every iBeacon counts. Without --replay an adapter receives; \
      what several adapters receive is shown as often.

      EXAMPLES
        beaconscan scan --adapter hci0
        beaconscan scan captures/lobby.btsnoop --all --sort rssi --top 5
        beaconscan scan --replay captures/lobby.btsnoop --format json --count 5
        gzip -c captures/lobby.btsnoop | beaconscan scan --replay - --format csv
      """)

  @Argument(Inputs.files) var files: [String]

  @OptionGroup var source: SourceOptions
  @OptionGroup(title: "Input") var pace: PaceOptions
  @OptionGroup(title: "Which beacons") var regions: RegionOptions
  @OptionGroup(title: "Which beacons") var filter: FilterOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Output") var clock: ZoneOption

  @Flag(
    .flag(
      "all", "List every advertiser, of whatever kind, in place of the sightings of iBeacons.",
      details: Self.allDetails))
  var all: Bool

  @Option(Inputs.count("Stop after so many sightings.").rare) var count: Int?

  static let allDetails =
    "Live this needs raw HCI sockets: bluetoothd keeps other adverts to itself. At most 4,096 are kept."

  mutating func validate() throws {
    try regions.checkBeaconsOnly()
    source.recordings.set(pace)
    try source.check(adding: files)
    try filter.check(in: clock.zone)
    if all, !regions.all.isEmpty {
      throw ValidationError("--all lists every advertiser; leave out --uuid and --region.")
    }
    if !all, filter.sort != nil || filter.top != nil {
      throw ValidationError("--sort and --top are for a list; give --all too.")
    }
  }

  func run() async throws {
    let out = StandardOutput()
    guard all else {
      return try await run(BeaconSession(source.open(), showsProgress: !output.quiet), to: out)
    }
    let list = AdvertiserList(filter, in: clock.zone)
    var configuration = BeaconService.Configuration()
    configuration.rangingInterval = 0.5
    try await run(
      BeaconSession(
        source.open(reportTap: list.tap), showsProgress: !output.quiet,
        configuration: configuration), list, to: out)
  }

  private func run(
    _ session: BeaconSession, _ list: AdvertiserList, to out: StandardOutput
  ) async throws {
    out.apply(output.form, clock.zone)
    let screen =
      output.format == .table && out.isTerminal && session.isPaced
      ? LiveAdvertiserWriter(output: out, list: list, filter) : nil
    // Reports arrive twice a second, even without beacons.
    try session.client.startRanging(RangingRequest(nil))
    try await session.show(output, to: out, on: screen, showsFindings: false) { event in
      guard case .ranging(let report) = event else { return .more }
      list.update(until: report.time)
      try screen?.draw(at: report.wallClockTime)
      return list.census.reports < count ?? .max ? .more : .enough
    } end: { _ in
      if screen == nil {
        list.update()
        try list.write(output.format, to: out)
      }
      if !output.quiet, let noMatch = list.noMatch { printError(noMatch) }
    }
  }

  func run(_ session: BeaconSession, to out: StandardOutput) async throws {
    out.apply(output.form, clock.zone)
    let regions = regions.all
    let isTable = output.format == .table
    // A table has the UUID anyway, so only given names are of use.
    let shown = isTable ? regions.filter { $0.givenName != nil } : regions
    let record = Sighting.record.omitting(keys: shown.isEmpty ? ["region"] : [])
    let recordWithoutAdapter = record.omitting(keys: ["adapter"])
    let filter = filter.filter(in: clock.zone)
    var matched = 0
    let flushes = out.isTerminal || session.isPaced
    var left = count ?? .max
    try session.client.startSightings()
    try await session.show(output, to: out) { event in
      if case .sightings(let sightings) = event {
        let record = session.namesAdapters ? record : recordWithoutAdapter
        for sighting in sightings
        where left > 0 && regions.include(sighting.beacon)
          && filter.includes(sighting.rssi, at: sighting.wallTime)
        {
          let region = shown.first { $0.constraint.matches(sighting.beacon) }
          try out.writeLine((sighting, region?.name), record, output.format)
          left -= 1
          matched += 1
        }
      }
      // Sightings that arrive together are written together.
      if flushes { try out.flush() }
      return left > 0 ? .more : .enough
    } end: { isWhole in
      if isWhole, !isTable { try out.writeHeader(record, output.format) }
      if !output.quiet, !regions.isEmpty || !filter.isOpen,
        let noMatch = noMatch(matched, of: session.scanner.counts.sightings, "sightings")
      {
        session.report(noMatch)
      }
      source.reportOthers(session.scanner.counts, output)
    }
  }
}
