import Advertising
import ArgumentParser
import Frontends
import LocationSources
import Positioning
import Regions
import Scanning

struct RegionOptions: ParsableArguments {
  @Option(Inputs.uuid) var uuid: [ProximityUUID]
  @Option(Inputs.major.rare) var major: UInt16?
  @Option(Inputs.minor.rare) var minor: UInt16?
  @Option(Inputs.namedRegion) private var regions: [RegionArgument]

  func validate() throws {
    if uuid.isEmpty, major != nil || minor != nil {
      throw ValidationError("--major and --minor need a --uuid to belong to.")
    }
    do throws(OptionError) {
      for region in named { _ = try RuleSettings().rules(of: region) }
    } catch {
      throw ValidationError(error.sentence(mark: "--"))
    }
    let names = all.map(\.name) + circles.map(\.identifier)
    var known: Set<String> = []
    if let twice = names.first(where: { !known.insert($0).inserted }) {
      throw ValidationError("Two regions are named '\(twice)'; give each a name of its own.")
    }
    for (count, limit, kind) in [
      (all.count, RegionMonitor.Configuration().maximumRegions, "regions of beacons"),
      (circles.count, GeofenceMonitor.maximumRegions, "circles"),
    ] where count > limit {
      throw ValidationError("--region names \(count) \(kind); name at most \(limit).")
    }
  }

  /// Checks that the command line names no circle. Those of files are ignored.
  func checkBeaconsOnly() throws {
    guard let circle = circles.first, Settings.current.isGiven("region") else { return }
    throw ValidationError(
      "--region \(circle.identifier) is a circle, which only monitor and serve have; name beacons: "
        + "NAME=UUID.")
  }

  /// Omits regions for which the recordings have no data, since those of a file are for live use.
  /// If none would remain and some are needed, all stay.
  mutating func leaveOut(notIn recordings: [String], areSomeNeeded: Bool) {
    let (captures, tracks) = RecordingFormat.sort(recordings, pipesAreTracks: false)
    let left = regions.filter { !($0.isCircle ? tracks : captures).isEmpty }
    if !left.isEmpty || !areSomeNeeded { regions = left }
  }

  func check(_ captures: [String], _ tracks: [String]) throws {
    if let circle = circles.first, tracks.isEmpty, let capture = captures.first {
      throw CommandError(
        .badData,
        "\(capture): it is not a track, and the region '\(circle.identifier)' is a circle; give a track of "
          + "NMEA 0183, GPX or gpsd JSON too")
    }
    if let region = all.first, captures.isEmpty, let track = tracks.first {
      throw CommandError(
        .badData,
        "\(track): it is a track, and the region '\(region.name)' is one of beacons; give a capture too"
      )
    }
  }

  var named: [NamedRegion] { regions.beacons }
  var circles: [CircularRegion] { regions.circles }

  /// The regions of beacons. Those of `--uuid` come first, and are named after their constraints.
  var all: [NamedRegion] {
    uuid.map { uuid in
      NamedRegion(BeaconConstraint(uuid: uuid, major: major, minor: minor))
    } + named
  }
}

extension Inputs {
  /// A region of beacons, a circle, or the name of a region in a configuration file.
  fileprivate static let namedRegion = Setting<RegionArgument>(
    SettingDescription(
      "region", regionSummary, "name=uuid[:major[:minor]]",
      details:
        "Rules of its own for monitor may follow: NAME=UUID,enter-distance=1,exit-after=20s,each. "
        + "For monitor and serve, NAME=LATITUDE,LONGITUDE,RADIUS is a circle on the earth, in degrees "
        + "and meters. NAME alone is a region of the configuration file. May be given several times."
    ),
    valid: { text in
      text.isEmpty || text.contains("=")
        ? region.requirement(text)
        : "\(region.requirement(text)), or the NAME of a region that the configuration file has"
    },
    read: { text in Settings.current.region(named: text) ?? RegionArgument(text) })
}

extension [NamedRegion] {
  func include(_ beacon: BeaconIdentity) -> Bool {
    isEmpty || contains { $0.constraint.matches(beacon) }
  }
}
