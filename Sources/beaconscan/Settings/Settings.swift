import Advertising
import ArgumentParser
import FoundationEssentials
import Frontends
import Glibc
import Records
import Synchronization

/// The settings of configuration files and the environment that the command line does not override.
///
/// An option comes from the first source that sets it: the command line, the environment, the
/// user's file, the system's file. In each, settings for one subcommand take precedence.
struct Settings: Sendable {
  struct Layer: Sendable {
    var path: String
    var options: [String: Setting]
    var regions: [RegionArgument]
  }

  private(set) var layers: [Layer] = []
  /// The regions of the files, the user's first.
  private(set) var regions: [RegionArgument] = []
  private var regionsByName: [String: RegionArgument] = [:]
  private(set) var beacons: [NamedBeacon] = []
  /// The options of this run that a file or a variable sets.
  private(set) var used: [String: Setting] = [:]
  /// Whether this run uses all regions of the files, since it names none.
  private(set) var usesEveryRegion = false

  /// The settings of this process; empty in a test of the parser.
  static var current: Settings { candidate ?? loaded.withLock { $0 } }
  private static let loaded = Mutex(Settings())
  /// The settings of a reload, before they are known to be valid.
  @TaskLocal private static var candidate: Settings?

  /// The files that are read without `--config`, in order.
  static var standardPaths: [String] {
    [userPath, "/etc/beaconscan.toml"].compactMap { $0 }
  }

