import Advertising
import ArgumentParser
import Frontends
import Positioning
import Ranging
import Records
import Scanning
import TOMLDocuments

struct GivenSetting: Sendable {
  /// The values, or `true` or `false` for a flag.
  var values: [String]
  var isFlag: Bool
  /// The file with line and column, or the variable.
  var origin: String
  /// The offset of the value in the file, or `nil` for a variable.
  var offset: Int?

  func check(_ input: Input?) throws(CommandError) {
    guard let input, !isFlag else { return }
    for value in values {
      do throws(CommandError) {
        try input.check(value)
      } catch {
        throw CommandError(offset == nil ? .usage : .badData, "\(origin): \(error.message)")
      }
    }
  }
}

/// A configuration file. A key is a long option without dashes. A table named after a subcommand
/// applies to it only.
struct ConfigurationFile {
  let path: String
  private(set) var document: TOMLDocument
  /// The settings by option, `format`, or by subcommand and option, `monitor.exec`.
  private(set) var settings: [String: GivenSetting] = [:]
  private(set) var regions: [RegionArgument] = []
  private(set) var beacons: [NamedBeacon] = []
  private(set) var problems: [TOMLDocument.Problem]

  private static let rules = InputCatalog.options(of: RuleOptions.self)
  /// Arguments without which a subcommand rejects all others.
  private static let needed = [
    "monitor": ["--uuid=00000000-0000-0000-0000-000000000000"], "record": ["-"],
    "decode": ["00"],
    "advertise": ["--uuid=00000000-0000-0000-0000-000000000000"],
  ]

  init(path: String) throws(CommandError) {
    guard !path.isEmpty else {
      throw CommandError(.usage, "The configuration must have a name; write the name of a file")
    }
    self.init(
      path: path, bytes: try readFile(path, "configuration", upTo: TOMLDocument.maximumBytes))
  }

  init(path: String, bytes: [UInt8]) {
    self.path = path
    document = TOMLDocument(bytes)
    problems = document.problems
    for entry in document.root.entries {
      switch (entry.key, entry.item.value) {
      case ("region", .table(let tables)): readRegions(tables)
      case ("beacon", .table(let tables)): readBeacons(tables)
      case ("region", _), ("beacon", _):
        problem(
          "'\(entry.key)' is a table for each name, as in [\(entry.key).lobby]", at: entry.range)
      case (_, .table(let table)): readCommand(entry, table)
      default: read(entry, among: InputCatalog.shared)
      }
    }
    problems.sort { $0.offset < $1.offset }
  }

  private static let fleetPath = "the fleet's configuration"

  /// Whether a fleet has sent it.
  var isOfFleet: Bool { path == Self.fleetPath }

  /// Creates the configuration that a fleet sends: regions, their rules, and names of beacons.
  init(ofFleet text: [UInt8]) {
    self.init(path: Self.fleetPath, bytes: text)
    for (key, setting) in settings
    where Self.rules[key.hasPrefix("serve.") ? String(key.dropFirst(6)) : key] == nil {
      problems.append(
        .init(
          "'\(key)' cannot be set by a fleet, which sends regions, their rules and names; set it in "
            + "the receiver's own file", at: setting.offset ?? 0))
    }
    for beacon in beacons where beacon.calibration != Calibration() || beacon.sender != nil {
      problems.append(
        .init(
          "a fleet can set only the name of the beacon '\(beacon.name)'; set its power, exponent, "
            + "offset and address in the receiver's own file", at: 0))
    }
    problems.sort { $0.offset < $1.offset }
  }

  func sentence(of problem: TOMLDocument.Problem) -> String {
    "\(path), \(document.position(of: problem.offset)): \(problem.message)"
  }

  /// Checks that the options fit together, which otherwise only the subcommand that uses them does.
  mutating func checkValues() {
    guard problems.isEmpty else { return }
    for group in InputCatalog.groups {
      let options = InputCatalog.options(of: group)
      check(settings.filter { options[$0.key] != nil }, as: group)
    }
    for (name, command) in InputCatalog.commands {
      let own = settings.filter { $0.key.hasPrefix(name + ".") }
      check(
        Dictionary(
          uniqueKeysWithValues: own.map { (String($0.key.dropFirst(name.count + 1)), $0.value) }),
        as: command, with: Self.needed[name] ?? [])
    }
    problems.sort { $0.offset < $1.offset }
  }

  private mutating func problem(_ message: String, at range: Range<Int>) {
    problems.append(.init(message, at: range.lowerBound))
  }

  private mutating func readCommand(_ entry: TOMLTable.Entry, _ table: TOMLTable) {
    guard let command = InputCatalog.commands[entry.key] else {
      if let option = InputCatalog.shared[entry.key] {
        return problem(
          "'\(entry.key)' is \(option.isFlag ? "true or false" : "a text in quotes or a number"), "
            + "not a table", at: entry.range)
      }
      let names = InputCatalog.commands.keys.sorted() + ["beacon", "region"]
      return unknown(entry, "table", among: names, "valid are \(names.joined(separator: ", "))")
    }
    let options = InputCatalog.options(of: command)
    for inner in table.entries { read(inner, among: options, of: entry.key) }
  }

