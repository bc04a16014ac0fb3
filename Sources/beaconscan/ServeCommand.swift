import Advertising
import ArgumentParser
import BrokerLink
import CaptureFiles
import Frontends
import HTTPServing
import KioskService
import LocationSources
import Positioning
import Ranging
import Records
import Regions
import Release
import Scanning
import ServiceCore
import Storage

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve beacons, regions, locations and events to other programs and to a page.",
    discussion: """
      A page in a browser, http://127.0.0.1:8732/, shows what is near. Programs get the same as JSON, \
      and events as they happen as Server-Sent Events. /api/v1/openapi.json describes all, and \
      /metrics is for Prometheus. See docs/service.md.

      The regions are those of the options, or those of the configuration file. With --token-file, \
      programs may add and remove others over HTTP. With --state-file or --history regions, their \
      states and events outlive the service. With --source, with a --position or with a circle \
      (--region NAME=LATITUDE,LONGITUDE,RADIUS) the service has locations too.

      The receiver rests while no region is monitored and nobody has asked for beacons in the last \
      minute. A recording is replayed in its own time, and begins when something is wanted of it. \
      SIGHUP reads the configuration file again, for its regions and rules. SIGTERM ends the service.

      Where it can be reached from other machines, --token-file is needed for reading too. Only \
      requests that name this machine as localhost, or as --host says, are answered, and pages of \
      other origins only where --allow-origin names them. See docs/security.md.

      EXAMPLES
        beaconscan serve --replay captures/visitor.btsnoop \\
          --region kiosk=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:100
        beaconscan serve --config /etc/beaconscan.toml --state-file regions \\
          --listen /run/beaconscan/http.sock
      """)

  @Argument(Inputs.files) var files: [String]

  @OptionGroup var source: SourceOptions
  @Option(Inputs.speed.rare) var speed: ReplayScanner.Speed
  @OptionGroup(title: "Location") var location: LocationOptions
  @OptionGroup(title: "Which beacons") var regions: RegionOptions
  @OptionGroup(title: "Rules") var rules: RuleOptions
  @OptionGroup(title: "Distance") var calibration: CalibrationOptions
  @OptionGroup(title: "Access") var access: AccessOptions
  @OptionGroup(title: "Apps") var apps: AppOptions
  @OptionGroup(title: "Publish") var broker: BrokerOptions
  @OptionGroup(title: "Publish") var webhooks: WebhookOptions
  @OptionGroup(title: "Publish") var fleet: FleetOptions

  @Option(
    .file(
      "state-file",
      "Keep regions, their states and events in this database, and resume with what is there.",
      valid: "write the name of a file, which stays; - is none", isValid: { $0 != "-" }))
  var stateFile: String?

  @Option(
    .file(
      "history", "The same, and keep when each beacon was there: see beaconscan history.",
      details: "The beacons of regions are then ranged all the time.",
      valid: "write the name of a file, which stays; - is none", isValid: { $0 != "-" }))
  var history: String?

  @Option(
    .whole(
      "history-days", "Remove from the history what is older than so many days.", in: 1...36500,
      shown: "90"
    ).rare)
  var historyDays: Int?

  @Option(
    .whole(
      "history-size",
      "Remove the oldest of the history where its file is larger than so many megabytes.",
      in: 1...1_000_000, shown: "64"
    ).rare)
  var historySize: Int?

  @Flag(Inputs.quiet.rare) var quiet: Bool

  mutating func validate() throws {
    source.recordings.speed = speed
    try source.check(adding: files)
    if !source.isLive, Settings.current.usesEveryRegion {
      regions.leaveOut(notIn: source.recordings.replay, areSomeNeeded: false)
    }
    try location.check(beside: source.recordings.replay)
    let limits = [("history-days", historyDays), ("history-size", historySize)]
    if history == nil,
      let (option, _) = limits.first(where: { $1 != nil && Settings.current.isGiven($0) })
    {
      throw ValidationError("--\(option) needs a history; give --history FILE too.")
    }
  }

  func run() async throws {
    try calibration.check(source, isQuiet: quiet)
    // The page shows events in their own time.
    var source = source
    if !source.isLive, source.recordings.speed == .max { source.recordings.speed = .times(1) }
    var beacons = BeaconService.Configuration()
    beacons.rules = try rules.rules
    calibration.apply(to: &beacons)
    var configuration = ServiceConfiguration(
      version: release, addresses: try access.addresses, access: try access.rules,
      regions: try regionConfiguration, beacons: beacons)
    configuration.database = history ?? stateFile
    configuration.formerDatabase = history == nil || history == stateFile ? nil : stateFile
    configuration.recordsPresence = history != nil
    // Recorded data may be old, and is kept as long as there is room.
    configuration.history = Store.Limits(
      maximumAge: source.isLive ? Int64(historyDays ?? 90) * 86400 : .max,
      maximumBytes: Int64(historySize ?? 64) * 1_000_000)
    configuration.broker = try broker.configuration
    configuration.webhooks = try webhooks.configuration
    configuration.fleet = try fleet.configuration
    if let text = configuration.fleet?.settings.text {
      do {
        try Self.readAgain(with: text) { configuration.regions = $0 }
        configuration.beacons.rules = configuration.regions.rules
      } catch {
        configuration.fleet?.settings.refuseKept("\(error)")
      }
    }
    configuration.apps = apps.configuration
    let (scanner, locations) = try open(
      source, hasCircles: !configuration.regions.circles.isEmpty)
    // An adapter may appear later. The receiver's state contains the reason.
    if let error = scanner.flatMap({ CommandError($0.availability, waits: source.isLive) }) {
      throw error
    }
    let log = ServiceLog(isQuiet: quiet) { printError($0) }
    do throws(ServiceFailure) {
      let service = try ServiceRun(
        configuration, scanner: scanner, locationSource: locations,
        appLocationSource: source.isLive ? { location.settings.makeSource() } : nil, log: log,
        logger: diagnostics { log.error($0) })
      try await service.run(
        reload: { try Self.readAgain(with: $0, $1) }, until: { await Interrupt.request() })
    } catch {
      throw CommandError(error)
    }
  }

  private func open(
    _ source: SourceOptions, hasCircles: Bool
  ) throws -> (scanner: (any Scanner)?, locations: (any LocationSource)?) {
    guard !source.isLive else {
      let scanner = try source.open(offsets: calibration.adapterOffset, waits: true)
      let isWanted = location.settings.isGiven || hasCircles
      return (scanner, isWanted ? location.settings.makeSource() : nil)
    }
    let (captures, tracks) = RecordingFormat.sort(source.recordings.replay, pipesAreTracks: false)
    try regions.check(captures, tracks)
    var beacons = source
    beacons.recordings.replay = captures
    // It would be read, and refused, when something is wanted of it.
    try beacons.recordings.checkFormats()
    let scanner =
      captures.isEmpty ? nil : try beacons.open(offsets: calibration.adapterOffset)
    guard !tracks.isEmpty else { return (scanner, nil) }
    let replay = try source.recordings.open(tracks: tracks)
    guard let captures = scanner as? ReplayScanner, let tracks = replay.tracks else {
      return (scanner, replay.source)
    }
    let merged = MergedReplay(captures, tracks, startsTogether: true)
    return (merged.scanner, merged.source)
  }

  private var regionConfiguration: RegionConfiguration {
    get throws {
      let rules = rules
      return RegionConfiguration(
        regions: try rules.apply(to: regions.all), circles: regions.circles,
        rules: try rules.rules, names: Settings.current.names
      ) { region throws(RegionRefusal) in
        do throws(OptionError) {
          return try rules.settings.rules(of: region)
        } catch {
          throw .invalid("\(error)")
        }
      }
    }
  }

  /// Reads the command line and the configuration again, with that of a fleet if there is one. If
  /// they are not valid, nothing changes.
  private static func readAgain(
    with fleet: [UInt8]?, _ use: (RegionConfiguration) throws -> Void
  ) throws {
    do {
      let given = try GivenInputs(
        CommandLine.arguments.dropFirst(2), for: ServeCommand.self, path: [ServeCommand.name])
      try Settings.readAgain(for: given, fleet: fleet) { given in
        try use(try ServeCommand(given).regionConfiguration)
      }
      BeaconNames.give(Settings.current.names)
    } catch let error as CommandError {
      throw ServiceFailure(.usage, error.message)
    } catch {
      throw ServiceFailure(.usage, Beaconscan.usageSentence(error))
    }
  }
}

extension CommandError {
  fileprivate init(_ failure: ServiceFailure) {
    let status: Status =
      switch failure.kind {
      case .usage: .usage
      case .unavailable: .unavailable
      case .noPermission: .noPermission
      case .cannotCreate: .cannotCreate
      }
    self.init(status, failure.description)
  }
}
