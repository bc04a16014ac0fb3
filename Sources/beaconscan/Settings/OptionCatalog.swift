import ArgumentParser
import FoundationEssentials
import Frontends

/// An option or flag, as the argument parser describes it.
struct OptionDescription: Decodable, Equatable {
  private struct Name: Decodable, Equatable {
    var kind: String
    var name: String
  }

  private var kind: String
  private(set) var isRepeating: Bool
  private(set) var valueName: String?
  private(set) var allValues: [String]?
  private(set) var abstract: String?
  private var names: [Name]?

  var isFlag: Bool { kind == "flag" }

  var name: String? { names?.first { $0.kind == "long" }?.name }

  func isGiven(by argument: String) -> Bool {
    if argument.hasPrefix("--") {
      let given = argument.dropFirst(2).prefix { $0 != "=" }
      return names?.contains { $0.kind == "long" && $0.name == given } ?? false
    }
    guard argument.hasPrefix("-") else { return false }
    return names?.contains {
      $0.kind == "short" && argument.dropFirst().prefix { $0.isLetter }.contains($0.name)
    } ?? false
  }
}

/// The options that a file and the environment may set. The argument parser supplies them, so that
/// every option of every subcommand is included.
enum OptionCatalog {
  /// The options of a subcommand or a group, by long name.
  typealias Options = [String: OptionDescription]

  /// The groups of options that several subcommands share.
  static let groups: [any ParsableArguments.Type] = [
    SourceOptions.self, LocationOptions.self, RegionOptions.self, CalibrationOptions.self,
    RuleOptions.self,
    OutputOptions.self,
  ]
  /// The options that mean the same in every subcommand that takes them.
  static let shared = groups.map(options).reduce(into: Options()) { $0.merge($1) { old, _ in old } }

  static let commands: [String: any ParsableCommand.Type] = Dictionary(
    Beaconscan.configuration.subcommands.filter { !readers.contains($0._commandName) }
      .map { ($0._commandName, $0) }, uniquingKeysWith: { old, _ in old })
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
    var options = Options()
    for option in everyOption(of: type) {
      guard let name = option.name, !["help", "version", "config"].contains(name) else { continue }
      options[name] = option
    }
    return options
  }

  static func everyOption(of type: any ParsableArguments.Type) -> [OptionDescription] {
    struct Tool: Decodable {
      struct Command: Decodable { var arguments: [OptionDescription]? }
      var command: Command
    }
    let text = type._dumpHelp()
    // If a later parser writes another form, there are no options here, and tests fail.
    let tool = try? JSONDecoder().decode(Tool.self, from: Data(text.utf8))
    return tool?.command.arguments?.filter { $0.name != nil } ?? []
  }

  /// Returns the subcommands that have an option and may have a table in a file, sorted.
  static func owners(of option: String) -> [String] {
    commands.keys.sorted().filter { commands[$0].map(options)?[option] != nil }
  }

  /// Returns all subcommands that have an option, sorted.
  static func everyOwner(
    of option: String, in command: any ParsableCommand.Type = Beaconscan.self,
    behind path: [String] = []
  ) -> [String] {
    command.configuration.subcommands.flatMap { next in
      let path = path + [next._commandName]
      let isOwner = everyOption(of: next).contains { $0.name == option }
      return (isOwner ? [path.joined(separator: " ")] : [])
        + everyOwner(of: option, in: next, behind: path)
    }.sorted()
  }

  static func suggestion(for name: String, among names: some Sequence<String>) -> String? {
    let near = names.map { ($0, name.edits(to: $0)) }.filter { $0.1 <= max(1, name.count / 3) }
    return near.min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
  }
}
