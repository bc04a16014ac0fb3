import ArgumentParser
import Foundation
import Frontends
import Scanning
import TestSupport
import Testing

@testable import beaconscan

/// The configuration file and the variables.
@Suite(.blocking) struct SettingsTests {
  private static let uuid = MonitorRun.visitor
  private static let replay = "--replay '\(Command.capture("visitor.btsnoop"))'"
  private static let visitor = """
    [beacon.visitor]
    uuid = "\(uuid)"
    major = 1
    minor = 100

    """

  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// Runs a line of shell where the user's configuration is this text.
  private func run(_ line: String, with text: String) throws -> Run {
    _ = try scratch.file("beaconscan.toml", text)
    return try Command.shell(
      "XDG_CONFIG_HOME='\(scratch.folder.path)'; export XDG_CONFIG_HOME; \(line)")
  }

  // MARK: The check

  @Test func theExampleIsValid() throws {
    let file = Command.root.appending(path: "Examples/beaconscan.toml").path
    let run = try Command.run("config", "check", file)
    #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
    let counts = "7 options, 2 regions and 1 beacon"
    #expect(run.output == "\(file): \(counts), all of it valid\n")
    let used = try Command.shell(
      "BEACONSCAN_CONFIG='\(file)' beaconscan monitor \(Self.replay) --state-file regions",
      in: scratch.folder)
    #expect(used.status == 0 && used.output.contains("lobby"), "\(used.error)")
  }

