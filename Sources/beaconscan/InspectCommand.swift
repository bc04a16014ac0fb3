import Advertising
import ArgumentParser
import CaptureFiles
import Ranging
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
      adverts that was lost, as its gaps show. At most 65,536 beacons are kept; more make the \
      oldest go, and the summary counts them.

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

  /// How long it receives what is on air unless set.
  private static let liveDuration = Seconds(60)

  mutating func validate() throws { try source.check(adding: files) }

  func run() async throws {
    var source = source
    let out = StandardOutput()
    out.apply(output.form)
    guard source.isLive else { return try run(source.openRecordings(), to: out) }
    source.duration = source.duration ?? Self.liveDuration
    try await run(BeaconSession(source.open(), showsProgress: false), to: out)
  }

  /// Shows what is in recordings.
  private func run(_ scanner: ReplayScanner, to out: StandardOutput) throws {
    let progress = Progress(of: scanner, isWanted: !output.quiet)
    var census = BeaconCensus(regions: regions.all)
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
    try InspectReport(captures: scanner.statuses, counts: scanner.counts, census: census)
      .write(output, to: out)
    try out.flush()
    scanner.remark(output)
    if let failure { throw failure }
  }

  /// Shows what a source receives that has no end of its own.
  func run(_ session: BeaconSession, to out: StandardOutput) async throws {
    var census = BeaconCensus(regions: regions.all)
    let status = output.quiet ? nil : StatusLine()
    let beaconCount = Counter()
    let (beacons, scanner) = (session.beacons, session.scanner)
    try beacons.startSightings(for: session.client)
    try await session.show(
      output, to: out, status: status,
      while: {
        status?.show {
          let seconds = beacons.received.map { $0.to.seconds(since: $0.from) } ?? 0
          return "\(fixed(seconds, 0)) s  \(scanner.counts.reports) reports  "
            + "\(beaconCount.value) beacons"
        }
        return true
      }
    ) { event in
      if case .sightings(let sightings) = event { census.receive(sightings) }
      beaconCount.value = census.table.beaconsReceived
      return .more
    } end: { _ in
      try InspectReport(captures: [], counts: scanner.counts, census: census).write(output, to: out)
    }
  }
}

/// Counts beacons.
struct BeaconCensus {
  /// The most beacons that are kept: with what is known of each, less than 16 MB.
  private static let capacity = 65_536
  private static let maximumFindings = 1024

  let regions: [NamedRegion]
  private(set) var table = BeaconTable<BeaconStatistics>(capacity: capacity)
  /// The identities that several senders use at once, and when that was found; at most 1,024.
  private(set) var findings: [(finding: IdentityFinding, time: WallClockTime)] = []
  private var identities = IdentityWatch()

  init(regions: [NamedRegion]) { self.regions = regions }

  mutating func receive(_ sightings: [Sighting]) {
    let wanted = regions.isEmpty ? sightings : sightings.filter { regions.include($0.beacon) }
    var changes: [(sighting: Sighting, sender: (BluetoothAddress, AddressType))] = []
    table.update(wanted.span, orMake: BeaconStatistics.init) { statistics, sighting in
      if statistics.address != sighting.address {
        changes.append((sighting, (statistics.address, statistics.addressType)))
      }
      statistics.receive(sighting)
    }
    for (sighting, sender) in changes {
      guard let finding = identities.receive(sighting, after: sender),
        findings.count < Self.maximumFindings
      else { continue }
      findings.append((finding, sighting.wallTime))
    }
  }
}
