public import Advertising
public import ArgumentParser
import Scanning

/// A named set of beacons.
struct NamedRegion: Hashable {
  var name: String
  var constraint: BeaconConstraint
  /// The options of its own rules, as the command line has them.
  var rules: [String] = []

  /// The name that a user gave; `nil` for a region of `--uuid`, which is named by what it means.
  var givenName: String? { name == constraint.description ? nil : name }

  /// The name and, where that does not show it, the constraint.
  var title: String { givenName.map { "\($0)  \(constraint)" } ?? name }
}

extension NamedRegion: ExpressibleByArgument {
  /// Reads `NAME=UUID[:MAJOR[:MINOR]][,RULE=VALUE …]`, or the `NAME` of a region that a configuration file has.
  init?(argument: String) {
    if let region = Settings.current.regions.first(where: { $0.name == argument }) {
      self = region
      return
    }
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { return nil }
    let words = parts[1].split(separator: ",", omittingEmptySubsequences: false)
    guard let constraint = BeaconConstraint(String(words[0])) else { return nil }
    self.init(
      name: String(parts[0]), constraint: constraint, rules: words.dropFirst().map { "--\($0)" })
  }
}

extension ProximityUUID: ExpressibleByArgument {}

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
        + "NAME alone is a region of the configuration file. May be given several times.",
      valueName: "name=uuid[:major[:minor]]"))
  var region: [NamedRegion] = []

  func validate() throws {
    if uuid.isEmpty, major != nil || minor != nil {
      throw ValidationError("--major and --minor need a --uuid to belong to.")
    }
    let names = all.map(\.name)
    if let twice = names.first(where: { name in names.filter { $0 == name }.count > 1 }) {
      throw ValidationError("Two regions are named '\(twice)'; give each a name of its own.")
    }
  }

  /// The regions, those by --uuid first, named by what they mean.
  var all: [NamedRegion] {
    uuid.map { uuid in
      let constraint = BeaconConstraint(uuid: uuid, major: major, minor: minor)
      return NamedRegion(name: constraint.description, constraint: constraint)
    } + region
  }
}

extension [NamedRegion] {
  /// Returns whether a beacon counts: it is in one of the regions, or none is named.
  func include(_ beacon: BeaconIdentity) -> Bool {
    isEmpty || contains { $0.constraint.matches(beacon) }
  }
}
