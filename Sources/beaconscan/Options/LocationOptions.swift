import ArgumentParser
import CaptureFiles
package import Frontends
package import LocationSources
import Positioning
import Scanning
import Sources

/// Where locations come from, where no track is replayed.
struct LocationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Where locations come from: gpsd, geoclue, fixed (the --position) or auto.",
      discussion:
        "auto uses gpsd where it runs, otherwise GeoClue, otherwise the --position. Where one of them has no "
        + "fix for a minute, it uses the next. (default: auto)"))
  var source: LocationSettings.Kind?

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

  func validate() throws {
    if let fault = settings.fault(mark: "--", where: Settings.current.isGiven) {
      throw ValidationError(fault + ".")
    }
  }

  /// What the options say.
  var settings: LocationSettings {
    var settings = LocationSettings()
    (settings.source, settings.gpsd, settings.position) = (source, gpsd, position)
    return settings
  }

  /// An option that tracks do not have and that the command line gave.
  var liveOption: String? {
    settings.liveOption(where: Settings.current.isGiven).map { "--" + $0 }
  }

  /// Returns which source is used and why.
  private func choice(of source: any LocationSource) -> String {
    (source as? AutomaticSource)?.look().sentence
      ?? "\(source.name) is used, because of --source \(settings.kind.rawValue)"
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
      Finding(.location, .info, "locations: " + choice(of: settings.makeFixSource())),
    ]
  }

  /// Opens the source. A daemon that does not run yet is waited for where that is wanted: the source's state says what is
  /// the matter.
  ///
  /// - Throws: `CommandError` where none can be used.
  func open(waits: Bool = false) throws -> LocationInput {
    let fixes = settings.makeFixSource()
    switch fixes.availability {
    case .available: break
    case .unavailable where waits: break
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

extension LocationSettings.Kind: ExpressibleByArgument {}

extension PositionArgument: ExpressibleByArgument {
  /// Reads a latitude, a longitude and perhaps an altitude.
  package init?(argument: String) { self.init(argument) }
}

extension GPSDAddress: ExpressibleByArgument {
  /// Reads a host, a host and a port, or a path.
  package init?(argument: String) { self.init(argument) }
}

extension RecordingOptions {
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