  /// One sentence for each, with its place, in the order of the lines.
  @Test func everyErrorHasItsPlace() throws {
    let cases = [
      ("fromat = 'json'", 1, "there is no key 'fromat'; 'format' may be meant"),
      (
        "format = 'xml'", 10,
        "--format: 'xml' cannot be used: write table, json or csv"
      ),
      ("exec = 'x'", 1, "'exec' is an option of monitor, range; put"),
      ("quiet = 'yes'", 9, "'quiet' is true or false"),
      ("backend = ['hci']", 11, "'backend' has one value"),
      ("duration = true", 12, "'duration' is a text in quotes or a number"),
      ("adapter = ['hci0', 'eth1']", 11, "--adapter: 'eth1' cannot be used: write hci0"),
      (
        "environment = 99", 15,
        "--environment: '99' cannot be used: write a number such as 2.2, from 0.5 to 8"
      ),
      (
        "count = 0", 1,
        "'count' is an option of locate, monitor, range, record, scan; put it into their"
      ),
      ("a = ", 5, "expected a value"),
      ("zones = '1,2,3,4'", 1, "'zones' is an option of range; put it into the table [range]"),
      ("[monitr]", 2, "there is no table 'monitr'; 'monitor' may be meant"),
      ("[region.a]\nuuid = 'E2C5'", 8, "uuid: 'E2C5' cannot be used: a proximity UUID has 32"),
      ("[region.b]", 1, "'uuid' is missing here"),
      ("[region.c]\nuuid = '\(Self.uuid)'\nenter-distnace = 1", 1, "'enter-distance' may be meant"),
      ("[region.d]\nuuid = '\(Self.uuid)'\nmajor = 70000", 9, "from 0 to 65535"),
      (
        "[region.e]\nuuid = '\(Self.uuid)'\nboundary = -60\nexit-rssi = -70", 12,
        "--boundary is both"
      ),
      ("[region.j]\nlatitude = 52\nradius = 5", 1, "'longitude' is missing here"),
      (
        "[region.k]\nlatitude = 52\nlongitude = 13\nradius = 0", 10,
        "radius: '0' cannot be used: write a number of meters of more than 0 and at most"
      ),
      (
        "[region.l]\nradius = 9\nlongitude = 13\nlatitude = 91", 12,
        "latitude: '91' cannot be used: write a number of degrees from -90 to 90"
      ),
      ("[region.m]\nradius = 9\nlatitude = 52\nlongitude = 'x'", 13, "from -180 to 180"),
      (
        "[region.n]\nlatitude = 52\nlongitude = 13\nradius = 9\nexit-after = 5", 1,
        "a rule for beacons, which circles do not have"
      ),
      (
        "[region.o]\nlatitude = 52\nlongitude = 13\nradius = 9\nuuid = '\(Self.uuid)'", 1,
        "'uuid' is of a region of beacons, and 'latitude' is of a circle"
      ),
      (
        "[region.p]\nlatitude = 52\nlongitude = 13\nradius = 9\nname = 'p'", 1,
        "there is no key 'name'; a circle has latitude, longitude, radius"
      ),
      (
        "[beacon.f]\nuuid = '\(Self.uuid)'\nmajor = 2\nminor = 2\npower = 5", 9,
        "power: '5' cannot be used: write a signal strength in dBm such as -59, from -100 to -1"
      ),
      ("[beacon.g]\nuuid = '\(Self.uuid)'", 1, "a beacon has 'uuid', 'major' and 'minor'"),
      (
        "[beacon.h]\nuuid = '\(Self.uuid)'\nmajor = 1\nminor = 1\naddress = 'x'", 11,
        "address: 'x' cannot be used: write an address"
      ),
      ("[beacon.i]\nuuid = '\(Self.uuid)'\nmajor = 1\nminor = 1", 1, "'h' is the same beacon"),
      (
        "[history]\nlisten = 80", 1, "'listen' is an option of serve; put it into the table [serve]"
      ),
      ("[coded]\na = 1", 2, "'coded' is true or false, not a table"),
      ("[record]\nformat = 'json'", 10, "write btsnoop, btmon or pcapng"),
      ("[range]\nzones = '1,2'", 9, "write four distances"),
      ("[record]", 2, "'record' is there already"),
    ]
    var lines: [String] = []
    var expected: [(line: Int, column: Int, words: String)] = []
    for (text, column, words) in cases {
      lines += text.split(separator: "\n").map(String.init)
      // The wrong line is the last one, but where a table misses something.
      let isHeader =
        words.contains("has 'uuid'") || words.contains("same beacon")
        || words.contains("'longitude' is missing") || words.contains("not a table")
      let isPair = words.contains("--boundary")
      let count = text.split(separator: "\n").count
      expected.append((lines.count - (isHeader ? count - 1 : isPair ? 1 : 0), column, words))
    }
    let file = try scratch.file("site.toml", lines.joined(separator: "\n"))
    let run = try Command.run("config", "check", file.path)
    #expect(run.status == 65 && run.output.isEmpty)
    let told = run.error.split(separator: "\n").map(String.init)
    #expect(told.count == cases.count, "\(run.error)")
    for (line, wanted) in zip(told, expected) {
      let place = "beaconscan: \(file.path), line \(wanted.line), column \(wanted.column): "
      #expect(line.hasPrefix(place) && line.contains(wanted.words), "\(line)\n\(wanted)")
      #expect(!line.contains(". ") && !line.hasSuffix("."), "\(line)")
    }
    // The other subcommands report the first.
    let scan = try Command.shell("beaconscan scan \(Self.replay) --config '\(file.path)'")
    #expect(scan.status == 65 && scan.output.isEmpty)
    #expect(scan.error.hasPrefix(told.first ?? "none"), "\(scan.error)")
    #expect(scan.error.contains("beaconscan config check shows "), "\(scan.error)")
  }

  @Test func missingFiles() throws {
    for command in ["config check", "scan \(Self.replay) --config"] {
      let run = try Command.shell("beaconscan \(command) /nowhere/site.toml")
      #expect(run.status == 66 && run.error.contains("/nowhere/site.toml"), "\(run.error)")
      #expect(run.error.split(separator: "\n").count == 1)
    }
    let none = try Command.shell("beaconscan config check")
    #expect(none.status == 0 && none.output.contains("beaconscan.toml"), "\(none.error)")
  }

