import Advertising
import CaptureFiles
import Frontends
import LiveScanning
import LocationSources
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
  private var duration: Seconds?
  private var adapters: [AdapterSelection] = []
  private var backend: LiveScanner.Backend?
  private var uuids: [ProximityUUID] = []
  private var major: UInt16?
  private var minor: UInt16?
  private var named: [RegionArgument] = []
  private var location = LocationSettings()
  private var rules = RuleSettings()
  private var interval: Seconds?
  private var flags: Set<String> = []
  private var model: PathLossModel?
  private var environment: Double?
  private var measuredPower: Double?
  private var offsets: [AdapterOffset] = []
  private var calibrations: [BeaconCalibration] = []
  private var pins: [Pin] = []
  private(set) var stateFile: String?
  private(set) var application: String?

  package init() {}

  private static let flagNames: Set = [
    "active", "coded", "each", "follow", "heading", "locate", "quiet", "range", "raw", "visits",
  ]

  static let names =
    (flagNames.union(RuleSettings.names).union([
      "adapter", "adapter-offset", "application", "backend", "calibrate", "duration", "environment",
      "gpsd", "interval", "major", "measured-power", "minor", "model", "pin", "position", "region",
      "replay", "source", "speed", "state-file", "uuid",
    ])).sorted()

  // MARK: Setting

  /// Sets an option from its text, or adds a value to one that can be set several times. A flag is
  /// `true` or `false`, and `true` without a text.
  package mutating func set(_ name: String, to text: String?) throws(EmbeddingError) {
    guard Self.names.contains(name) else {
      throw EmbeddingError(
        "there is no option '\(name)'; the options are \(Self.names.joined(separator: ", "))")
    }
    if Self.flagNames.contains(name) { return try setFlag(name, text) }
    let what = Self.requirement(of: name, for: text ?? "")
    guard let text, !text.isEmpty else {
      throw EmbeddingError(OptionError.missingValue(name, requirement: what))
    }
    func value<Value>(_ value: Value?) throws(EmbeddingError) -> Value {
      guard let value else {
        throw EmbeddingError(OptionError.wrongValue(name, text, requirement: what))
      }
      return value
    }
    func number(_ range: ClosedRange<Double>) throws(EmbeddingError) -> Double {
      try value(Double(text).flatMap { range.contains($0) ? $0 : nil })
    }
    switch name {
    case "replay":
      guard !replay.contains(text) else {
        throw EmbeddingError("\(text) is given twice; its packets would count twice")
      }
      replay.append(text)
    case "speed": speed = try value(ReplayScanner.Speed(text))
    case "duration":
      duration = try value(Seconds(argument: text).flatMap { $0.value > 0 ? $0 : nil })
    case "adapter":
      adapters.append(text == "all" ? .all : .these([try value(AdapterName(text))]))
    case "backend": backend = try value(LiveScanner.Backend(rawValue: text))
    case "uuid": uuids.append(try value(ProximityUUID(text)))
    case "major": major = try value(UInt16(text))
    case "minor": minor = try value(UInt16(text))
    case "region": named.append(try value(RegionArgument(text)))
    case "source": location.source = try value(LocationSettings.Kind(rawValue: text))
    case "gpsd": location.gpsd = try value(GPSDAddress(text))
    case "position": location.position = try value(PositionArgument(text))
    case "interval":
      interval = try value(
        Seconds(argument: text).flatMap { (0.05...86400).contains($0.value) ? $0 : nil })
    case "model": model = try value(PathLossModel(name: text))
    case "environment": environment = try number(PathLossModel.exponentRange)
    case "measured-power": measuredPower = try number(-100 ... -1)
    case "adapter-offset":
      let offset = try value(AdapterOffset(text).flatMap { abs($0.decibels) <= 50 ? $0 : nil })
      offsets.removeAll { $0.adapter == offset.adapter }
      offsets.append(offset)
    case "calibrate": calibrations.append(try value(BeaconCalibration(text)))
    case "pin": pins.append(try value(Pin(text)))
    case "state-file": stateFile = text
    case "application": application = text
    default:
      do throws(OptionError) { try rules.set(name, to: text) } catch { throw EmbeddingError(error) }
    }
  }

  private mutating func setFlag(_ name: String, _ text: String?) throws(EmbeddingError) {
    switch text {
    case nil, "true": flags.insert(name)
    case "false": flags.remove(name)
    case let text?:
      throw EmbeddingError(
        OptionError.wrongValue(name, text, requirement: "write true or false, or give no value"))
    }
    rules.each = flags.contains("each")
  }

  private static func requirement(of name: String, for text: String) -> String {
    switch name {
    case "region":
      RegionArgument.requirement(for: text)
        ?? "write NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR, with rules of its own behind "
        + "commas, or NAME=LATITUDE,LONGITUDE,RADIUS; "
        + ProximityUUID.requirement(
          for: text.split(separator: "=").dropFirst().first
            .flatMap { $0.split { ":,".contains($0) }.first.map { String($0) } } ?? "")
    case "backend":
      "write \(LiveScanner.Backend.allCases.map(\.rawValue).joined(separator: " or "))"
    case "source":
      "write \(LocationSettings.Kind.allCases.map(\.rawValue).joined(separator: " or "))"
    case "replay": "write the name of a recording"
    case "interval": "write a time from 50ms to 1d"
    case "model": "write \(PathLossModel.names.joined(separator: " or "))"
    case "environment": "write a number from 0.5 to 8"
    case "measured-power": "write a signal strength from -100 to -1 dBm"
    case "adapter-offset":
      "write decibels from -50 to 50 such as 3, or those of one adapter such as hci1=3"
    case "application": "write the name of the program"
    default: Frontends.requirement(of: name, for: text) ?? ""
    }
  }

  // MARK: Using

  /// The regions of beacons, those of the option `uuid` first.
  var regions: [NamedRegion] {
    uuids.map { NamedRegion(BeaconConstraint(uuid: $0, major: major, minor: minor)) }
      + named.beacons
  }

  var circles: [CircularRegion] { named.circles }

  var isLive: Bool { replay.isEmpty }
  var ranges: Bool { flags.contains("range") }
  var showsRaw: Bool { flags.contains("raw") }
  var locates: Bool { flags.contains("locate") }
  var showsHeadings: Bool { flags.contains("heading") }
  var showsVisits: Bool { flags.contains("visits") }
  private var needsBeacons: Bool { !regions.isEmpty || ranges }
  private var locationOption: String? {
    circles.first.map { "the circle '\($0.identifier)'" }
      ?? ["locate", "heading", "visits"].first(where: flags.contains)
  }
  var reports: Bool { !flags.contains("quiet") }

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
    if environment != nil, let model, model.name != "log-distance" {
      throw EmbeddingError("environment belongs to the model log-distance; set one of them")
    }
    try checkSource()
    try checkLocation()
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
    if !isLive, let address = offsets.compactMap(\.adapter).first(where: \.isAddress) {
      throw EmbeddingError(
        "adapter-offset \(address)=…: recordings have adapters' numbers, not their addresses; name "
          + "it as hci0, hci1 and so on")
    }
  }

  private var follows: Bool { flags.contains("follow") }
  /// The option that needs raw HCI sockets, if any.
  private var rawFlag: String? { ["active", "coded"].first(where: flags.contains) }

  private var liveOption: String? {
    if !adapters.isEmpty { return "adapter" }
    if backend != nil { return "backend" }
    return rawFlag
  }

  func open() throws(EmbeddingError) -> EmbeddedSources {
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

  private func openTracks(_ paths: [String]) throws(EmbeddingError) -> TrackReplay {
    do throws(TrackError) {
      return try TrackReplay(
        paths: paths, speed: speed ?? .max, follows: follows, duration: nanoseconds)
    } catch {
      throw EmbeddingError(error)
    }
  }

  private var nanoseconds: Int64? { duration.map { Int64($0.value * 1e9) } }

  private func openCaptures(_ paths: [String]) throws(EmbeddingError) -> ReplayScanner {
    var numbered: [UInt16: Double] = [:]
    for offset in offsets {
      if case .number(let number) = offset.adapter { numbered[number] = offset.decibels }
    }
    do throws(CaptureError) {
      return try ReplayScanner(
        paths: paths, speed: speed ?? .max, follows: follows, duration: nanoseconds,
        offsets: numbered)
    } catch {
      throw EmbeddingError(error)
    }
  }

  private var liveScanner: LiveScanner {
    var configuration = LiveScanner.Configuration()
    configuration.backend = backend ?? .auto
    configuration.adapters = AdapterSelection(adapters)
    configuration.isActive = flags.contains("active")
    configuration.usesCodedPHY = flags.contains("coded")
    configuration.offsets = offsets.compactMap { offset in
      offset.adapter.map { ($0, offset.decibels) }
    }
    return LiveScanner(configuration)
  }

  var beaconRegions: [BeaconRegion] {
    get throws(EmbeddingError) {
      do throws(OptionError) {
        return try rules.apply(to: regions)
      } catch {
        throw EmbeddingError(error)
      }
    }
  }

  var configuration: BeaconService.Configuration {
    get throws(EmbeddingError) {
      var configuration = BeaconService.Configuration()
      do throws(OptionError) {
        configuration.rules = try rules.rules
      } catch {
        throw EmbeddingError(error)
      }
      configuration.rangingInterval = interval?.value ?? 1
      configuration.setCalibration(
        Calibration(
          model: model, environment: environment, measuredPower: measuredPower, offsets: offsets),
        of: calibrations.map { ($0.beacons, $0.calibration) })
      for pin in pins { configuration.pins[pin.beacon] = pin.sender }
      return configuration
    }
  }
}

extension AdapterName {
  fileprivate var isAddress: Bool { if case .address = self { true } else { false } }
}

/// The sources of an embedded scanner, at least one.
struct EmbeddedSources {
  var scanner: (any Scanner)?
  var locations: (any LocationSource)?
  /// The tracks that are replayed; `nil` if locations are live.
  var tracks: TrackReplay?
}
