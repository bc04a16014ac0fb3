import Advertising
import ArgumentParser
import CaptureFiles
import Records
import Scanning
import ServiceCore

/// `beaconscan inspect`: what is in a recording, or on air.
struct InspectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show what is in a recording or on air: packets, beacons, what was refused.",
    discussion: """
      Of each beacon: sightings, signal strength, its advertising interval and the share of its \
      adverts that was lost, as its gaps show. At most 65,536 beacons are kept; more make \
      the oldest go, and the summary counts them.

      Without a recording it receives for a minute, or for --duration seconds.

      EXAMPLES
        beaconscan inspect --adapter hci0
        beaconscan inspect captures/lobby.btsnoop
        beaconscan inspect captures/hostile.pcapng --format json
      """)

  @Argument(help: "Recordings; - is standard input.", completion: .file())
  var files: [String] = []

  @OptionGroup var source: SourceOptions
  @OptionGroup var regions: RegionOptions
  @OptionGroup var output: OutputOptions

  /// The most beacons that are kept: with what is known of each, less than 16 MB.
  static let maximumBeacons = 65_536
  /// For how many seconds it receives what is on air.
  static let listened = 60.0

  func validate() throws {
    if !files.isEmpty, let option = source.adapters.given {
      throw ValidationError(
        "\(option) is for live scanning, and \(files[0]) is a recording; give one of them.")
    }
    if (source.recordings.replay + files).filter({ $0 == "-" }).count > 1 {
      throw ValidationError("- can be given once: there is one standard input.")
    }
  }

  func run() async throws {
    var source = source
    source.recordings.replay += files
    let out = StandardOutput()
    guard source.isLive else { return try run(source.recordings, to: out) }
    source.recordings.duration = source.recordings.duration ?? Self.listened
    try await run(BeaconSession(source, output: output), to: out)
  }

  /// Shows what is in recordings.
  private func run(_ source: ReplayOptions, to out: StandardOutput) throws {
    let scanner = try source.open()
    let progress = Progress(
      of: scanner, isWanted: !output.quiet && source.speed == .max && !source.follow)
    var census = BeaconCensus(of: regions.all.map(\.constraint), capacity: Self.maximumBeacons)
    var failure: CommandError?
    var sightings: [Sighting] = []
    var isOver = false
    while !isOver, !Interrupt.isRequested {
      progress?.update()
      do {
        isOver = try scanner.receive(for: .ranging, until: nil, into: &sightings).isOver
      } catch let error as CaptureError {
        failure = CommandError(error)
        break
      }
      census.receive(sightings)
    }
    progress?.clear()
    if Interrupt.isRequested, failure == nil, scanner.counts.packets == 0 {
      throw CommandError(.interrupted, "interrupted before anything was read")
    }
    // Of a file that is no capture at all there is nothing to report.
    if let failure, scanner.counts.packets == 0 { throw failure }
    let report = InspectReport(
      captures: scanner.statuses, counts: scanner.counts, table: census.table)
    try report.write(output.format, to: out)
    try out.flush()
    scanner.remark(output)
    if let failure { throw failure }
  }

  /// Shows what a source receives that has no end of its own.
  func run(_ session: BeaconSession, to out: StandardOutput) async throws {
    let health = HealthLog(session, output, to: out)
    var census = BeaconCensus(of: regions.all.map(\.constraint), capacity: Self.maximumBeacons)
    let status = output.quiet ? nil : StatusLine()
    let beaconCount = Counter()
    try session.beacons.startSightings(for: session.client)
    let (beacons, scanner) = (session.beacons, session.scanner)
    let failure = try await session.run {
      status?.show {
        let seconds = beacons.received.map { $0.to.seconds(since: $0.from) } ?? 0
        return "\(fixed(seconds, 0)) s  \(scanner.counts.reports) reports  "
          + "\(beaconCount.value) beacons"
      }
      return true
    } _: { event in
      if case .health(let change, let time) = event {
        status?.clear()
        try health.report(change, at: time)
      }
      if case .sightings(let sightings) = event { census.receive(sightings) }
      beaconCount.value = census.table.beaconsReceived
      return .more
    }
    status?.clear()
    let report = InspectReport(captures: [], counts: scanner.counts, table: census.table)
    try report.write(output.format, to: out)
    try out.flush()
    health.end()
    if let failure { throw failure }
  }
}

/// Counts beacons.
private struct BeaconCensus {
  private let constraints: [BeaconConstraint]
  private(set) var table: BeaconTable<BeaconStatistics>

  init(of constraints: [BeaconConstraint], capacity: Int) {
    self.constraints = constraints
    table = BeaconTable(capacity: capacity)
  }

  mutating func receive(_ sightings: [Sighting]) {
    let wanted =
      constraints.isEmpty
      ? sightings
      : sightings.filter { sighting in constraints.contains { $0.matches(sighting.beacon) } }
    table.update(wanted.span, orMake: BeaconStatistics.init) { $0.receive($1) }
  }
}