  private mutating func read(
    _ entry: TOMLTable.Entry, among options: InputCatalog.Options, of command: String? = nil
  ) {
    guard let option = options[entry.key] else {
      let owners = InputCatalog.owners(of: entry.key)
      if let first = owners.first {
        return problem(
          "'\(entry.key)' is an option of \(owners.joined(separator: ", ")); put it into "
            + (owners.count > 1 ? "their tables, such as [\(first)]" : "the table [\(first)]"),
          at: entry.range)
      }
      return unknown(
        entry, "key", among: options.keys.sorted(),
        command.map { "valid are the options that beaconscan \($0) --help lists" }
          ?? "valid are the options that several subcommands have, such as adapter and format")
    }
    guard let setting = setting(of: entry, for: option) else { return }
    settings[command.map { "\($0).\(entry.key)" } ?? entry.key] = setting
  }

  private mutating func unknown(
    _ entry: TOMLTable.Entry, _ kind: String, among names: [String], _ valid: String
  ) {
    let meant = InputCatalog.suggestion(for: entry.key, among: names)
    problem(
      "there is no \(kind) '\(entry.key)'; " + (meant.map { "'\($0)' may be meant" } ?? valid),
      at: entry.range)
  }

  /// Returns an option's values as the command line has them.
  private mutating func values(
    of item: TOMLItem, for option: Input, named name: String
  ) -> [String]? {
    switch item.value {
    case .boolean(let isOn) where option.isFlag: return ["\(isOn)"]
    case _ where option.isFlag: problem("'\(name)' is true or false", at: item.range)
    case .array(let items) where option.isRepeating:
      let values = items.compactMap(\.text)
      if values.count == items.count { return values }
      problem("each value of '\(name)' is a text in quotes or a number", at: item.range)
    case .array: problem("'\(name)' has one value; leave the brackets out", at: item.range)
    default:
      if let value = item.text, !value.contains("\0") { return [value] }
      problem("'\(name)' is a text in quotes or a number", at: item.range)
    }
    return nil
  }

  private mutating func check(
    _ settings: [String: GivenSetting], as type: any ParsableArguments.Type,
    with needed: [String] = []
  ) {
    guard !settings.isEmpty else { return }
    let settings = settings.sorted { ($0.value.offset ?? 0) < ($1.value.offset ?? 0) }
    let fault: String
    do {
      var given = try GivenInputs(needed, for: type)
      given.set(Dictionary(uniqueKeysWithValues: settings))
      let parsed = try type.init(given)
      if let rules = parsed as? RuleOptions { _ = try rules.rules }
      if var source = parsed as? SourceOptions { try source.check() }
      return
    } catch let error as CommandError {
      fault = error.message
    } catch {
      fault = Beaconscan.usageSentence(error)
    }
    let culprit = settings.first { fault.contains("--\($0.key)") } ?? settings.first
    problems.append(.init(fault, at: culprit?.value.offset ?? 0))
  }

  private mutating func readRegions(_ tables: TOMLTable) {
    for (name, table) in named(tables, "region") {
      if let entry = table.entries.first(where: { Self.circleKeys.contains($0.key) }) {
        if let circle = circle(name, table, entry) { regions.append(.circle(circle)) }
        continue
      }
      var own: [String: GivenSetting] = [:]
      var rules = RuleSettings()
      for entry in table.entries where !Self.identityKeys.contains(entry.key) {
        guard let option = Self.rules[entry.key] else {
          let valid = Self.identityKeys + Self.circleKeys + Self.rules.keys.sorted()
          unknown(entry, "key", among: valid, "valid are \(valid.joined(separator: ", "))")
          continue
        }
        guard let setting = setting(of: entry, for: option) else { continue }
        own[entry.key] = setting
        try? rules.set(entry.key, to: setting.values.first)
      }
      do throws(OptionError) {
        _ = try rules.rules
      } catch {
        let fault = error.sentence(mark: "--")
        let given = own.sorted { ($0.value.offset ?? 0) < ($1.value.offset ?? 0) }
        let culprit = given.first { fault.contains("--\($0.key)") } ?? given.first
        problems.append(.init(fault, at: culprit?.value.offset ?? 0))
      }
      guard let constraint = constraint(table) else { continue }
      regions.append(
        .beacons(
          NamedRegion(
            name: name, constraint: constraint,
            rules: own.sorted { $0.key < $1.key }.compactMap { name, setting in
              setting.isFlag
                ? setting.values == ["true"] ? name : nil : "\(name)=\(setting.values[0])"
            })))
    }
  }

