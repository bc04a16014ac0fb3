public import Advertising
public import ArgumentParser
import Frontends
import LocationSources
import Positioning
import Regions
import Scanning

/// The regions of one word of the command line: as given, or several that were gathered.
struct RegionList: ExpressibleByArgument {
  /// A character that no name contains.
  private static let separator: Character = "\u{1E}"

  private(set) var regions: [RegionArgument] = []

  init(_ regions: [RegionArgument]) { self.regions = regions }

  /// Reads regions. Each is a definition, or a `NAME` from a configuration file.
  init?(argument: String) {
    for text in argument.split(separator: Self.separator, omittingEmptySubsequences: false) {
      guard
        let region = Settings.current.region(named: String(text)) ?? RegionArgument(String(text))
      else { return nil }
      regions.append(region)
    }
  }

  /// Returns a command line with all valid regions in one word, because the parser's time grows
  /// with the square of the number of words.
  static func gather(_ arguments: [String]) -> [String] {
    var (rest, texts): ([String], [String]) = ([], [])
    var index = 0
    while index < arguments.count, arguments[index] != "--" {
      let word = arguments[index]
      var text: String?
      if word.hasPrefix("--region=") {
        text = String(word.dropFirst(9))
      } else if word == "--region", index + 1 < arguments.count {
        text = arguments[index + 1]
      }
      if let text, !text.contains(separator), RegionList(argument: text) != nil {
        texts.append(text)
        index += word == "--region" ? 2 : 1
      } else {
        rest.append(word)
        index += 1
      }
    }
    let gathered = texts.isEmpty ? [] : ["--region=" + texts.joined(separator: String(separator))]
    return rest + gathered + arguments[index...]
  }
}

extension ProximityUUID: ExpressibleByArgument {}

/// The regions that limit the beacons.
struct RegionOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only beacons of this proximity UUID.", discussion: "May be given several times.",
      valueName: "uuid"))
  var uuid: [ProximityUUID] = []

  @Option(help: ArgumentHelp("Of --uuid, only this major.", valueName: "number"))
  var major: UInt16?

  @Option(help: ArgumentHelp("Of --uuid, only this minor.", valueName: "number"))
  var minor: UInt16?

  @Option(
    name: .customLong("region"),
    help: ArgumentHelp(
      "A region with a name: NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR.",
      discussion:
        "Rules of its own for monitor may follow: NAME=UUID,enter-distance=1,exit-after=20s,each. "
        + "For monitor and serve, NAME=LATITUDE,LONGITUDE,RADIUS is a circle on the earth, in degrees and "
        + "meters. "
        + "NAME alone is a region of the configuration file. May be given several times.",
      valueName: "name=uuid[:major[:minor]]"))
  private var lists: [RegionList] = []

  func validate() throws {
    if uuid.isEmpty, major != nil || minor != nil {
      throw ValidationError("--major and --minor need a --uuid to belong to.")
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
    if !left.isEmpty || !areSomeNeeded { lists = left.isEmpty ? [] : [RegionList(left)] }
  }

  /// Checks that recordings include a track for circles and a capture for beacons.
  func check(_ captures: [String], _ tracks: [String]) throws {
    if let circle = circles.first, tracks.isEmpty, let capture = captures.first {
      throw CommandError(
        .badData,
        "\(capture): it is no track, and the region '\(circle.identifier)' is a circle; give a track of "
          + "NMEA 0183, GPX or gpsd JSON too")
    }
    if let region = all.first, captures.isEmpty, let track = tracks.first {
      throw CommandError(
        .badData,
        "\(track): it is a track, and the region '\(region.name)' is one of beacons; give a capture too"
      )
    }
  }

  private var regions: [RegionArgument] { lists.flatMap(\.regions) }

  var named: [NamedRegion] { regions.beacons }

  var circles: [CircularRegion] { regions.circles }

  /// The regions of beacons. Those of `--uuid` come first, and are named after their constraints.
  var all: [NamedRegion] {
    uuid.map { uuid in
      NamedRegion(BeaconConstraint(uuid: uuid, major: major, minor: minor))
    } + named
  }
}

extension [NamedRegion] {
  /// Returns whether a beacon is in a region, or no region is named.
  func include(_ beacon: BeaconIdentity) -> Bool {
    isEmpty || contains { $0.constraint.matches(beacon) }
  }
}
