import ArgumentParser
import Frontends
import Positioning
import Records
import TOMLDocuments

struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Check the configuration file, and show what is set and where.",
    discussion: """
      See docs/configuration.md for what may stand in it.

      EXAMPLES
        beaconscan config check
        beaconscan config show
      """, subcommands: [Check.self, Show.self])

  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Report everything that is wrong with the configuration, with line and column.",
      discussion: """
        Without a file it checks those that are read, and the variables BEACONSCAN_… of the \
        environment. The status is 65 where something is wrong, and 66 where the file is not there.

        EXAMPLES
          beaconscan config check
          beaconscan config check site.toml
        """)

    @Argument(.file("file", "The file, as with --config.", endings: ["toml"])) var file: String?

    @OptionGroup(title: "Input") var configuration: ConfigurationOption

    func validate() throws {
      guard file == nil || configuration.config == nil else {
        throw ValidationError("The file is given twice; leave out --config.")
      }
    }

    func run() throws {
      let file = file ?? configuration.config
      let files = try Settings.read(file).map { file in
        var file = file
        file.checkValues()
        return file
      }
      var sentences = files.flatMap { file in file.problems.map(file.sentence) }
      if file == nil { sentences += Settings.variables().problems }
      if let last = sentences.popLast() {
        for sentence in sentences { printError("beaconscan: \(sentence)") }
        throw CommandError(.badData, last)
      }
      let output = StandardOutput()
      for file in files {
        try output.write(
          "\(file.path): \(counted(file.settings.count, "option")), "
            + "\(counted(file.regions.count, "region")) and "
            + "\(counted(file.beacons.count, "beacon")), all of it valid\n")
      }
      if files.isEmpty {
        try output.write(
          "there is no configuration file; it may be \(Settings.standardPaths.joined(separator: " or "))\n"
        )
      }
      try output.flush()
    }
  }

  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "Show what files and the environment set, and where.",
      discussion: """
        What the command line gives comes before all of it.

        EXAMPLES
          beaconscan config show
          beaconscan config show --format json
        """)

    @OptionGroup(title: "Input") var configuration: ConfigurationOption
    @OptionGroup(title: "Output") var form: FormatOptions

    func run() throws {
      let settings = try Settings(path: configuration.config)
      let output = StandardOutput()
      try output.write(settings.lines, SettingLine.record, form.format)
      try output.flush()
    }
  }
}

struct SettingLine {
  var key: String
  var values: [String]
  var origin: String

  static let record = RecordType<SettingLine>(
    "setting",
    [
      Field("key", .text, column: Column()) { $0.key },
      Field("value", .string, column: Column()) { $0.values.joined(separator: "; ") },
      Field("from", .text, column: Column()) { $0.origin },
    ])
}

extension Settings {
  fileprivate var lines: [SettingLine] {
    var all = Self.variables().settings
    for layer in layers { all.merge(layer.options) { first, _ in first } }
    return all.sorted { $0.key < $1.key }.map {
      SettingLine(key: $0.key, values: $0.value.values, origin: $0.value.origin)
    }
      + regions.map { region in
        SettingLine(
          key: "region.\(region.name)",
          values: region.values,
          origin: layers.first { $0.regions.contains(region) }?.path ?? "")
      }
      + beacons.map {
        SettingLine(key: "beacon.\($0.name)", values: ["\($0.constraint)"], origin: $0.file)
      }
  }
}

extension RegionArgument {
  fileprivate var values: [String] {
    switch self {
    case .beacons(let region): ["\(region.constraint)"] + region.rules.map { "--\($0)" }
    case .circle(let circle):
      ["\(circle.center.latitude),\(circle.center.longitude),\(circle.radius)"]
    }
  }
}