  private mutating func circle(
    _ name: String, _ table: TOMLTable, _ given: TOMLTable.Entry
  ) -> CircularRegion? {
    let count = problems.count
    if let other = table.entries.first(where: { Self.identityKeys.contains($0.key) }) {
      problem(
        "'\(other.key)' is of a region of beacons, and '\(given.key)' is of a circle; leave one of "
          + "them out", at: other.range)
    }
    for entry in table.entries
    where !(Self.circleKeys + Self.identityKeys).contains(entry.key) {
      if Self.rules[entry.key] != nil {
        problem(
          "'\(entry.key)' is a rule for beacons, which circles do not have; leave it out",
          at: entry.range)
      } else {
        unknown(
          entry, "key", among: Self.circleKeys,
          "a circle has \(Self.circleKeys.joined(separator: ", "))")
      }
    }
    var numbers: [Double] = []
    for (index, key) in Self.circleKeys.enumerated() {
      guard let item = table[key] else {
        problem(
          "'\(key)' is missing here; a circle has it as in \(key) = \(Self.exampleCircle[index])",
          at: table.range)
        continue
      }
      do throws(OptionError) {
        numbers.append(try Inputs.circle[index].value(of: item.text ?? ""))
      } catch {
        problem("\(error)", at: item.range)
      }
    }
    return problems.count == count ? CircularRegion(name: name, numbers) : nil
  }

  private mutating func readBeacons(_ tables: TOMLTable) {
    for (name, table) in named(tables, "beacon") {
      var calibration = Calibration()
      var sender: BluetoothAddress?
      for entry in table.entries where !Self.identityKeys.contains(entry.key) {
        do throws(OptionError) {
          let text = entry.item.text ?? ""
          switch entry.key {
          case "address": sender = try Inputs.address.value(of: text)
          case _ where Inputs.calibration.contains { $0.name == entry.key }:
            try calibration.set(entry.key, to: text)
          default:
            let valid = Self.identityKeys + Inputs.calibration.map(\.name) + ["address"]
            unknown(entry, "key", among: valid, "valid are \(valid.joined(separator: ", "))")
          }
        } catch {
          problem("\(error)", at: entry.item.range)
        }
      }
      guard let constraint = constraint(table) else { continue }
      guard let major = constraint.major, let minor = constraint.minor else {
        problem(
          "a beacon has 'uuid', 'major' and 'minor'; what has no minor is a region", at: table.range
        )
        continue
      }
      let identity = BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor)
      if let other = beacons.first(where: { $0.identity == identity }) {
        problem("'\(other.name)' is the same beacon; give it one name", at: table.range)
        continue
      }
      beacons.append(
        NamedBeacon(
          name: name, identity: identity, calibration: calibration, sender: sender, file: path))
    }
  }

  private static let identityKeys = ["uuid", "major", "minor"]
  private static let circleKeys = Inputs.circle.map(\.name)
  private static let exampleCircle = ["52.5163", "13.3777", "200"]

  private mutating func setting(
    of entry: TOMLTable.Entry, for option: Input
  ) -> GivenSetting? {
    guard let values = values(of: entry.item, for: option, named: entry.key) else { return nil }
    let offset = entry.item.range.lowerBound
    for value in values where !option.isFlag {
      do throws(CommandError) {
        try option.check(value)
      } catch {
        problem(error.message, at: entry.item.range)
        return nil
      }
    }
    return GivenSetting(
      values: values, isFlag: option.isFlag, origin: "\(path), \(document.position(of: offset))",
      offset: offset)
  }

  private mutating func named(_ tables: TOMLTable, _ kind: String) -> [(String, TOMLTable)] {
    var named: [(String, TOMLTable)] = []
    for entry in tables.entries {
      if case .table(let table) = entry.item.value, !entry.key.isEmpty {
        named.append((entry.key, table))
      } else {
        problem(
          "'\(entry.key)' is not a table; a \(kind) has a table with its name, as in [\(kind).lobby]",
          at: entry.range)
      }
    }
    return named
  }

  private mutating func constraint(_ table: TOMLTable) -> BeaconConstraint? {
    guard let item = table["uuid"] else {
      problem(
        "'uuid' is missing here; give it as in uuid = \"\(Self.exampleUUID)\"", at: table.range)
      return nil
    }
    var place = item
    do throws(OptionError) {
      let uuid = try Inputs.uuid.value(of: item.text ?? "")
      place = table["major"] ?? place
      let major = try table["major"].map { item throws(OptionError) in
        try Inputs.major.value(of: item.text ?? "")
      }
      place = table["minor"] ?? place
      let minor = try table["minor"].map { item throws(OptionError) in
        try Inputs.minor.value(of: item.text ?? "")
      }
      return BeaconConstraint(uuid: uuid, major: major, minor: minor)
    } catch {
      problem("\(error)", at: place.range)
      return nil
    }
  }

  private static let exampleUUID = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
}

extension TOMLItem {
  /// The value of a setting, as the command line has it; `nil` for other kinds of values.
  fileprivate var text: String? {
    switch value {
    case .string(let text): text
    case .integer(let number): "\(number)"
    case .float(let number): "\(number)"
    default: nil
    }
  }
}
