import Advertising
import CaptureFiles
import Frontends
import LiveScanning
import LocationSources
import Logging
import Positioning
import Ranging
import Regions
import Scanning
import ServiceCore

/// The options of an embedded scanner, with the names and values of `beaconscan monitor`, `range`
/// and `locate`. They come from no file and no environment variable.
package struct EmbeddingOptions: Sendable {
  private(set) var replay: [String] = []
  private var speed: ReplayScanner.Speed?
  private var follows = false
  private var duration: Seconds?
  private var adapters: [AdapterSelection] = []
  private var backend: LiveScanner.Backend?
  private var isActive = false
  private var isCoded = false
  private var uuids: [ProximityUUID] = []
  private var major: UInt16?
  private var minor: UInt16?
  private var named: [RegionArgument] = []
  private var location = LocationSettings()
  private(set) var rules = RuleSettings()
  private(set) var ranges = false
  private var interval: Seconds?
  private(set) var showsRaw = false
  private(set) var locates = false
  private(set) var showsHeadings = false
  private(set) var showsVisits = false
  private var isQuiet = false
  private var model: String?
  private var environment: Double?
  private var typicalDistance = TypicalDistance()
  private var measuredPower: Double?
  private var offsets: [AdapterOffset] = []
  private var calibrations: [BeaconCalibration] = []
  private var pins: [Pin] = []
  private(set) var stateFile: String?
  private(set) var application: String?
  private var daemon = DaemonUse.auto
  private(set) var always = false
  /// The names of the options that were set.
  private var given: Set<String> = []

  package init() {}

  /// The options of a scanner that receives by itself: the daemon and its configuration decide the
  /// rest for all apps.
  private static let local = [
    "active", "adapter", "adapter-offset", "application", "backend", "calibrate", "coded",
    "environment", "gpsd", "measured-power", "model", "pin", "position", "replay", "source",
    "state-file", "typical-distance",
  ]

  private static let assignments: [String: Assignment<Self>] = Dictionary(
    uniqueKeysWithValues: ([
      .several(Inputs.replay, \.replay), .one(Inputs.speed, \.speed),
      .one(Inputs.follow, \.follows), .one(Inputs.duration, \.duration),
      .several(Inputs.adapter, \.adapters), .one(Inputs.backend, \.backend),
      .one(Inputs.active, \.isActive), .one(Inputs.coded, \.isCoded),
      .several(Inputs.uuid, \.uuids), .one(Inputs.major, \.major), .one(Inputs.minor, \.minor),
      .several(Inputs.region, \.named), .one(Inputs.source, \.location.source),
      .one(Inputs.gpsd, \.location.gpsd), .one(Inputs.position, \.location.position),
      .one(Inputs.range, \.ranges), .one(Inputs.interval, \.interval),
      .one(Inputs.raw, \.showsRaw), .one(Inputs.locate, \.locates),
      .one(Inputs.heading, \.showsHeadings), .one(Inputs.visits, \.showsVisits),
      .one(Inputs.quiet, \.isQuiet), .one(Inputs.model, \.model),
      .one(Inputs.environment, \.environment), .one(Inputs.measuredPower, \.measuredPower),
      .one(Inputs.typicalDistance, \.typicalDistance),
      .several(Inputs.adapterOffset, \.offsets), .several(Inputs.calibrate, \.calibrations),
      .several(Inputs.pin, \.pins), .one(Inputs.stateFile, \.stateFile),
      .one(Inputs.application, \.application), .one(Inputs.daemon, \.daemon),
      .one(Inputs.always, \.always),
    ] + RuleSettings.assignments.values.map { $0.within(\.rules) }).map { ($0.name, $0) })

  static var names: [String] { assignments.keys.sorted() }

  /// Sets an option from its text, or adds a value to one that can be set several times. A flag is
  /// `true` or `false`, and `true` without a text.
  package mutating func set(_ name: String, to text: String?) throws(EmbeddingError) {
    guard let assignment = Self.assignments[name] else {
      throw EmbeddingError(
        "there is no option '\(name)'; the options are \(Self.names.joined(separator: ", "))")
    }
    if name == "replay", let text, replay.contains(text) {
      throw EmbeddingError("\(text) is given twice; its packets would count twice")
    }
    do throws(OptionError) {
      try assignment.set(&self, text)
    } catch {
      throw EmbeddingError(error)
    }
    given.insert(name)
    // The latest offset of an adapter counts.
    if name == "adapter-offset", let offset = offsets.popLast() {
      offsets.removeAll { $0.adapter == offset.adapter }
      offsets.append(offset)
    }
  }

  /// The regions of beacons, those of the option `uuid` first.
  var regions: [NamedRegion] {
    uuids.map { NamedRegion(BeaconConstraint(uuid: $0, major: major, minor: minor)) }
      + named.beacons
  }

  var circles: [CircularRegion] { named.circles }
  var isLive: Bool { replay.isEmpty }
  var needsBeacons: Bool { !regions.isEmpty || ranges }
  var locationOption: String? {
    circles.first.map { "the circle '\($0.identifier)'" }
      ?? (locates ? "locate" : showsHeadings ? "heading" : showsVisits ? "visits" : nil)
  }
  var reports: Bool { !isQuiet }
  /// Whether events of registrations are kept until they were dealt with.
  var keepsEvents: Bool { stateFile != nil || always }

  func check() throws(EmbeddingError) {
    if !needsBeacons, locationOption == nil {
      throw EmbeddingError(
        "there is nothing to report: set a region, such as "
          + "lobby=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, range for the distances of every beacon, or "
          + "locate for the place of this machine")
    }
    if uuids.isEmpty, major != nil || minor != nil {
      throw EmbeddingError("major and minor need a uuid to belong to; set uuid too")
    }
    var names: Set<String> = []
    for name in regions.map(\.name) + circles.map(\.identifier)
    where !names.insert(name).inserted {
      throw EmbeddingError("two regions are named '\(name)'; give each a name of its own")
    }
    if !ranges, let option = showsRaw ? "raw" : interval.map({ _ in "interval" }) {
      throw EmbeddingError("\(option) is for the reports of ranging; set range too")
    }
    if environment != nil, let model, model != "log-distance" {
      throw EmbeddingError("environment belongs to the model log-distance; set one of them")
    }
    try checkSource()
    try checkLocation()
    try checkDaemon()
  }

  private var localOption: String? { Self.local.first(where: given.contains) }

  private func checkDaemon() throws(EmbeddingError) {
    if daemon == .required, let option = localOption {
      throw EmbeddingError(
        "\(option) is for a scanner that receives by itself; set \(option) or daemon required, not "
          + "both")
    }
    if always, let option = daemon == .never ? "daemon never" : localOption {
      throw EmbeddingError(
        "always is for the service for apps, which \(option) excludes; set one of them, or "
          + "state-file to keep regions by itself")
    }
  }

  /// Links the program to the daemon; returns `nil` if the scanner receives by itself.
  func link(_ environment: [String: String], _ logger: Logger) throws -> DaemonLink? {
    guard daemon != .never, localOption == nil else { return nil }
    let configuration = try configuration
    var hello = AppHello()
    hello.rangingInterval = configuration.rangingInterval
    hello.rules = configuration.rules
    hello.launch = always ? .thisProgram : .never
    return DaemonLink.link(
      hello, isRequired: daemon == .required, environment: environment, logger: logger)
  }

  private func checkLocation() throws(EmbeddingError) {
    if let fault = location.fault() { throw EmbeddingError(fault) }
    if let file = replay.first, let option = location.liveOption() {
      throw EmbeddingError(
        "\(option) is for live locations, and \(file) is a recording; set one of them")
    }
    if location.isGiven, locationOption == nil {
      throw EmbeddingError(
        "source, gpsd and position are for locations; set locate, heading, visits or a region that is "
          + "a circle too")
    }
  }

  private func checkSource() throws(EmbeddingError) {
    if let file = replay.first, let option = liveOption {
      throw EmbeddingError(
        "\(option) is for live scanning, and \(file) is a recording; set one of them")
    }
    if isLive, let option = speed.map({ _ in "speed" }) ?? (follows ? "follow" : nil) {
      throw EmbeddingError("\(option) belongs to a recording; set replay too")
    }
    if isLive, duration != nil {
      throw EmbeddingError("duration belongs to a recording; set replay too, or stop the scanner")
    }
    if adapters.count > 1, adapters.contains(.all) {
      throw EmbeddingError("adapter all means every adapter; set no other beside it")
    }
    if backend == .bluez, let option = rawFlag {
      throw EmbeddingError(
        "\(option) needs raw HCI sockets, which the backend bluez does not use; set one of them")
    }
    for case .address(let address)? in offsets.map(\.adapter) where !isLive {
      throw EmbeddingError(
        "adapter-offset \(address)=…: recordings have adapters' numbers, not their addresses; name "
          + "it as hci0, hci1 and so on")
    }
  }

  private var rawFlag: String? { isActive ? "active" : isCoded ? "coded" : nil }

  private var liveOption: String? {
    if !adapters.isEmpty { return "adapter" }
    if backend != nil { return "backend" }
    return rawFlag
  }

  func open() throws -> EmbeddedSources {
    guard !isLive else {
      return EmbeddedSources(
        scanner: needsBeacons ? liveScanner : nil,
        locations: locationOption == nil ? nil : location.makeSource())
    }
    guard let option = locationOption else {
      return EmbeddedSources(scanner: try openCaptures(replay))
    }
    guard needsBeacons else {
      let tracks = try openTracks(replay)
      return EmbeddedSources(locations: tracks, tracks: tracks)
    }
    let (captures, tracks) = RecordingFormat.sort(replay, pipesAreTracks: false)
    guard !tracks.isEmpty, !captures.isEmpty else {
      let (missing, what) =
        tracks.isEmpty
        ? ("track of NMEA 0183, GPX or gpsd JSON", option) : ("capture", "beacons")
      throw EmbeddingError(
        "\(replay.joined(separator: ", ")): a recording for \(what) is missing; set replay to a "
          + "\(missing) too")
    }
    let (scanner, replay) = (try openCaptures(captures), try openTracks(tracks))
    let merged = MergedReplay(scanner, replay, startsTogether: true)
    return EmbeddedSources(scanner: merged.scanner, locations: merged.source, tracks: replay)
  }

  private func openTracks(_ paths: [String]) throws -> TrackReplay {
    try TrackReplay(paths: paths, speed: speed ?? .max, follows: follows, duration: nanoseconds)
  }

  private var nanoseconds: Int64? { duration.map { Int64($0.value * 1e9) } }

  private func openCaptures(_ paths: [String]) throws -> ReplayScanner {
    var numbered: [UInt16: Double] = [:]
    for offset in offsets {
      if case .number(let number) = offset.adapter { numbered[number] = offset.decibels }
    }
    return try ReplayScanner(
      paths: paths, speed: speed ?? .max, follows: follows, duration: nanoseconds,
      offsets: numbered)
  }

  private var liveScanner: LiveScanner {
    var configuration = LiveScanner.Configuration()
    configuration.backend = backend ?? .auto
    configuration.adapters = AdapterSelection(adapters)
    configuration.isActive = isActive
    configuration.usesCodedPHY = isCoded
    configuration.offsets = offsets.compactMap { offset in
      offset.adapter.map { ($0, offset.decibels) }
    }
    return LiveScanner(configuration)
  }

  var configuration: BeaconService.Configuration {
    get throws {
      var configuration = BeaconService.Configuration()
      configuration.rules = try rules.rules
      configuration.rangingInterval = interval?.value ?? 1
      configuration.setCalibration(
        Calibration(
          model: model.flatMap { PathLossModel(name: $0) }, environment: environment,
          measuredPower: measuredPower, offsets: offsets, typicalDistance: typicalDistance),
        of: calibrations.map { ($0.beacons, $0.calibration) })
      for pin in pins { configuration.pins[pin.beacon] = pin.sender }
      return configuration
    }
  }
}

/// The sources of an embedded scanner, at least one.
struct EmbeddedSources {
  var scanner: (any Scanner)?
  var locations: (any LocationSource)?
  var tracks: TrackReplay?
}
