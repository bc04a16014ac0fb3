import Adapters
import ArgumentParser
import CaptureFiles
import LocationSources
import Positioning
import Scanning

/// Where locations come from, where no track is replayed.
struct LocationOptions: ParsableArguments {
  /// The kinds of sources.
  enum Kind: String, ExpressibleByArgument, CaseIterable {
    case auto, gpsd, geoclue, fixed
  }

  @Option(
    help: ArgumentHelp(
      "Where locations come from: gpsd, geoclue, fixed (the --position) or auto.",
      discussion:
        "auto uses gpsd where it runs, otherwise GeoClue, otherwise the --position. Where one of them has no "
        + "fix for a minute, it uses the next. (default: auto)"))
  var source: Kind?

  private var kind: Kind { source ?? .auto }

  @Option(
    help: ArgumentHelp(
      "Where gpsd listens: HOST, HOST:PORT or the path of a Unix socket.",
      valueName: "host:port|path"))
  var gpsd: GPSDAddress?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Where this machine stands, in degrees and meters above sea level.",
      valueName: "latitude,longitude[,altitude]"))
  var position: PositionArgument?

  /// The altitudes that a position may have, in meters.
  private static let altitudes = -11_000.0...100_000

  func validate() throws {
    if kind == .fixed, position == nil {
      throw ValidationError("--source fixed needs a --position LATITUDE,LONGITUDE.")
    }
    if let altitude = position?.altitude, !Self.altitudes.contains(altitude) {
      throw ValidationError("The altitude of --position must be from -11000 to 100000 m.")
    }
    if let position, kind == .gpsd || kind == .geoclue, Settings.current.isGiven("position") {
      throw ValidationError(
        "--position \(position) is not used with --source \(kind.rawValue); leave one of them out."
      )
    }
    if gpsd != nil, kind == .geoclue || kind == .fixed, Settings.current.isGiven("gpsd") {
      throw ValidationError(
        "--gpsd is not used with --source \(kind.rawValue); leave one of them out.")
    }
  }

  /// An option that tracks do not have and that the command line gave.
  var liveOption: String? {
    let given = Settings.current.isGiven
    if kind != .auto, given("source") { return "--source" }
    if gpsd != nil, given("gpsd") { return "--gpsd" }
    return position != nil && given("position") ? "--position" : nil
  }

  /// Indicates whether one of these options is given, on the command line or in the configuration.
  var isGiven: Bool { source != nil || gpsd != nil || position != nil }

  /// Returns the source of fixes, together with the compass.
  func makeSource() -> any LocationSource {
    CombinedSource(fixes: makeFixSource(), compass: CompassSource())
  }

  private func makeFixSource() -> any LocationSource {
    let gpsd = GPSDSource(gpsd ?? .local)
    let fixed = position.map { FixedSource($0.place, altitude: $0.altitude) }
    return switch (kind, fixed) {
    case (.gpsd, _): gpsd
    case (.geoclue, _): GeoClueSource()
    case (.fixed, let fixed?): fixed
    case (_, let fixed): AutomaticSource([gpsd, GeoClueSource()] + (fixed.map { [$0] } ?? []))
    }
  }

  /// Returns which source is used and why.
  private func choice(of source: any LocationSource) -> String {
    (source as? AutomaticSource)?.look().sentence
      ?? "\(source.name) is used, because of --source \(kind.rawValue)"
  }

  /// Examines the daemons that locations and headings come from, and the choice of one. Nothing of it is an error, because
  /// scanning does not need it.
  func findings() -> [Finding] {
    let doctor = LocationDoctor()
    return [
      doctor.examineGPSD(at: gpsd ?? .local), doctor.examineGeoClue(), doctor.examineCompass(),
      Finding(
        .position, .info,
        position.map { "the configured position is \($0)" }
          ?? "no position is configured; a machine that stays where it is can have one: --position "
          + "LATITUDE,LONGITUDE, also in the configuration file"),
      Finding(.location, .info, "locations: " + choice(of: makeFixSource())),
    ]
  }

  /// Opens the source.
  ///
  /// - Throws: `CommandError` where none can be used.
  func open() throws -> LocationInput {
    let fixes = makeFixSource()
    switch fixes.availability {
    case .available: break
    case .notPermitted(let sentence): throw CommandError(.noPermission, sentence)
    case .unavailable(let sentence):
      throw CommandError(
        .unavailable, sentence + "; or give the place: --position LATITUDE,LONGITUDE")
    }
    let compass = CompassSource()
    return LocationInput(
      CombinedSource(fixes: fixes, compass: compass), compass: compass, choice: choice(of: fixes))
  }
}

/// The value of a `--position`.
struct PositionArgument: ExpressibleByArgument, CustomStringConvertible {
  let place: Coordinate
  let altitude: Double?
  let description: String

  init?(argument: String) {
    let words = argument.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = words.compactMap { Double(String($0)) }
    guard numbers.count == words.count, (2...3).contains(numbers.count), abs(numbers[1]) <= 180,
      let place = Coordinate(latitude: numbers[0], longitude: numbers[1])
    else { return nil }
    self.place = place
    altitude = numbers.count == 3 ? numbers[2] : nil
    guard altitude?.isFinite != false else { return nil }
    description = argument
  }
}

extension GPSDAddress: ExpressibleByArgument {
  /// Reads a host, a host and a port, or a path.
  package init?(argument: String) {
    // Only a path may have spaces, and nothing has control characters.
    let least: UInt8 = argument.hasPrefix("/") ? 0x20 : 0x21
    guard argument.utf8.allSatisfy({ $0 >= least && $0 != 0x7F }) else { return nil }
    self.init(argument)
  }
}

extension RecordingOptions {
  /// The recordings by what they hold.
  ///
  /// A file shows it by its first bytes. What can be read only once, a pipe, is what nothing else shows: `isTrack`.
  func sorted(pipesAreTracks isTrack: Bool) -> (captures: [String], tracks: [String]) {
    var (captures, tracks): ([String], [String]) = ([], [])
    for path in replay {
      if RecordingFormat.isTrack(path) ?? isTrack {
        tracks.append(path)
      } else {
        captures.append(path)
      }
    }
    return (captures, tracks)
  }

  /// Opens tracks.
  func open(tracks: [String]) throws -> LocationInput {
    do throws(TrackError) {
      let replay = try Interrupt.endingAtOnce { () throws(TrackError) in
        try TrackReplay(
          paths: tracks, speed: speed, follows: follow, duration: nanoseconds)
      }
      return LocationInput(replay, tracks: replay, isPaced: self.speed != .max || follow)
    } catch {
      throw CommandError(error)
    }
  }
}

extension CommandError {
  /// The status and sentence of a track that cannot be read.
  init(_ error: TrackError) {
    if case .file(let error) = error {
      self.init(error)
    } else {
      self.init(.badData, "\(error)")
    }
  }
}
