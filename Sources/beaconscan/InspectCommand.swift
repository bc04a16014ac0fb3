import Advertising
import ArgumentParser
import CaptureFiles
import Frontends
import LocationSources
import Ranging
import Records
import Scanning
import ServiceCore
import Synchronization

struct InspectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show what is in a recording or on air: packets, beacons, fixes, what was refused.",
    discussion: """
      Of each beacon: sightings, signal strength, its advertising interval and the share of its \
      adverts that was lost, as its gaps show. At most 65,536 beacons are kept; more make the \
      oldest go, and the summary counts them. A random private address changes every few minutes, \
      and counts as another advertiser then.

      Of a track (NMEA 0183, GPX, a log of gpsd): the number of fixes, its time span, the box that \
      has them all, its length, and what was discarded and why.

      Without a recording it receives for a minute, or for --duration seconds.

      EXAMPLES
        beaconscan inspect --adapter hci0
        beaconscan inspect captures/lobby.btsnoop
        beaconscan inspect captures/lobby.btsnoop --all --sort rssi
      """)

  @Argument(.file("files", "Recordings; - is standard input.")) var files: [String]

  @OptionGroup var source: SourceOptions
  @OptionGroup(title: "Input") var pace: PaceOptions
  @OptionGroup(title: "Which beacons") var regions: RegionOptions
  @OptionGroup(title: "Which beacons") var filter: FilterOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Output") var clock: ZoneOption

  @Flag(
    .flag(
      "all", "List every advertiser, of whatever kind, in place of the iBeacons.",
      details: ScanCommand.allDetails))
  var all: Bool

  private static let liveDuration = Seconds(60)

  mutating func validate() throws {
    try regions.checkBeaconsOnly()
    source.recordings.set(pace)
    try source.check(adding: files)
    try filter.check(in: clock.zone)
    if all, !regions.all.isEmpty {
      throw ValidationError("--all lists every advertiser; leave out --uuid and --region.")
    }
  }

  func run() async throws {
    var source = source
    let out = StandardOutput()
    out.apply(output.form, clock.zone)
    let list = all ? AdvertiserList(filter, in: clock.zone) : nil
    let (captures, tracks) = RecordingFormat.sort(source.recordings.replay, pipesAreTracks: false)
    let failure = try inspect(tracks, to: out)
    if !tracks.isEmpty, captures.isEmpty {
      try out.flush()
      if let failure { throw failure }
      return
    }
    source.recordings.replay = captures
    guard source.isLive else {
      try run(source.recordings.openCaptures(), source, list, to: out)
      if let failure { throw failure }
      return
    }
    source.recordings.duration = source.recordings.duration ?? Self.liveDuration
    try await run(
      BeaconSession(source.open(reportTap: list?.tap), showsProgress: false), source, list, to: out)
  }

  private func inspect(_ tracks: [String], to out: StandardOutput) throws -> CommandError? {
    var reports: [TrackReport] = []
    var failure: CommandError?
    for track in tracks where !Interrupt.isRequested {
      let (report, wrong) = try TrackReport.read(track, duration: source.recordings.nanoseconds)
      reports.append(report)
      failure = failure ?? wrong
    }
    switch output.format {
    case .json: try out.write(reports, TrackReport.record, .json)
    // If there are captures too, the rows are those of beacons.
    case .csv:
      if tracks.count == source.recordings.replay.count, !tracks.isEmpty {
        try out.write(reports, TrackReport.record, .csv)
      }
    case .table: for report in reports { try report.write(to: out) }
    }
    if failure == nil, !output.quiet, !Interrupt.isRequested {
      for case let noFix? in reports.map(\.summary.noFix) { printError(noFix) }
    }
    return failure
  }

  private func run(
    _ scanner: ReplayScanner, _ source: SourceOptions, _ list: AdvertiserList?,
    to out: StandardOutput
  ) throws {
    if let list { scanner.tap(list.tap) }
    let progress = Progress(of: scanner, isWanted: !output.quiet)
    var census = BeaconCensus(regions: regions.all, filter: filter.filter(in: clock.zone))
    var failure: CommandError?
    var sightings: [Sighting] = []
    var isOver = false
    while !isOver, !Interrupt.isRequested {
      progress?.update()
      do {
        isOver = try scanner.receive(for: .ranging, until: nil, into: &sightings).isOver
      } catch let error as CaptureError {
        let isUnknown = error.problem == .notACapture
        failure =
          isUnknown ? CommandError(TrackError.notATrack(file: error.file)) : CommandError(error)
        break
      }
      census.receive(sightings)
      list?.update()
    }
    list?.update()
    progress?.end()
    if Interrupt.isRequested, failure == nil, scanner.counts.packets == 0 {
      throw CommandError(.interrupted, "interrupted before anything was read")
    }
    // A file that is not a capture yields no report.
    if let failure, scanner.counts.packets == 0 { throw failure }
    let report = InspectReport(
      captures: scanner.statuses, counts: scanner.counts, census: census, list: list,
      filter: filter)
    try report.write(output, to: out)
    try out.flush()
    if !output.quiet, let noMatch = report.noMatch { printError(noMatch) }
    if list == nil { source.reportOthers(scanner.counts, output) }
    scanner.remark(output)
    if let failure { throw failure }
  }

  func run(
    _ session: BeaconSession, _ source: SourceOptions, _ list: AdvertiserList?,
    to out: StandardOutput
  ) async throws {
    var census = BeaconCensus(regions: regions.all, filter: filter.filter(in: clock.zone))
    let status = output.quiet ? nil : StatusLine()
    let beaconCount = Atomic(0)
    let (beacons, scanner) = (session.beacons, session.scanner)
    try session.client.startSightings()
    // Reports arrive once a second, even without beacons.
    if list != nil { try session.client.startRanging(RangingRequest(nil)) }
    try await session.show(
      output, to: out, status: status, showsFindings: list == nil,
      while: {
        status?.show {
          let seconds = beacons.received.map { $0.to.seconds(since: $0.from) } ?? 0
          return "\(fixed(seconds, 0)) s  \(counted(scanner.counts.reports, "report"))  "
            + counted(beaconCount.load(ordering: .relaxed), "beacon")
        }
        return true
      }
    ) { event in
      if case .sightings(let sightings) = event { census.receive(sightings) }
      if case .ranging(let report) = event { list?.update(until: report.time) }
      beaconCount.store(census.table.beaconsReceived, ordering: .relaxed)
      return .more
    } end: { _ in
      list?.update()
      let report = InspectReport(
        captures: [], counts: scanner.counts, census: census, list: list, filter: filter)
      try report.write(output, to: out)
      if !output.quiet, let noMatch = report.noMatch { session.report(noMatch) }
      if list == nil { source.reportOthers(scanner.counts, output) }
    }
  }
}

