import ArgumentParser
import Frontends

/// The options that a file and the environment may set.
enum InputCatalog {
  /// The options of a subcommand or a group, by long name.
  typealias Options = [String: Input]

  /// The groups of options that several subcommands share.
  static let groups: [any ParsableArguments.Type] = [
    SourceOptions.self, PaceOptions.self, LocationOptions.self, RegionOptions.self,
    CalibrationOptions.self, RuleOptions.self, OutputOptions.self, ZoneOption.self,
  ]
  /// The options that mean the same in every subcommand that takes them.
  static let shared = groups.map(options).reduce(into: Options()) { $0.merge($1) { old, _ in old } }

  static let commands: [String: any ParsableCommand.Type] = Dictionary(
    Beaconscan.configuration.subcommands.filter { !readers.contains($0.name) }
      .map { ($0.name, $0) }, uniquingKeysWith: { old, _ in old })
  /// Subcommands that read settings themselves, or use none: a scenario must give the same
  /// recording on every machine.
  private static let readers: Set = ["config", "schema", "simulate"]

  /// Options that exclude each other: only those of the first source with any of them are used.
  static let alternatives: [Set<String>] = [
    RuleSettings.limits, ["model", "environment"], ["quiet", "verbose"], ["format", "json"],
    ["uuid", "major", "minor", "region", "all"],
  ]

  /// Options whose meaning differs from that of the same name elsewhere.
  static let own: [String: Set<String>] = ["advertise": ["interval"]]

  /// Options that need another one.
  static let companions: [String: [String: String]] = [
    "scan": ["sort": "all", "top": "all"], "calibrate": ["name": "save"],
  ]

  static func options(of type: any ParsableArguments.Type) -> Options {
    Dictionary(
      Input.all(of: type).filter { !$0.isArgument && $0.name != "config" }.map { ($0.name, $0) },
      uniquingKeysWith: { old, _ in old })
  }

  /// Returns the subcommands that have an option and may have a table in a file, sorted.
  static func owners(of option: String) -> [String] {
    commands.keys.sorted().filter { commands[$0].map(options)?[option] != nil }
  }

  /// Returns all subcommands that have an option, sorted.
  static func everyOwner(
    of option: String, in command: any ParsableCommand.Type = Beaconscan.self,
    after path: [String] = []
  ) -> [String] {
    command.configuration.subcommands.flatMap { next in
      let path = path + [next.name]
      let isOwner = Input.all(of: next).contains { !$0.isArgument && $0.name == option }
      return (isOwner ? [path.joined(separator: " ")] : [])
        + everyOwner(of: option, in: next, after: path)
    }.sorted()
  }

  /// Returns the only name of which another one is the beginning, or else the most similar name.
  static func suggestion(for name: String, among names: some Sequence<String>) -> String? {
    let longer = names.filter { name.count > 2 && $0.hasPrefix(name) }
    if longer.count == 1 { return longer[0] }
    let near = names.map { ($0, name.edits(to: $0)) }.filter { other, edits in
      // Words that both begin with, such as `mqtt-`, are no sign that they are similar.
      let same = zip(name, other).prefix { $0 == $1 }.lastIndex { $0.0 == "-" } ?? -1
      return edits <= max(1, (name.count - same - 1) / 3)
    }
    return near.min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
  }
}

extension ParsableCommand {
  /// The subcommand's name on the command line.
  static var name: String { configuration.commandName ?? "" }
}
