import ArgumentParser
import Foundation
import Frontends
import Regions
import ServiceCore
import TOMLDocuments
import TestSupport
import Testing

@testable import Embedding
@testable import KioskService
@testable import beaconscan

/// Every setting has one value, one default and one sentence, however it is given.
@Suite(.blocking) struct FrontEndTests {
  private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
  private static let wrong = "!wrong"

  // MARK: Rules

  /// A value of each rule that differs from its default, as text and as it is written in TOML and JSON.
  private static let rules: [String: (text: String?, literal: String)] = [
    "each": (nil, "true"), "exit-after": ("45s", "\"45s\""), "boundary": ("-67", "-67"),
    "enter-rssi": ("-70.5", "-70.5"), "exit-rssi": ("-80", "-80"),
    "enter-distance": ("1.5", "1.5"), "exit-distance": ("3", "3"),
    "enter-count": ("2/3", "\"2/3\""), "dwell": ("2", "2"),
  ]

  /// The rules of a command line, completed by settings.
  private static func rules(
    _ words: String..., with settings: [String: GivenSetting] = [:]
  ) throws -> RuleOptions {
    var given = try GivenInputs(words, for: RuleOptions.self)
    given.set(settings)
    return try RuleOptions(given)
  }

  @Test(arguments: RuleSettings.names.sorted()) func everyRule(name: String) throws {
    let (text, literal) = try #require(Self.rules[name], "a new rule needs a value here")
    let word = text.map { "\(name)=\($0)" } ?? name
    let expected = try Self.rules("--\(word)").rules
    #expect(try expected != Self.rules().rules)
    // The file, for all regions and for one.
    let general = ConfigurationFile(path: "f", bytes: Array("\(name) = \(literal)".utf8))
    let setting = try #require(general.settings[name])
    #expect(try Self.rules(with: [name: setting]).rules == expected)
    let file = ConfigurationFile(
      path: "f",
      bytes: Array("[region.a]\nuuid = '\(Self.uuid)'\n\(name) = \(literal)".utf8))
    let region = try #require(file.regions.beacons.first)
    #expect(try RuleSettings().rules(of: region) == expected)
    // A variable.
    let variable = Settings.variableName(name)
    let shown = try Command.shell(
      "\(variable)='\(text ?? "true")' beaconscan config show --format json")
    #expect(try shown.json().first?["value"] as? String == text ?? "true")
    #expect(try shown.json().first?["key"] as? String == name)
    // A program in C, for all regions and for one.
    var options = EmbeddingOptions()
    try options.set(name, to: text)
    #expect(try options.configuration.rules == expected)
    var own = EmbeddingOptions()
    try own.set("region", to: "a=\(Self.uuid),\(word)")
    #expect(try own.rules.apply(to: own.regions).first?.rules == expected)
    // HTTP.
    let request = try RegionRequest(
      json: Array("{\"uuid\": \"\(Self.uuid)\", \"\(name)\": \(literal)}".utf8), name: "a")
    guard case .beacons(let constraint) = request.subject else { return #expect(Bool(false)) }
    let served = NamedRegion(name: "a", constraint: constraint, rules: request.rules)
    #expect(try RuleSettings().rules(of: served) == expected)
  }

  @Test func theDefaultsAreTheSame() throws {
    let expected = try Self.rules().rules
    #expect(try RuleSettings().rules == expected)
    #expect(try EmbeddingOptions().configuration.rules == expected)
    let calibration = try CalibrationOptions(GivenInputs([], for: CalibrationOptions.self))
    #expect(calibration.model == nil && calibration.environment == nil)
    #expect(calibration.typicalDistance == TypicalDistance())
    let range = try RangeCommand(GivenInputs([], for: RangeCommand.self))
    #expect(
      try range.configuration.rangingInterval == EmbeddingOptions().configuration.rangingInterval)
  }