  /// The user's file (XDG Base Directory Specification), or `nil` without a home directory.
  static var userPath: String? {
    // The specification says to ignore a relative path.
    if let folder = variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
      return "\(folder)/beaconscan.toml"
    }
    return variable("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/.config/beaconscan.toml" : nil }
  }

  /// Returns a variable of the environment, or `nil` if it is not set or empty.
  static func variable(_ name: String) -> String? {
    // The string is copied at once.
    let value = unsafe getenv(name).map { unsafe String(cString: $0) }
    return value?.isEmpty == true ? nil : value
  }

  private static var environment: [String: String] { ProcessInfo.processInfo.environment }

  /// Reads a file, or those of the user and the system; throws `CommandError` for the first fault.
  init(path: String?, mayBeMissing: Bool = false) throws {
    let files = try Self.read(path, mayBeMissing: mayBeMissing)
    self.init(files: files)
    for file in files {
      guard let problem = file.problems.first else { continue }
      let others = file.problems.count - 1
      throw CommandError(
        .badData,
        file.sentence(of: problem)
          + (others > 0 ? "; beaconscan config check shows \(others) more" : ""))
    }
  }

  init(files: [ConfigurationFile] = []) {
    for file in files {
      layers.append(Layer(path: file.path, options: file.settings, regions: file.regions))
      for region in file.regions where regionsByName[region.name] == nil {
        regionsByName[region.name] = region
        regions.append(region)
      }
      let (names, identities) = (Set(beacons.map(\.name)), Set(beacons.map(\.identity)))
      beacons += file.beacons.filter {
        !names.contains($0.name) && !identities.contains($0.identity)
      }
    }
  }

  /// Reads a file, or those of the user and the system, even if their contents are not valid.
  static func read(_ path: String?, mayBeMissing: Bool = false) throws -> [ConfigurationFile] {
    if let path = Self.path(path) {
      return mayBeMissing && !isThere(path) ? [] : [try ConfigurationFile(path: path)]
    }
    return try standardPaths.filter(isThere).map { try ConfigurationFile(path: $0) }
  }

  /// Returns the file of `--config` or the variable, or `nil` for the standard ones.
  static func path(_ given: String?) -> String? { given ?? variable("BEACONSCAN_CONFIG") }

  static func isThere(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  func region(named name: String) -> RegionArgument? { regionsByName[name] }

  var names: [BeaconIdentity: String] {
    Dictionary(beacons.map { ($0.identity, $0.name) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether the command line set an option, if it has a value.
  func isGiven(_ option: String) -> Bool { used[option] == nil }

  // MARK: The command line

  /// Adds the settings to a command line, and keeps them and the beacons' names for the process.
  /// Throws `CommandError` for a fault of a file or a variable.
  static func complete(_ arguments: [String]) throws -> [String] {
    // Asking the parser for options takes milliseconds, so this is skipped without settings.
    guard let (completed, settings) = try read(for: arguments, again: false) else {
      return arguments
    }
    BeaconNames.give(settings.names)
    loaded.withLock { $0 = settings }
    return completed
  }

  /// Reads the settings again, and calls a function with the completed command line, which is
  /// parsed with them. If it succeeds, the process keeps the settings; the caller sets the beacons'
  /// names. Throws `CommandError` for a fault of a file or a variable, and the function's errors.
  static func readAgain<Result>(
    for arguments: [String], _ body: ([String]) throws -> Result
  ) throws -> Result {
    guard let (completed, settings) = try read(for: arguments, again: true) else {
      return try body(arguments)
    }
    let result = try $candidate.withValue(settings) { try body(completed) }
    loaded.withLock { $0 = settings }
    return result
  }

  private static func read(
    for arguments: [String], again: Bool
  ) throws -> (arguments: [String], settings: Settings)? {
    guard let name = arguments.first, let command = OptionCatalog.commands[name],
      !arguments.contains(where: { ["--help", "-h", "--version"].contains($0) })
    else { return nil }
    let given = Array(arguments.dropFirst().prefix { $0 != "--" })
    func read() throws -> Settings {
      try Settings(
        path: value(of: "config", in: given),
        mayBeMissing: name == "calibrate" && given.contains("--save"))
    }
    // During a reload, an interrupt must not lose the work in progress.
    var settings = again ? try read() : try Interrupt.endingAtOnce { try read() }
    guard
      again || !settings.layers.isEmpty
        || environment.keys.contains(where: { $0.hasPrefix("BEACONSCAN_") })
    else { return nil }
    let options = OptionCatalog.options(of: command)
    try settings.use(options, of: name, given: given)
    // `monitor` and `serve` use the regions of the files if the command line names none.
    let regionOptions: Set = ["uuid", "major", "minor", "region"]
    var added = settings.used.sorted { $0.key < $1.key }.flatMap { $0.value.arguments(for: $0.key) }
    if ["monitor", "serve"].contains(name),
      settings.used.keys.allSatisfy({ !regionOptions.contains($0) }),
      !given.contains(where: { argument in
        regionOptions.contains { options[$0]?.isGiven(by: argument) == true }
      })
    {
      settings.usesEveryRegion = true
      added += settings.regions.map { "--region=\($0.name)" }
    }
    return ([name] + added + arguments.dropFirst(), settings)
  }

  /// Returns the fault of the setting that makes a command line fail, or `nil` if none does.
  func culprit(in arguments: [String]) -> CommandError? {
    for (name, setting) in used.sorted(by: { $0.key < $1.key }) {
      for group in OptionCatalog.groups
        + [arguments.first.flatMap { OptionCatalog.commands[$0] }].compactMap({ $0 })
      where OptionCatalog.options(of: group)[name] != nil {
        guard let fault = ConfigurationFile.fault(of: setting.arguments(for: name), as: group),
          fault.contains("--\(name)")
        else { continue }
        return CommandError(
          setting.offset == nil ? .usage : .badData, "\(setting.origin): \(fault)")
      }
    }
    return nil
  }

  private mutating func use(
    _ options: OptionCatalog.Options, of command: String, given: [String]
  ) throws {
    let names = Set(options.keys)
    let groups = OptionCatalog.alternatives.map { $0.intersection(names) }
    let single = names.subtracting(groups.reduce([]) { $0.union($1) }).map { Set([$0]) }
    for group in groups + single {
      let isOnCommandLine = given.contains { argument in
        group.contains { options[$0]?.isGiven(by: argument) == true }
      }
      guard !isOnCommandLine else { continue }
      for source in sources(of: command, options) {
        let found = try group.compactMap { name in try source(name).map { (name, $0) } }
        guard !found.isEmpty else { continue }
        used.merge(found) { old, _ in old }
        break
      }
    }
    for (name, other) in OptionCatalog.companions[command] ?? [:] {
      let isGiven = given.contains { options[other]?.isGiven(by: $0) == true }
      if !isGiven, used[other]?.values != ["true"] { used[name] = nil }
    }
  }

  /// Returns the sources of a subcommand's options, in order of precedence.
  private func sources(
    of command: String, _ options: OptionCatalog.Options
  ) -> [(String) throws -> Setting?] {
    // An option with another meaning, such as a recording's format, is only for its subcommand.
    func isShared(_ name: String) -> Bool { options[name] == OptionCatalog.shared[name] }
    func isGeneral(_ name: String) -> Bool {
      isShared(name)
        || OptionCatalog.shared[name] == nil && OptionCatalog.own[command]?.contains(name) != true
    }
    var sources: [(String) throws -> Setting?] = [
      { name in try options[name].flatMap { try Self.variable("\(command).\(name)", $0) } },
      { name in
        guard isGeneral(name), !Self.isOfEvent(Self.variableName(name)) else { return nil }
        return try options[name].flatMap { try Self.variable(name, $0) }
      },
    ]
    for layer in layers {
      sources.append { layer.options["\(command).\($0)"] }
      sources.append { isShared($0) ? layer.options[$0] : nil }
    }
    return sources
  }

  /// Returns whether `--exec` set a variable, since it started this process.
  private static func isOfEvent(_ name: String) -> Bool {
    variable("BEACONSCAN_TYPE") != nil && HookEvent.variableNames.contains(name)
  }

  /// Returns the variable of an option: `BEACONSCAN_ADAPTER_OFFSET`, `BEACONSCAN_MONITOR_EXEC`.
  static func variableName(_ option: String) -> String {
    "BEACONSCAN_" + option.uppercased().map { $0 == "-" || $0 == "." ? "_" : String($0) }.joined()
  }

  /// Returns the setting of a variable, in which semicolons separate values.
  private static func variable(_ option: String, _ description: OptionDescription) throws
    -> Setting?
  {
    let name = variableName(option)
    guard let text = variable(name) else { return nil }
    var values = [text]
    if description.isFlag {
      switch text.lowercased() {
      case "true", "yes", "1": values = ["true"]
      case "false", "no", "0": values = ["false"]
      default:
        throw CommandError(.usage, "\(name): '\(text)' is neither true nor false")
      }
    } else if description.isRepeating {
      values = text.split(separator: ";").map(String.init)
    }
    return Setting(values: values, isFlag: description.isFlag, origin: name)
  }

  /// Returns the settings of all variables by option, and the faults of others.
  static func variables() -> (settings: [String: Setting], problems: [String]) {
    var options = OptionCatalog.shared
    for (name, command) in OptionCatalog.commands {
      for (option, description) in OptionCatalog.options(of: command) {
        options["\(name).\(option)"] = description
        options[option] = options[option] ?? description
      }
    }
    let keys = Dictionary(options.keys.map { (variableName($0), $0) }, uniquingKeysWith: { $1 })
    var settings: [String: Setting] = [:]
    var problems: [String] = []
    for name in environment.keys.sorted()
    where name.hasPrefix("BEACONSCAN_") && !isOfEvent(name) {
      guard let key = keys[name], let option = options[key] else {
        // These name the configuration file, and options of the systemd units.
        guard
          !["BEACONSCAN_CONFIG", "BEACONSCAN_OPTIONS", "BEACONSCAN_SERVE_OPTIONS"].contains(name)
        else { continue }
        let meant = OptionCatalog.suggestion(for: name, among: keys.keys.sorted())
        problems.append(
          "\(name): no option has this variable; "
            + (meant.map { "\($0) may be meant" }
              ?? "valid is BEACONSCAN_ and an option, as in BEACONSCAN_FORMAT"))
        continue
      }
      do {
        let setting = try variable(key, option)
        settings[key] = setting
        if let fault = setting.flatMap({ fault(of: $0, for: key) }) {
          problems.append("\(name): \(fault)")
        }
      } catch {
        problems.append((error as? CommandError)?.message ?? "\(error)")
      }
    }
    return (settings, problems)
  }

  /// Returns the fault of the value of an option, such as `count` or `scan.count`.
  private static func fault(of setting: Setting, for key: String) -> String? {
    let parts = key.split(separator: ".").map(String.init)
    let name = parts.last ?? key
    let owner = parts.count > 1 ? parts.first : OptionCatalog.owners(of: name).first
    let group: (any ParsableArguments.Type)? =
      parts.count > 1 || OptionCatalog.shared[name] == nil
      ? owner.flatMap { OptionCatalog.commands[$0] }
      : OptionCatalog.groups.first { OptionCatalog.options(of: $0)[name] != nil }
    guard let group,
      let fault = ConfigurationFile.fault(of: setting.arguments(for: name), as: group),
      // Other requirements of the subcommand are not the variable's fault.
      fault.hasPrefix("--\(name): ") || fault.hasPrefix("--\(name) must")
    else { return nil }
    return fault
  }

  private static func value(of option: String, in arguments: [String]) throws -> String? {
    guard
      let place = arguments.lastIndex(where: { $0 == "--\(option)" || $0.hasPrefix("--\(option)=") }
      )
    else { return nil }
    let parts = arguments[place].split(
      separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2 { return String(parts[1]) }
    // The parser reports a missing value.
    return place + 1 < arguments.count ? arguments[place + 1] : nil
  }
}