struct BeaconCensus {
  /// The most beacons, whose statistics need less than 16 MB.
  private static let capacity = 65_536
  private static let maximumFindings = 1024

  let regions: [NamedRegion]
  let filter: AdvertFilter
  private(set) var table = BeaconTable<BeaconStatistics>(capacity: capacity)
  /// Identities with several senders at once, with the time found; at most 1,024.
  private(set) var findings: [(finding: IdentityFinding, time: WallClockTime)] = []
  private var identities = IdentityWatch()
  private var senders = SenderCensus()

  init(regions: [NamedRegion], filter: AdvertFilter) {
    self.regions = regions
    self.filter = filter
  }

  mutating func receive(_ sightings: [Sighting]) {
    let wanted =
      regions.isEmpty && filter.isOpen
      ? sightings
      : sightings.filter {
        regions.include($0.beacon) && filter.includes($0.rssi, at: $0.wallTime)
      }
    var index = 0
    while true {
      index = table.updateKnown(wanted.span, from: index) { $0.receive($1) }
      guard index < wanted.count else { return }
      receiveUnusual(wanted[index])
      index += 1
    }
  }

  /// Receives a sighting of a new beacon or from another sender.
  private mutating func receiveUnusual(_ sighting: Sighting) {
    var former: BeaconSender?
    table.update(sighting.beacon, at: sighting.time) {
      BeaconStatistics(sighting)
    } update: { statistics in
      if statistics.address != sighting.address { former = statistics.change(to: sighting) }
      _ = statistics.receive(sighting)
    }
    guard let former else { return }
    senders.add(former, of: sighting.beacon)
    identities.receive(sighting, after: (former.address, former.addressType))
    for finding in identities.removeFindings() where findings.count < Self.maximumFindings {
      findings.append((finding, sighting.wallTime))
    }
  }

  func row(_ entry: BeaconTable<BeaconStatistics>.Entry) -> BeaconRow {
    BeaconRow(
      beacon: entry.beacon, state: entry.state,
      senders: senders.senders(of: entry.beacon, entry.state))
  }
}