  @Test(arguments: RuleSettings.names.sorted()) func aWrongRuleHasOneSentence(name: String) throws {
    let sentence = try Self.sentence(name, of: MonitorCommand.self)
    #expect(sentence.hasPrefix("\(name): '\(Self.wrong)' cannot be used: write "), "\(sentence)")
    var options = EmbeddingOptions()
    let inC = #expect(throws: EmbeddingError.self) { try options.set(name, to: Self.wrong) }
    #expect(inC?.description == sentence)
    let request = try RegionRequest(
      json: Array("{\"uuid\": \"\(Self.uuid)\", \"\(name)\": \"\(Self.wrong)\"}".utf8), name: "a")
    guard case .beacons(let constraint) = request.subject else { return #expect(Bool(false)) }
    let served = NamedRegion(name: "a", constraint: constraint, rules: request.rules)
    let overHTTP = #expect(throws: OptionError.self) { try RuleSettings().rules(of: served) }
    #expect(overHTTP?.description == "region 'a': \(sentence)")
  }

  // MARK: Every option

  /// The sentence of a wrong value on the command line, without the dashes of the option.
  private static func sentence(
    _ name: String, of command: any ParsableCommand.Type
  ) throws -> String {
    let error = #expect(throws: CommandError.self) {
      let given = try GivenInputs(["--\(name)=\(wrong)"], for: command, path: [command.name])
      try given.check()
    }
    let message = try #require(error?.message)
    // A flag of the command line takes no value.
    guard message.contains("takes no value") else { return String(message.dropFirst(2)) }
    return "\(name): '\(wrong)' cannot be used: write true or false, or give no value"
  }

  /// The options of the library for C, but those of texts, which the command has with the same meaning.
  @Test(arguments: [
    "speed", "duration", "adapter", "backend", "uuid", "major", "minor", "source",
    "position", "model", "environment", "measured-power", "typical-distance", "adapter-offset",
    "calibrate", "pin",
    "active", "coded", "follow",
  ])
  func aWrongValueHasOneSentence(name: String) throws {
    let sentence = try Self.sentence(name, of: MonitorCommand.self)
    var options = EmbeddingOptions()
    let inC = #expect(throws: EmbeddingError.self) { try options.set(name, to: Self.wrong) }
    #expect(inC?.description == sentence)
  }

  @Test(arguments: [
    ("uuid", "\"!wrong\"", "uuid: '!wrong' cannot be used: a proximity UUID has 32 hexadecimal"),
    ("major", "70000", "major: '70000' cannot be used: write a whole number from 0 to 65535"),
  ])
  func aWrongIdentityHasOneSentence(name: String, literal: String, start: String) throws {
    let pairs = ["uuid": "\"\(Self.uuid)\"", "major": "1"].merging([name: literal]) { $1 }
    let toml = pairs.map { "\($0) = \($1)" }.sorted().joined(separator: "\n")
    let file = ConfigurationFile(path: "f", bytes: Array("[region.a]\n\(toml)".utf8))
    let inFile = try #require(file.problems.first?.message)
    let json = "{" + pairs.map { "\"\($0)\": \($1)" }.joined(separator: ",") + "}"
    let overHTTP = #expect(throws: RegionRefusal.self) {
      try RegionRequest(json: Array(json.utf8), name: "a")
    }
    #expect(inFile.hasPrefix(start), "\(inFile)")
    #expect(overHTTP?.sentence == inFile)
  }

  /// Each option of each subcommand that a file may have reports a wrong value there as on the command line, and so
  /// does its variable.
  @Test func filesAndVariablesHaveTheSentenceOfTheCommandLine() throws {
    var count = 0
    for (command, type) in InputCatalog.commands {
      for (name, input) in InputCatalog.options(of: type) where !input.isFlag {
        guard (try? input.check(Self.wrong)) == nil else { continue }
        let given = try GivenInputs(["--\(name)=\(Self.wrong)"], for: type, path: [command])
        let error = #expect(throws: CommandError.self) { try given.check() }
        let file = ConfigurationFile(
          path: "f", bytes: Array("[\(command)]\n\(name) = '\(Self.wrong)'".utf8))
        #expect(file.problems.map(\.message) == [error?.message ?? ""])
        count += 1
      }
    }
    #expect(count > 60)
    let names = ["speed", "count", "exit-after", "zones", "listen", "environment"]
    let variables = names.map { "\(Settings.variableName($0))='\(Self.wrong)'" }
    let run = try Command.shell("\(variables.joined(separator: " ")) beaconscan config check")
    for name in names {
      let owner = try #require(InputCatalog.owners(of: name).first)
      let type = try #require(InputCatalog.commands[owner])
      let sentence = try Self.sentence(name, of: type)
      #expect(run.error.contains("\(Settings.variableName(name)): --\(sentence)\n"), "\(run.error)")
    }
  }
}
