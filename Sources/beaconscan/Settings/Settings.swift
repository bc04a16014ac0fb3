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
    var options: [String: GivenSetting]
    var regions: [RegionArgument]
  }

  private(set) var layers: [Layer] = []
  private(set) var regions: [RegionArgument] = []
  private var regionsByName: [String: RegionArgument] = [:]
  private(set) var beacons: [NamedBeacon] = []
  /// The options of this run that a file or a variable sets.
  private(set) var used: [String: GivenSetting] = [:]
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

  static func variable(_ name: String) -> String? {
    // The string is copied at once.
    let value = unsafe getenv(name).map { unsafe String(cString: $0) }
    return value?.isEmpty == true ? nil : value
  }

  private static var environment: [String: String] { ProcessInfo.processInfo.environment }

  /// Reads a file, or those of the user and the system, after the configuration of a fleet. Throws
  /// `CommandError` for the first fault.
  init(path: String?, mayBeMissing: Bool = false, fleet: [UInt8]? = nil) throws {
    let files =
      (fleet.map { [ConfigurationFile(ofFleet: $0)] } ?? [])
      + (try Self.read(path, mayBeMissing: mayBeMissing))
    self.init(files: files)
    for file in files {
      guard let problem = file.problems.first else { continue }
      let others = file.problems.count - 1
      throw CommandError(
        .badData,
        file.sentence(of: problem)
          + (others > 0 && !file.isOfFleet ? "; beaconscan config check shows \(others) more" : ""))
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

  /// Completes a command line, keeps the settings for the process, and returns the result of a
  /// function that is given all values.
  static func complete<Result>(
    _ given: GivenInputs, parse: (GivenInputs) throws -> Result
  ) throws -> Result {
    let settings = try Interrupt.endingAtOnce { try read(for: given) }
    BeaconNames.give(settings.names)
    loaded.withLock { $0 = settings }
    return try settings.parse(given, parse)
  }

  /// Reads the settings again, with those of a fleet if there are any, and calls a function with all
  /// values. If it succeeds, the process keeps the settings; the caller sets the beacons' names.
  static func readAgain<Result>(
    for given: GivenInputs, fleet: [UInt8]?, _ body: (GivenInputs) throws -> Result
  ) throws -> Result {
    let settings = try read(for: given, fleet: fleet)
    let result = try $candidate.withValue(settings) { try settings.parse(given, body) }
    loaded.withLock { $0 = settings }
    return result
  }

  private static func read(
    for given: GivenInputs, fleet: [UInt8]? = nil
  ) throws -> Settings {
    guard let name = given.path.first, let command = InputCatalog.commands[name] else {
      return Settings()
    }
    var settings = try Settings(
      path: given.values["config"]?.last ?? nil,
      mayBeMissing: name == "calibrate" && given.has("save"), fleet: fleet)
    // Most machines have no settings, and looking for them takes time.
    guard
      !settings.layers.isEmpty || environment.keys.contains(where: { $0.hasPrefix("BEACONSCAN_") })
    else { return settings }
    try settings.use(InputCatalog.options(of: command), of: name, given: given)
    // `monitor` and `serve` use the regions of the files if the command line names none.
    let regionOptions = ["uuid", "major", "minor", "region"]
    if ["monitor", "serve"].contains(name),
      !regionOptions.contains(where: { settings.used[$0] != nil || given.has($0) })
    {
      settings.usesEveryRegion = true
    } else if fleet != nil, settings.layers.first?.regions.isEmpty == false {
      throw CommandError(
        .usage,
        "the options of this receiver name its regions, so those of the fleet cannot be used; leave "
          + "\(regionOptions.map { "--\($0)" }.joined(separator: ", ")) out")
    }
    return settings
  }

  private func parse<Result>(
    _ given: GivenInputs, _ body: (GivenInputs) throws -> Result
  ) throws -> Result {
    try given.check(with: used)
    for (name, setting) in used.sorted(by: { $0.key < $1.key }) {
      try setting.check(given.inputs[name])
    }
    var given = given
    given.set(used)
    if usesEveryRegion { given.set("region", to: regions.map(\.name)) }
    do {
      return try body(given)
    } catch let error as ValidationError {
      throw origin(of: Beaconscan.usageSentence(error)) ?? error
    }
  }

  /// Returns an error with the origin of an option that a sentence names, if none is given on the
  /// command line.
  private func origin(of sentence: String) -> CommandError? {
    used.sorted { $0.key < $1.key }.first { sentence.contains("--\($0.key)") }.map {
      CommandError(
        $0.value.offset == nil ? .usage : .badData, "\($0.value.origin): \(sentence)")
    }
  }

  private mutating func use(
    _ options: InputCatalog.Options, of command: String, given: GivenInputs
  ) throws {
    let names = Set(options.keys)
    let groups = InputCatalog.alternatives.map { $0.intersection(names) }
    let single = names.subtracting(groups.reduce([]) { $0.union($1) }).map { Set([$0]) }
    for group in groups + single {
      guard !group.contains(where: given.has) else { continue }
      for source in sources(of: command, options) {
        let found = try group.compactMap { name in try source(name).map { (name, $0) } }
        guard !found.isEmpty else { continue }
        used.merge(found) { old, _ in old }
        break
      }
    }
    for (name, other) in InputCatalog.companions[command] ?? [:] {
      if !given.has(other), used[other]?.values != ["true"] { used[name] = nil }
    }
  }

  /// Returns the sources of a subcommand's options, in order of precedence.
  private func sources(
    of command: String, _ options: InputCatalog.Options
  ) -> [(String) throws -> GivenSetting?] {
    // An option with another meaning, such as a recording's format, is only for its subcommand.
    func isShared(_ name: String) -> Bool {
      options[name]?.isSame(as: InputCatalog.shared[name]) == true
    }
    func isGeneral(_ name: String) -> Bool {
      isShared(name)
        || InputCatalog.shared[name] == nil && InputCatalog.own[command]?.contains(name) != true
    }
    var sources: [(String) throws -> GivenSetting?] = [
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
  private static func variable(
    _ option: String, _ input: Input
  ) throws(CommandError) -> GivenSetting? {
    let name = variableName(option)
    guard let text = variable(name) else { return nil }
    var values = [text]
    if input.isFlag {
      switch text.lowercased() {
      case "true", "yes", "1": values = ["true"]
      case "false", "no", "0": values = ["false"]
      default:
        throw CommandError(.usage, "\(name): '\(text)' is neither true nor false")
      }
    } else if input.isRepeating {
      values = text.split(separator: ";").map(String.init)
    }
    return GivenSetting(values: values, isFlag: input.isFlag, origin: name)
  }

  /// Returns the settings of all variables by option, and the faults of others.
  static func variables() -> (settings: [String: GivenSetting], problems: [String]) {
    var options = InputCatalog.shared
    for (name, command) in InputCatalog.commands {
      for (option, description) in InputCatalog.options(of: command) {
        options["\(name).\(option)"] = description
        options[option] = options[option] ?? description
      }
    }
    let keys = Dictionary(options.keys.map { (variableName($0), $0) }, uniquingKeysWith: { $1 })
    var settings: [String: GivenSetting] = [:]
    var problems: [String] = []
    for name in environment.keys.sorted()
    where name.hasPrefix("BEACONSCAN_") && !isOfEvent(name) {
      guard let key = keys[name], let option = options[key] else {
        // These name the configuration file, and options of the systemd units.
        guard
          !["BEACONSCAN_CONFIG", "BEACONSCAN_OPTIONS", "BEACONSCAN_SERVE_OPTIONS"].contains(name)
        else { continue }
        let meant = InputCatalog.suggestion(for: name, among: keys.keys.sorted())
        problems.append(
          "\(name): no option has this variable; "
            + (meant.map { "\($0) may be meant" }
              ?? "valid is BEACONSCAN_ and an option, as in BEACONSCAN_FORMAT"))
        continue
      }
      do throws(CommandError) {
        let setting = try variable(key, option)
        settings[key] = setting
        try setting?.check(option)
      } catch {
        problems.append(error.message)
      }
    }
    return (settings, problems)
  }
}
