public import Advertising
public import ArgumentParser
package import Frontends
import Positioning
import Scanning

extension NamedRegion: ExpressibleByArgument {
  /// Reads `NAME=UUID[:MAJOR[:MINOR]][,RULE=VALUE …]`, or the `NAME` of a region that a configuration file has.
  package init?(argument: String) {
    if let region = Settings.current.regions.first(where: { $0.name == argument }) {
      self = region
    } else {
      self.init(argument)
    }
  }
}

extension ProximityUUID: ExpressibleByArgument {}

/// The value of a `--region`: beacons, or a circle on the earth.
enum RegionArgument: ExpressibleByArgument {
  case beacons(NamedRegion)
  case circle(CircularRegion)

  /// Reads a region of beacons, or `NAME=LATITUDE,LONGITUDE,RADIUS`.
  init?(argument: String) {
    if let (name, numbers) = Self.numbers(argument) {
      guard !name.isEmpty, let center = Coordinate(latitude: numbers[0], longitude: numbers[1]),
        abs(numbers[1]) <= 180,
        let circle = try? CircularRegion(identifier: name, center: center, radius: numbers[2])
      else { return nil }
      self = .circle(circle)
    } else {
      guard let region = NamedRegion(argument: argument) else { return nil }
      self = .beacons(region)
    }
  }

  /// The name and the three numbers of a circle. No region of beacons has three numbers.
  private static func numbers(_ argument: String) -> (name: String, numbers: [Double])? {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let words = parts[1].split(separator: ",", omittingEmptySubsequences: false)
    let numbers = words.compactMap { Double(String($0)) }
    return words.count == 3 && numbers.count == 3 ? (String(parts[0]), numbers) : nil
  }

  /// What is valid in place of a circle that is none; `nil` for what does not look like a circle.
  static func requirement(for argument: String) -> String? {
    numbers(argument).map { _ in
      "a circle is NAME=LATITUDE,LONGITUDE,RADIUS with a latitude from -90 to 90, a longitude from -180 "
        + "to 180 and a radius of more than 0 and at most \(Int(CircularRegion.maximumRadius)) m"
    }
  }
}

/// Which beacons count.
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
    help: ArgumentHelp(
      "A region with a name: NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR.",
      discussion:
        "Rules of its own for monitor may follow: NAME=UUID,enter-distance=1,exit-after=20s,each. "
        + "For monitor and serve, NAME=LATITUDE,LONGITUDE,RADIUS is a circle on the earth, in degrees and meters. "
        + "NAME alone is a region of the configuration file. May be given several times.",
      valueName: "name=uuid[:major[:minor]]"))
  var region: [RegionArgument] = []

  func validate() throws {
    if uuid.isEmpty, major != nil || minor != nil {
      throw ValidationError("--major and --minor need a --uuid to belong to.")
    }
    let names = all.map(\.name) + circles.map(\.identifier)
    if let twice = names.first(where: { name in names.filter { $0 == name }.count > 1 }) {
      throw ValidationError("Two regions are named '\(twice)'; give each a name of its own.")
    }
  }

  /// Checks that no circle is named where only beacons count.
  func checkBeaconsOnly() throws {
    guard let circle = circles.first else { return }
    throw ValidationError(
      "--region \(circle.identifier) is a circle, which monitor and serve alone have; name beacons: NAME=UUID."
    )
  }

  /// Checks that recordings have what the regions need: a track for circles, and a capture for beacons.
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

  /// The regions of beacons that have a name of their own.
  var named: [NamedRegion] {
    region.compactMap { if case .beacons(let region) = $0 { region } else { nil } }
  }

  /// The circles.
  var circles: [CircularRegion] {
    region.compactMap { if case .circle(let circle) = $0 { circle } else { nil } }
  }

  /// The regions of beacons, those by --uuid first, named by what they mean.
  var all: [NamedRegion] {
    uuid.map { uuid in
      NamedRegion(BeaconConstraint(uuid: uuid, major: major, minor: minor))
    } + named
  }
}

extension [NamedRegion] {
  /// Returns whether a beacon counts: it is in one of the regions, or none is named.
  func include(_ beacon: BeaconIdentity) -> Bool {
    isEmpty || contains { $0.constraint.matches(beacon) }
  }
}
