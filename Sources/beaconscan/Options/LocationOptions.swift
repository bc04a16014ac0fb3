import ArgumentParser
import CaptureFiles
import Frontends
import LocationSources
import Positioning
import Scanning
import Sources

struct LocationOptions: ParsableArguments {
  @Option(Inputs.source.rare) var source: LocationSettings.Kind?
  @Option(Inputs.gpsd.rare) var gpsd: GPSDAddress?
  @Option(Inputs.position.rare) var position: PositionArgument?

  func validate() throws {
    if let fault = settings.fault(mark: "--", where: Settings.current.isGiven) {
      throw ValidationError(fault + ".")
    }
  }

  var settings: LocationSettings {
    var settings = LocationSettings()
    settings.source = source
    settings.gpsd = gpsd
    settings.position = position
    return settings
  }

  func check(beside recordings: [String]) throws {
    guard let liveOption, let file = recordings.first else { return }
    throw ValidationError(
      "\(liveOption) is for live locations, and \(file) is a recording; give one of them.")
  }

  var liveOption: String? {
    settings.liveOption(where: Settings.current.isGiven).map { "--" + $0 }
  }

  private func choice(of source: any LocationSource) -> String {
    (source as? AutomaticSource)?.look()
      ?? "\(source.name) is used, because of --source \(settings.kind.rawValue)"
  }

  /// Examines the location daemons and the choice of a source, whose faults do not stop scanning.
  func findings() -> [Finding] {
    let doctor = LocationDoctor()
    let fixes = settings.makeFixSource()
    return [
      doctor.examineGPSD(at: gpsd ?? .local), doctor.examineGeoClue(), doctor.examineCompass(),
      Finding(
        .position, .info,
        position.map { "the configured position is \($0)" }
          ?? "no position is configured; a machine that stays where it is can have one: --position "
          + "LATITUDE,LONGITUDE, also in the configuration file"),
      Finding(
        .location, .info,
        "locations: "
          + (fixes.availability == .available
            ? choice(of: fixes) : "no source can be used; the lines above have the reasons")),
    ]
  }

  /// Opens the source. With `waits`, it waits for a daemon that does not run.
  func open(waits: Bool = false) throws -> LocationInput {
    let fixes = settings.makeFixSource()
    if var error = CommandError(fixes.availability, waits: waits) {
      if error.status == .unavailable {
        error.message += "; or give the place: --position LATITUDE,LONGITUDE"
      }
      throw error
    }
    let compass = CompassSource()
    return LocationInput(
      source: CombinedSource(fixes: fixes, compass: compass), compass: compass,
      choice: choice(of: fixes))
  }
}

extension RecordingOptions {
  func open(tracks: [String]) throws -> LocationInput {
    let replay = try Interrupt.endingAtOnce {
      try TrackReplay(paths: tracks, speed: speed, follows: follow, duration: nanoseconds)
    }
    return LocationInput(source: replay, tracks: replay, isPaced: speed != .max || follow)
  }
}