  @Test func variablesAreChecked() throws {
    let run = try run(
      "BEACONSCAN_FORMT=json BEACONSCAN_QUIET=perhaps beaconscan config check", with: "")
    #expect(run.status == 65)
    #expect(
      run.error == """
        beaconscan: BEACONSCAN_FORMT: no option has this variable; BEACONSCAN_FORMAT may be meant
        beaconscan: BEACONSCAN_QUIET: 'perhaps' is neither true nor false

        """)
    for (setting, words) in [
      ("BEACONSCAN_FORMAT=xml", "BEACONSCAN_FORMAT: --format: 'xml' cannot be used"),
      ("BEACONSCAN_QUIET=perhaps", "'perhaps' is neither"),
      ("BEACONSCAN_SCAN_COUNT=x", "BEACONSCAN_SCAN_COUNT: --count: 'x'"),
    ] {
      let run = try Command.shell("\(setting) beaconscan scan \(Self.replay)")
      #expect(
        run.status == 64 && run.error.hasPrefix("beaconscan: ") && run.error.contains(words),
        "\(run.error)")
      #expect(run.error.split(separator: "\n").count == 1)
    }
  }

  // MARK: What comes first

  @Test(arguments: [
    ("", "", "{"), ("BEACONSCAN_FORMAT=csv", "", "time,"),
    ("BEACONSCAN_JSON=1", "--format csv", "time,"),
    ("BEACONSCAN_FORMAT=csv", "--format table", "TIME"), ("", "--format table", "TIME"),
    ("BEACONSCAN_SCAN_FORMAT=csv BEACONSCAN_FORMAT=table", "", "time,"),
    ("BEACONSCAN_FORMAT=", "", "{"),
    ("BEACONSCAN_CONFIG=/dev/null", "", "TIME"),
    ("BEACONSCAN_CONFIG=/dev/null", "--config site.toml", "time,"),
  ])
  func precedence(variables: String, options: String, start: String) throws {
    _ = try scratch.file("site.toml", "[scan]\nformat = 'csv'\n")
    let run = try run(
      "cd '\(scratch.folder.path)'; \(variables) beaconscan scan \(Self.replay) --count 1 \(options)",
      with: "format = 'table'\n[scan]\nformat = 'json'\n")
    #expect(run.status == 0 && run.output.hasPrefix(start), "\(run.output) \(run.error)")
  }

  /// The user's file comes before the system's, for each name by itself.
  @Test func twoFiles() throws {
    func file(_ path: String, _ text: String) throws -> ConfigurationFile {
      let file = ConfigurationFile(path: path, bytes: Array(text.utf8))
      try #require(file.problems.isEmpty, "\(file.problems)")
      return file
    }
    let region = "uuid = '\(Self.uuid)'"
    let settings = Settings(files: [
      try file(
        "user", "[region.a]\n\(region)\nmajor = 1\n[beacon.x]\n\(region)\nmajor = 1\nminor = 1"),
      try file(
        "system",
        "[region.a]\n\(region)\n[region.b]\n\(region)\n[beacon.y]\n\(region)\nmajor = 1\nminor = 1"),
    ])
    #expect(settings.layers.map(\.path) == ["user", "system"])
    #expect(
      settings.regions.map(\.name) == ["a", "b"]
        && settings.regions.beacons.first?.constraint.major == 1)
    #expect(settings.beacons.map(\.name) == ["x"], "one name for a beacon")
  }

  /// A fleet sets regions, rules and names, and nothing else of a receiver.
  @Test(arguments: [
    ("exit-after = 20\n[serve]\ndwell = 2\n", nil),
    ("adapter = 'hci1'", "line 1, column 11: 'adapter'"),
    ("[monitor]\nexec = 'reboot'", "line 2, column 8: 'monitor.exec'"),
    ("[serve]\nlisten = '0.0.0.0:80'", "line 2, column 10: 'serve.listen'"),
    ("[beacon.x]\nuuid = '\(Self.uuid)'\nmajor = 1\nminor = 1\n", nil),
    (
      "[beacon.x]\nuuid = '\(Self.uuid)'\nmajor = 1\nminor = 1\npower = -50",
      "line 1, column 1: a fleet can set only the name of the beacon 'x';"
    ),
  ])
  func configurationOfAFleet(text: String, fault: String?) {
    let file = ConfigurationFile(ofFleet: Array(text.utf8))
    #expect(file.problems.count == (fault == nil ? 0 : 1))
    let sentence = file.problems.first.map { file.sentence(of: $0) }
    #expect(
      sentence?.hasPrefix("the fleet's configuration, \(fault ?? "")") ?? (fault == nil),
      "\(sentence ?? "")")
  }

  /// What excludes each other is replaced together.
  @Test func alternatives() throws {
    let text = "boundary = -40\nquiet = true\nmodel = 'android-2013'\n"
    let run = try run(
      "beaconscan monitor --uuid \(Self.uuid) \(Self.replay) --enter-rssi -60 --verbose --environment 2",
      with: text)
    #expect(run.status == 0 && run.error.contains("reports"), "\(run.error)")
    #expect(run.output.contains("above -60 dBm"))
  }

  /// An adapter in the file is no reason against a replay, and the format of a recording is another.
  @Test func whatDoesNotApplyIsLeftOut() throws {
    let text = "adapter = 'hci7'\nbackend = 'hci'\nactive = true\nformat = 'json'\nspeed = '100x'\n"
    for line in [
      "scan \(Self.replay)", "inspect captures/lobby.btsnoop", "range \(Self.replay) --speed max",
    ] {
      let run = try run("beaconscan \(line)", with: text)
      #expect(run.status == 0 && run.output.hasPrefix("{"), "\(line): \(run.error)")
    }
    let record = try run(
      "beaconscan record \(Self.replay) --quiet '\(scratch.path("copy.pcapng").path)'", with: text)
    #expect(record.status == 0, "\(record.error)")
    let copy = try Data(contentsOf: scratch.path("copy.pcapng"))
    #expect(copy.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]))
  }

  @Test func lists() throws {
    let all = "adapter-offset = ['hci0=3', 'hci1=-2']\n"
    let file = try run("beaconscan config show --format json", with: all)
    #expect(try file.json().first?["value"] as? String == "hci0=3; hci1=-2")
    let variable = try run(
      "BEACONSCAN_ADAPTER_OFFSET='hci1=4;hci2=5' beaconscan config show --format json", with: all)
    let line = try #require(try variable.json().first)
    #expect(line["value"] as? String == "hci1=4; hci2=5")
    #expect(line["key"] as? String == "adapter-offset")
    #expect(line["from"] as? String == "BEACONSCAN_ADAPTER_OFFSET")
    // A wrong one is found in its place.
    let wrong = try run(
      "BEACONSCAN_ADAPTER_OFFSET='hci1=4;5;x' beaconscan range \(Self.replay)", with: all)
    #expect(
      wrong.status == 64 && wrong.error.contains("BEACONSCAN_ADAPTER_OFFSET: --adapter-offset: 'x'")
    )
  }

  /// The offsets of a machine's adapters stand in its file, also for recordings of others.
  @Test func offsetsOfOtherAdapters() throws {
    let text = "adapter-offset = ['hci1=3', '00:1B:DC:0F:10:07=2']\n"
    let run = try run("beaconscan range \(Self.replay) --format json", with: text)
    #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
    #expect(try run.output == Command.shell("beaconscan range \(Self.replay) --format json").output)
  }

  /// Each subcommand that a file has a table for can be given the file.
  @Test(arguments: InputCatalog.commands.keys.sorted())
  func everyReaderHasConfig(command: String) throws {
    let help = try Command.run(command, "--help").output
    #expect(help.contains("--config <file>"), "\(help)")
    let run = try Command.run(command, "--config", "/nowhere/site.toml")
    #expect(run.status == 66 && run.error.contains("/nowhere/site.toml"), "\(run.error)")
  }

  /// A recording on the command line, and an adapter there, come before the recording of a variable.
  @Test func theRecordingOfTheCommandLineComesFirst() throws {
    let variable = "BEACONSCAN_REPLAY='\(Command.capture("visitor.btsnoop"))'"
    for option in ["", "--replay "] {
      let line = "beaconscan scan --format csv \(option)captures/edge.btsnoop"
      let run = try Command.shell("\(variable) \(line)")
      #expect(try run.status == 0 && run.output == Command.shell(line).output, "\(run.error)")
    }
    let live = "beaconscan range --adapter hci0 --adapter-offset hci1=3"
    #expect(try Command.shell("\(variable) \(live)").error == Command.shell(live).error)
    let place = "beaconscan calibrate --at 1=captures/visitor.btsnoop@38-51"
    let calibrate = try Command.shell("\(variable) \(place)")
    #expect(calibrate.status == 0 && calibrate.error.isEmpty, "\(calibrate.error)")
  }

  @Test func theCheckTakesTheOptionToo() throws {
    let file = try scratch.file("site.toml", "format = 'json'\n").path
    let run = try Command.run("config", "check", "--config", file)
    #expect(run.output == "\(file): 1 option, 0 regions and 0 beacons, all of it valid\n")
  }

  @Test func whatReadsNoFile() throws {
    let text = "[simulate]\nformat = 'pcapng'\n"
    let check = try run("beaconscan config check", with: text)
    #expect(check.status == 65 && check.error.contains("there is no table 'simulate'"))
    let simulate = try run(
      "BEACONSCAN_SIMULATE_FORMAT=pcapng beaconscan simulate captures/visitor.json --output - | head -c 7",
      with: text)
    #expect(simulate.output == "btsnoop", "\(simulate.error)")
  }

  /// The format of a file is that of decode too, which is given one.
  @Test func decodeUsesItsFile() throws {
    let file = try scratch.file("site.toml", "format = 'json'\n")
    let run = try Command.run("decode", "--config", file.path, "4c000215")
    #expect(run.status == 0 && run.output.hasPrefix("{"), "\(run.output) \(run.error)")
  }

  // MARK: Variables

  /// The general variable of an option is for every subcommand that has it, unless it means something else there.
  @Test(arguments: ["scan", "range", "monitor --uuid \(uuid)"])
  func generalVariables(command: String) throws {
    let line = "beaconscan \(command) \(Self.replay) --format csv"
    for variables in [
      "BEACONSCAN_COUNT=2",
      "BEACONSCAN_COUNT=7 BEACONSCAN_\(command.prefix { $0 != " " }.uppercased())_COUNT=2",
    ] {
      let given = try Command.shell("\(line) --count 2")
      let run = try Command.shell("\(variables) \(line)")
      #expect(run.status == 0 && run.output == given.output, "\(run.error)")
    }
    let wrong = try Command.shell("BEACONSCAN_COUNT=few \(line)")
    #expect(wrong.status == 64 && wrong.error.contains("BEACONSCAN_COUNT: --count: 'few'"))
  }

  @Test func whatMeansSomethingElse() throws {
    // As docs/configuration.md has it.
    let others = InputCatalog.commands.mapValues { command in
      InputCatalog.options(of: command).filter { name, option in
        InputCatalog.shared[name].map { !$0.isSame(as: option) } ?? false
      }.keys.sorted()
    }.filter { !$0.value.isEmpty }
    #expect(
      others == [
        "record": ["format"],
        "advertise": ["adapter", "major", "measured-power", "minor", "uuid"],
        "history": ["dwell", "region"],
      ])
    // Of what is no option of a group, each subcommand but these means the same.
    let values = Dictionary(
      InputCatalog.commands.flatMap { command, type in
        InputCatalog.options(of: type).filter { name, _ in
          InputCatalog.shared[name] == nil && InputCatalog.own[command]?.contains(name) != true
        }.map { ($0, [$1.about.syntax]) }
      }, uniquingKeysWith: +)
    #expect(values.values.allSatisfy { Set($0).count == 1 })
    #expect(InputCatalog.own == ["advertise": ["interval"]])
    let copy = scratch.path("copy").path
    let run = try Command.shell(
      "BEACONSCAN_FORMAT=json BEACONSCAN_UUID=x beaconscan record \(Self.replay) --quiet '\(copy)'")
    #expect(run.status == 0, "\(run.error)")
    let check = try Command.shell("BEACONSCAN_COUNT=2 BEACONSCAN_NAME=x beaconscan config check")
    #expect(check.status == 0, "\(check.error)")
  }

  /// What a variable sets for one subcommand is in the way of no other one, nor of the command line.
  @Test(arguments: [
    ("SORT=rssi BEACONSCAN_TOP=5", "scan \(replay)"),
    ("ALL=1", "scan --uuid \(uuid) \(replay)"),
    ("NAME=x", "calibrate --at 1='\(Command.capture("visitor.btsnoop"))'"),
  ])
  func variablesOfOthers(variables: String, arguments: String) throws {
    let run = try Command.shell("BEACONSCAN_\(variables) beaconscan \(arguments)")
    let plain = try Command.shell("beaconscan \(arguments)")
    #expect(run.status == plain.status && run.output == plain.output, "\(run.error)")
    #expect(run.error == plain.error)
  }

  @Test(arguments: ["COUNT=few", "FORMAT=xml", "SCAN_COUNT=few", "EXIT_AFTER=never", "QUIET=often"])
  func wrongVariablesAreFound(variable: String) throws {
    let check = try Command.shell("BEACONSCAN_\(variable) beaconscan config check")
    #expect(check.status == 65, "\(check.error)")
    #expect(check.error.contains("BEACONSCAN_\(variable.prefix { $0 != "=" })"), "\(check.error)")
  }

  /// A command that `--exec` runs has the event in variables, and none of them is an option or a mistake.
  @Test(arguments: [
    "scan \(replay)", "range \(replay)", "monitor --uuid \(uuid) \(replay)", "config check",
    "inspect \(replay)", "decode 4c000215", "beacons",
    "calibrate --at 1='\(Command.capture("visitor.btsnoop"))'",
    "record \(replay) --quiet /dev/null --force",
  ])
  func noVariableOfAnEventIsAnOption(command: String) throws {
    for name in ["TYPE", "NAME", "INTERVAL", "PREVIOUS"] {
      #expect(HookEvent.variableNames.contains("BEACONSCAN_\(name)"))
    }
    let event = HookEvent.variableNames.sorted().map { "\($0)=nonsense" }.joined(separator: " ")
    let plain = try Command.shell("beaconscan \(command)")
    let run = try Command.shell("\(event) beaconscan \(command)")
    #expect(run.status == plain.status && run.output == plain.output, "\(run.error)")
    #expect(run.error == plain.error)
  }

  /// Each option of each subcommand is a key; what is shared means the same.
  @Test func theCatalogIsWhole() {
    #expect(InputCatalog.commands.count >= 11 && InputCatalog.commands["config"] == nil)
    for (name, command) in InputCatalog.commands where name != "beacons" {
      #expect(!InputCatalog.options(of: command).isEmpty, "\(name)")
    }
    for option in ["adapter", "format", "exit-after", "environment", "uuid", "replay"] {
      #expect(InputCatalog.shared[option] != nil, "\(option)")
    }
    func isShared(_ option: String, _ command: any ParsableCommand.Type) -> Bool {
      InputCatalog.options(of: command)[option]?.isSame(as: InputCatalog.shared[option]) == true
    }
    #expect(isShared("format", ScanCommand.self) && isShared("format", DoctorCommand.self))
    #expect(isShared("adapter", RecordCommand.self) && !isShared("format", RecordCommand.self))
    #expect(
      !isShared("major", AdvertiseCommand.self)
        && !isShared("measured-power", AdvertiseCommand.self))
    #expect(InputCatalog.suggestion(for: "adaptre", among: ["adapter", "at"]) == "adapter")
    #expect(InputCatalog.suggestion(for: "zzz", among: ["adapter", "at"]) == nil)
    let serve = InputCatalog.options(of: ServeCommand.self).keys.sorted()
    for (name, meant) in [
      ("token", "token-file"), ("mqtt-user", "mqtt-username"), ("mqtt-nod", "mqtt-node"),
      ("enter-distnace", "enter-distance"), ("mqtt-port", nil), ("enter", nil),
    ] {
      #expect(InputCatalog.suggestion(for: name, among: serve) == meant, "\(name)")
    }
  }

  // MARK: Regions

  /// A region of the file gives the same events as the same options.
  @Test func regionsAndTheirRules() throws {
    let text = """
      exit-after = 5
      [region.near]
      uuid = "\(Self.uuid)"
      minor = 100
      enter-distance = 1
      exit-distance = 3
      [region.all]
      uuid = "\(Self.uuid)"
      """
    func events(_ run: Run, _ region: String) throws -> [String] {
      #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
      return run.lines.filter { $0.contains("\"region\":\"\(region)\"") }.map(String.init)
    }
    let monitor = "beaconscan monitor \(Self.replay) --format json"
    let both = try run(monitor, with: text)
    let near = try Command.shell(
      "\(monitor) --exit-after 5 --enter-distance 1 --exit-distance 3 --region 'near=\(Self.uuid):*:100'"
    )
    let all = try Command.shell("\(monitor) --exit-after 5 --region all=\(Self.uuid)")
    #expect(try events(both, "near") == events(near, "near") && events(near, "near").count >= 3)
    #expect(try events(both, "all") == events(all, "all") && !events(all, "all").isEmpty)
    // One by its name; another from the command line alone.
    let one = try run("\(monitor) --region near", with: text)
    #expect(try events(one, "near") == events(near, "near") && events(one, "all").isEmpty)
    let other = try run("\(monitor) --region x=\(Self.uuid)", with: text)
    #expect(try events(other, "near").isEmpty && !events(other, "x").isEmpty)
    // The reason names the region's own rule, not the general one.
    let table = try run("beaconscan monitor \(Self.replay) --enter-distance 50", with: text)
    #expect(table.output.contains("within 1 m"), "\(table.output)")
    // What shows beacons is not narrowed by the regions, only by their names.
    let scan = try run("beaconscan scan \(Self.replay) --format csv | grep -c ,100,", with: text)
    let whole = try run("beaconscan scan \(Self.replay) --format csv | wc -l", with: text)
    let named = try run(
      "beaconscan scan \(Self.replay) --region near --format csv | wc -l", with: text)
    #expect(scan.output != whole.output)
    #expect((Int(scan.output.dropLast()) ?? 0) + 1 == Int(named.output.dropLast()) ?? 0)
  }

  /// Circles of the file are monitored; what has beacons alone leaves them out.
  @Test func circles() throws {
    let text = """
      region.stop = {latitude = 52.5163, longitude = 13.3777, radius = 200}
      [region.kiosk]
      uuid = "\(Self.uuid)"
      minor = 100
      """
    let track = "--replay \(Command.root.path)/captures/visitor.gpx"
    let monitor = "beaconscan monitor --format json"
    let options = "--region stop=52.5163,13.3777,200 --region 'kiosk=\(Self.uuid):*:100'"
    let both = try run("\(monitor) \(Self.replay) \(track)", with: text)
    #expect(both.status == 0 && both.error.isEmpty, "\(both.error)")
    let same = try Command.shell("\(monitor) \(options) \(Self.replay) \(track)")
    #expect(both.output == same.output)
    let regions = { (run: Run) in
      try Set(
        run.json().filter { $0["type"] as? String == "enter" }.map { $0["region"] as? String })
    }
    #expect(try regions(both) == ["stop", "kiosk"])
    // Of recordings, those count that they have something of, but what is named must be there.
    #expect(try regions(run("\(monitor) \(track)", with: text)) == ["stop"])
    #expect(try regions(run("\(monitor) \(Self.replay)", with: text)) == ["kiosk"])
    #expect(try regions(run("\(monitor) \(track) --region stop", with: text)) == ["stop"])
    let missing = try run("\(monitor) \(Self.replay) --region stop", with: text)
    #expect(missing.status == 65 && missing.error.contains("the region 'stop' is a circle"))
    for command in ["scan", "range", "inspect"] {
      let line = "beaconscan \(command) \(Self.replay) --format json"
      let usual = try run(line, with: text)
      #expect(usual.status == 0 && usual.error.isEmpty && !usual.output.isEmpty)
      let named = try run("\(line) --region stop", with: text)
      #expect(named.status == 64 && named.output.isEmpty)
      #expect(named.error.contains("stop is a circle, which only monitor and serve have"))
      let chosen = try run("BEACONSCAN_REGION='stop;kiosk' \(line)", with: text)
      let kiosk = try run("\(line) --region kiosk", with: text)
      #expect(chosen.output == kiosk.output && chosen.error == kiosk.error)
    }
    let shown = try run("beaconscan config show --format json", with: text)
    #expect(shown.output.contains("52.5163,13.3777,200"), "\(shown.output)")
  }

  // MARK: Names

  @Test func namesAppearEverywhere() throws {
    for command in ["scan", "range", "inspect", "monitor --minor 100 --uuid \(Self.uuid)"] {
      let line = "beaconscan \(command) \(Self.replay)"
      let table = try run(line, with: Self.visitor)
      #expect(table.output.contains("visitor"), "\(table.output)")
      let json = try run("\(line) --format json", with: Self.visitor)
      #expect(
        json.output.contains("\"minor\":100,\"name\":\"visitor\""), "\(json.output.prefix(300))")
      #expect(!json.output.contains("\"minor\":1,\"name\""), "others have none")
      let csv = try run("\(line) --format csv", with: Self.visitor)
      let header = try #require(csv.lines.first).split(
        separator: ",", omittingEmptySubsequences: false)
      let place = try #require(header.firstIndex(of: "name"), "\(header)")
      #expect(
        csv.lines.dropFirst().contains {
          $0.split(separator: ",", omittingEmptySubsequences: false)[place] == "visitor"
        }, "\(csv.output.prefix(300))")
      // Without names nothing is different.
      let plain = try Command.shell("\(line) --format csv")
      #expect(plain.lines.first?.split(separator: ",").contains("name") == false)
    }
    let hook = try run(
      "beaconscan monitor --uuid \(Self.uuid) \(Self.replay) --count 1 --minor 100 "
        + "--exec 'echo name $BEACONSCAN_NAME' 2>&1", with: Self.visitor)
    #expect(hook.output.contains("name visitor"), "\(hook.output)")
  }

  /// What `--exec` runs has the event in variables that look like options, and can be this command.
  @Test func variablesOfAnEventAreNoOptions() throws {
    let run = try run(
      "beaconscan monitor --region kiosk=\(Self.uuid):1:100 --dwell 3 \(Self.replay) --count 1 "
        + "--exec 'beaconscan monitor --uuid \(Self.uuid) \(Self.replay) --count 1 --format csv' 2>&1",
      with: "")
    #expect(run.status == 0 && !run.output.contains("invalid"), "\(run.output)")
    #expect(run.output.contains("time,type,region"), "\(run.output)")
    #expect(run.output.contains(",sighting,"), "its own rule, not a dwell of the event")
  }

  @Test func beaconsAreListed() throws {
    let text = Self.visitor + "power = -61.5\nexponent = 2.5\naddress = 'C0:00:00:00:00:01'\n"
    let json = try run("beaconscan beacons --format json", with: text)
    let line = try #require(try json.json().first)
    #expect(line["type"] as? String == "namedBeacon" && line["name"] as? String == "visitor")
    #expect(line["power"] as? Double == -61.5 && line["exponent"] as? Double == 2.5)
    #expect(line["offset"] is NSNull && line["address"] as? String == "C0:00:00:00:00:01")
    let csv = try run("beaconscan beacons --format csv", with: text)
    #expect(csv.lines.first == "uuid,major,minor,name,power,exponent,offset,address,file")
    #expect(csv.lines.count == 2)
    let table = try run("beaconscan beacons", with: text)
    #expect(table.lines.count == 2 && table.lines[1].contains("visitor"))
    let none = try Command.run("beacons")
    #expect(none.status == 0 && none.output.hasPrefix("no beacon has a name"))
  }

  /// What the file knows of a beacon is used, and the command line comes first.
  @Test func calibrationsAreUsed() throws {
    let text = Self.visitor + "power = -50\n"
    let line = "beaconscan range \(Self.replay) --uuid \(Self.uuid) --minor 100 --format json"
    let used = try run(line, with: text)
    let same = try Command.shell("\(line) --calibrate \(Self.uuid):1:100@power=-50")
    func plain(_ run: Run) -> String { run.output.replacing(",\"name\":\"visitor\"", with: "") }
    #expect(used.status == 0 && plain(used) == same.output)
    #expect(try plain(used) != Command.shell(line).output)
    let first = try run("\(line) --calibrate \(Self.uuid):1:100@power=-60", with: text)
    #expect(
      try plain(first) == Command.shell("\(line) --calibrate \(Self.uuid):1:100@power=-60").output)
    // A pinned sender that never sends leaves nothing.
    let pinned = try run(line, with: Self.visitor + "address = 'AA:BB:CC:DD:EE:FF'\n")
    #expect(!pinned.output.contains("\"minor\":100"), "\(pinned.output.prefix(300))")
  }
}
