import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import beaconscan

/// What a user types by mistake: each gets one sentence that says what is valid, its status, and no result.
@Suite(.blocking) struct WrongInputTests {
  /// A line of arguments, the status, and words of the sentence.
  struct Mistake: CustomTestStringConvertible {
    var line: String
    var status: Int32
    var words: [String]

    var testDescription: String { line }
  }

  private static func mistakes(
    _ status: Int32, _ lines: KeyValuePairs<String, [String]>
  ) -> [Mistake] {
    lines.map { Mistake(line: $0.key, status: status, words: $0.value) }
  }

  private static let visitor = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
  private static let file = "captures/visitor.btsnoop"

  private static let subcommands = mistakes(
    64,
    [
      "rnage": ["no subcommand 'rnage'", "did you mean 'range'?"],
      "insp file": ["did you mean 'inspect'?"],
      "config chck": ["no subcommand 'config chck'", "did you mean 'config check'?"],
      "DCTOR": ["did you mean 'doctor'?"],
      "--json range": ["'--json'", "write it after one, as in beaconscan "],
      "config help": ["no subcommand 'config help'", "beaconscan config --help lists all"],
      "help foo": ["no subcommand 'foo'", "beaconscan --help lists all"],
      "config --format json": ["config show"],
      "scan --output x": ["scan has no option '--output'", "simulate has"],
      "config nothing": ["no subcommand 'config nothing'", "beaconscan config --help lists all"],
      "config check --no-such-option": ["beaconscan config check --help lists all"],
      "config check a --config b": ["given twice", "--config"],
      "no-such-command --replay a": ["no subcommand 'no-such-command'", "beaconscan --help"],
      "scan --no-such-option": ["no option '--no-such-option'", "beaconscan scan --help"],
      "range --frmat json": ["did you mean '--format'?"],
      "range --all": ["range has no option '--all'", "inspect, scan have"],
      "scan --exec 'echo x' -q": ["scan has no option '--exec'", "monitor, range have"],
      "adapters extra": ["'extra'", "beaconscan adapters --help"],
      "decode": ["<hex>", "is missing"],
      "record": ["<file>", "is missing"],
      "simulate": ["is missing"],
      "simulate a": ["--output", "is missing"],
      "advertise": ["--uuid", "is missing"],
    ])

  private static let uuids = mistakes(
    64,
    [
      "scan --uuid E2C5": ["32 hexadecimal digits", "this has 4"],
      "scan --uuid \(visitor)0": ["this has 33"],
      "scan --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096EX": ["'X' is not one"],
      "scan --uuid": ["--uuid needs a value", "32 hexadecimal digits"],
      "monitor": ["No region is named", "--region", "--uuid"],
      "monitor --region lobby": ["NAME=UUID"],
      "monitor --region lobby=E2C5": ["this has 4"],
      "monitor --region =\(visitor)": ["NAME=UUID"],
      "monitor --region a=\(visitor):70000": ["from 0 to 65535, not '70000'"],
      "monitor --region a=52.5,13.3": ["RADIUS", "this has 2 numbers"],
      "monitor --regoin a=\(visitor) \(file)": ["'--regoin'; did you mean '--region'?"],
      "advertise --uid \(visitor)": ["did you mean '--uuid'?"],
      "monitor --region a=\(visitor) --region a=\(visitor):1": ["'a'", "a name of its own"],
      "scan --all --uuid \(visitor) \(file)": ["--all", "--uuid"],
      "scan --top 3 \(file)": ["--all"],
      "inspect --top 0 \(file)": ["--top", "1 or more"],
      "inspect --sort size \(file)": ["'size'", "write distance, name", "count"],
      "scan --min-rssi x \(file)": ["--min-rssi", "dBm"],
      "scan --since yesterday \(file)": ["'yesterday'", "2026-01-15 09:00"],
      "scan --until 2026-02-29 \(file)": ["'2026-02-29'", "2026-01-15T09:00:00Z"],
      "scan --until 2026-13-01 \(file)": ["'2026-13-01'", "2026-01-15T09:00:00Z"],
      "scan --all --backend bluez": ["--all needs raw HCI sockets"],
      "scan --major 1": ["--major", "--uuid"],
      "scan --uuid \(visitor) --major 65536": ["--major", "0 to 65535"],
      "scan --uuid \(visitor) --minor -1": ["--minor", "'-1'", "0 to 65535"],
      "scan --uuid \(visitor) --minor x": ["0 to 65535"],
      "advertise --uuid x": ["32 hexadecimal digits"],
    ])

  private static let times = mistakes(
    64,
    [
      "scan --duration 0": ["--duration", "longer than 0"],
      "scan --duration -1": ["--duration"],
      "scan --duration 5x": ["250ms, 10s, 15m"],
      "scan --duration": ["needs a value", "10s"],
      "scan --duration nan": ["10s"],
      "range --interval 0": ["from 50ms to 1d"],
      "range --interval 2d": ["from 50ms to 1d"],
      "range --interval soon": ["250ms"],
      "monitor --uuid \(visitor) --exit-after never": ["adaptive", "10s"],
      "monitor --uuid \(visitor) --dwell long": ["10s"],
      "advertise --uuid \(visitor) --interval 1ms": ["20ms"],
      "record --rotate-every 5y a": ["--rotate-every"],
      "record --rotate-size 10 a": ["--rotate-size", "whole number from 4096"],
    ])

  private static let numbers = mistakes(
    64,
    [
      "scan --count 0": ["--count: '0'", "whole number of 1 or more"],
      "scan --count few": ["whole number of 1 or more"],
      "scan --format -inf": ["--format needs a value", "table, json or csv"],
      "range --count -3": ["--count"],
      "record --keep 0 a": ["--keep"],
      "range --zones 1,2,3": ["four distances", "0.5,0.7,3,4"],
      "range --zones 4,3,2,1": ["four distances"],
      "range --environment 0": ["--environment: '0'", "from 0.5 to 8"],
      "range --environment much": ["a number such as 2.2"],
      "range --measured-power 5": ["--measured-power: '5'", "from -100 to -1"],
      "range --measured-power strong": ["dBm such as -59"],
      "range --adapter-offset 99": ["from -50 to 50"],
      "range --adapter-offset hci=3": ["hci1=3"],
      "range --adapter-offset=1 --adapter-offset=2": ["--adapter-offset", "twice"],
      "range --model linear": ["log-distance"],
      "range --model android-2013 --environment 2": ["--environment belongs to"],
      "range --calibrate \(visitor)@power=5": ["power=-62"],
      "range --pin \(visitor)=00:11:22:33:44:55": ["UUID:MAJOR:MINOR=AA:BB:CC:DD:EE:FF"],
      "range --calibrate \(visitor)@power=-59,power=-60": ["--calibrate"],
      "scan --region a=\(visitor),dwell=1,dwell=2 \(file)": ["region 'a'", "given twice"],
      "inspect --region a=\(visitor),enter-rssi=5 \(file)": ["region 'a'", "--enter-rssi: '5'"],
      "range --sides left=hci0": ["--sides", "right is missing"],
      "monitor --uuid \(visitor) --boundary far": ["-67", "3m"],
      "monitor --uuid \(visitor) --boundary -67 --enter-rssi -60": ["--boundary"],
      "monitor --uuid \(visitor) --enter-count 4/3": ["--enter-count: '4/3'", "from 1/1 to 64/64"],
      "monitor --uuid \(visitor) --exit-after 0": ["--exit-after: '0'", "at most 7d"],
      "monitor --uuid \(visitor) --enter-distance 0": ["--enter-distance: '0'", "more than 0"],
      "monitor --uuid \(visitor) --enter-rssi 60": ["--enter-rssi: '60'", "from -128 to 0"],
      "monitor --uuid \(visitor) --enter-rssi -70 --exit-rssi -60 \(file)": [
        "--exit-rssi -60", "--enter-rssi -70",
      ],
      "scan --min-rssi 60 \(file)": ["--min-rssi: '60'", "from -128 to 0"],
      "scan --since 2026-01-15 --until 2025-01-15 \(file)": ["--since must be before --until"],
      "inspect --since 2026-01-15 --until 2025-01-15 \(file)": ["--since must be before --until"],
      "locate --position 91,0": ["--position: '91,0'", "a latitude from -90 to 90"],
      "calibrate --at 1=\(file)@50-20": ["--at", "FROM before TO"],
      "range --calibrate \(visitor)@pwr=5": ["--calibrate", "a power from -100 to -1"],
      "range --speed 10 \(file)": ["--speed: '10'", "with an x"],
      "monitor --uuid \(visitor) --enter-rssi high": ["dBm such as -67"],
      "monitor --uuid \(visitor) --enter-distance near": ["meters such as 1.5"],
      "simulate captures/visitor.json --output - --seed x": ["--seed", "whole number"],
    ])

  private static let combinations = mistakes(
    64,
    [
      "scan --quiet --verbose": ["--quiet and --verbose"],
      "scan --json --format csv": ["--json and --format csv"],
      "scan --format table --json": ["--json and --format table"],
      "scan --format xml": ["write table, json or csv"],
      "scan --color maybe": ["write auto, always or never"],
      "scan --count 1 --count 2": ["--count is given twice"],
      "monitor --uuid \(visitor) --enter-distance 1 --enter-distance 5 \(file)": [
        "--enter-distance is given twice"
      ],
      "scan --adapter eth0": ["hci0", "all"],
      "scan --adapter hci0 --adapter all": ["--adapter all"],
      "scan --adapter hci0 \(file)": ["--adapter is for live scanning"],
      "scan --backend usb": ["--backend"],
      "scan --backend bluez --coded": ["--coded needs raw HCI"],
      "scan --active --replay \(file)": ["--active"],
      "scan --speed 1x": ["--speed belongs to a recording"],
      "scan --speed fast \(file)": ["1x or 10x"],
      "range --follow": ["--follow belongs to a recording"],
      "scan - -": ["one standard input"],
      "inspect - --replay -": ["one standard input"],
      "range \(file) \(file)": ["\(file) is given twice"],
      "range --adapter-offset 00:1B:DC:0F:10:07=2 \(file)": ["hci0, hci1"],
      "range --adapter-offset hci1=3 \(file)": [
        "--adapter-offset hci1=…", "no sighting of \(file)", "has some: hci0",
      ],
      "monitor --uuid \(visitor) --adapter-offset hci1=3 \(file) captures/edge.btsnoop": [
        "--adapter-offset hci1=…", "has some: hci0, hci100",
      ],
      "range --sides left=hci0,right=hci100 \(file)": [
        "--sides hci100: no sighting of \(file)", "has some: hci0",
      ],
      "range --adapter hci0 --adapter-offset hci1=3": [
        "hci1, which --adapter leaves out", "or name hci0",
      ],
      "monitor --uuid \(visitor) --adapter hci0 --adapter hci2 --adapter-offset hci1=3": [
        "hci1, which --adapter leaves out", "or name hci0 or hci2",
      ],
      "monitor --uuid \(visitor) --exec ''": ["--exec", "write a line of shell"],
      "serve --mqtt a --mqtt-key k --replay \(file)": [
        "--mqtt-key needs", "--mqtt-certificate FILE",
      ],
      "serve --mqtt a --mqtt-node a/b --replay \(file)": ["--mqtt-node: 'a/b'", "letters, digits"],
      "monitor --uuid \(visitor) --state-file ''": ["--state-file needs a value"],
      "simulate a --output - --truth -": ["standard output"],
      "calibrate --replay a": ["calibrate has no option '--replay'"],
      "calibrate --at 1=\(file) --duration 5": ["--duration", "leave one of them out"],
      "calibrate --at far": ["edge, inside or outside"],
      "advertise --uuid \(visitor) --tx-power": ["--tx-power needs --extended"],
      "decode --as text 00": ["--as", "write auto, ad, manufacturer, h4, ll or command"],
      "scan --min-rssi -60 --min-rssi -70 \(file)": ["--min-rssi is given twice"],
      "decode --as ad --as ad 00": ["--as is given twice"],
      "simulate a -o b --output c": ["--output is given twice"],
      "scan --json= \(file)": ["--json takes no value"],
      "scan --json=yes \(file)": ["--json takes no value; leave '=yes' out"],
      "scan ''": ["A recording must have a name"],
      "serve --history-size 3 --replay \(file)": ["--history-size", "give --history FILE too"],
      "serve --mqtt a --mqtt-room x --mqtt-discovery none": [
        "--mqtt-room", "--mqtt-discovery none",
      ],
      "record --replay \(file) /tmp/x.pcap": ["/tmp/x.pcap", "btsnoop or pcapng"],
      "record --replay \(file) /tmp/x.pcapng.gz": ["/tmp/x.pcapng.gz", "uncompressed"],
      "simulate captures/visitor.json -o x.pcap": ["x.pcap", "btsnoop or pcapng"],
      "range --raw \(file)": ["--raw is for reports", "--format json or csv"],
      "scan --config= \(file)": ["--config needs a value: write the name of a file"],
      "config check ''": ["must have a name"],
      "simulate '' --output -": ["The scenario must have a name"],
      "monitor --uuid \(visitor) --exec ' ' \(file)": ["--exec", "write a line of shell"],
      "monitor --uuid \(visitor) --exec 'größe' \(file)": ["there is no command 'größe'"],
      "monitor --uuid \(visitor) --state-file - \(file)": ["--state-file", "- is none"],
      "adapters a b": ["'a', 'b'", "beaconscan adapters --help"],
      "advertise --uuid \(visitor) --legacy --extended": [
        "--legacy and --extended", "give one of them",
      ],
      "advertise --uuid \(visitor) --measured-power 200": ["from -128 to 127"],
      "scan -x \(file)": ["there is no option '-x'"],
    ])

  private static let files =
    mistakes(
      66,
      [
        "scan --replay /nonexistent": ["/nonexistent: there is no such file; check the path"],
        "inspect /nonexistent": ["no such file"],
        "range /": ["/: it is a directory"],
        "simulate /nonexistent --output -": ["check the path"],
        "calibrate --at 1=/nonexistent": ["no such file"],
        "serve --mqtt a --mqtt-ca /nonexistent --replay \(file)": ["/nonexistent", "PEM file"],
      ])
    + mistakes(
      65,
      [
        "serve README.md": ["README.md", "not a btsnoop, pcap"],
        "scan README.md": ["README.md", "not a btsnoop, pcap"],
        "inspect /dev/null": ["/dev/null: it is empty"],
        "inspect README.md": ["README.md", "not a btsnoop, pcap", "GPX"],
        "range captures/visitor.gpx": ["visitor.gpx: this is a track", "pcapng capture"],
        "simulate README.md --output -": ["README.md"],
        "record --replay README.md /tmp/beaconscan-wrong-input": ["README.md: this is not"],
        "record --replay - /tmp/beaconscan-wrong-input": ["standard input: it is empty"],
        "decode zz": ["digits 0-9 and a-f"],
        "decode 4c0": ["pairs of the digits"],
      ])
    + mistakes(
      73,
      [
        "simulate captures/visitor.json --output /none/file": ["cannot create it"],
        "simulate captures/visitor.json --output README.md": [
          "README.md: there is a file already", "--force",
        ],
        "record --replay \(file) /none/file": ["cannot create it"],
      ])

  /// Words that would break a sentence, or the terminal that shows it.
  private static let hostile =
    mistakes(
      64,
      [
        "scan --count \"$(printf '1\\n2')\"": ["--count: '1?2' cannot be used", "1 or more"],
        "scan --since \"$(printf 'a\\nb')\"": ["--since: 'a?b'", "2026-01-15"],
        "scan --top \"a' is invalid for 'b\"": ["--top: 'a' is invalid for 'b' cannot be used"],
        "scan \"$(printf -- '--a\\nb')\"": ["there is no option '--a?b'"],
        "adapters \"$(printf 'a\\nb')\"": ["there is no place for 'a?b'"],
        "scan --uuid \"$(printf 'a\\342\\200\\256b')\"": [
          "--uuid: 'a?b'", "32 hexadecimal digits",
        ],
        "scan --count \"$(head -c 100000 /dev/zero | tr '\\0' a)\"": [
          "--count: 'aaa", "1 or more",
        ],
        "scan \"$(printf '\\377\\376')\"": ["is not UTF-8", "beaconscan scan - < FILE"],
      ])
    + mistakes(
      66,
      [
        "scan \"$(printf '\\033[31ma\\nb')\"": ["?[31ma?b: there is no such file"],
        "scan \"$(head -c 100000 /dev/zero | tr '\\0' a)\"": ["check the path"],
        "beacons --config \"$(head -c 100000 /dev/zero | tr '\\0' a)\"": ["check the path"],
        "simulate \"$(head -c 100000 /dev/zero | tr '\\0' a)\" --output -": ["check the path"],
      ])

  /// The parser's own time grows with the square of the number of words.
  @Test func asManyRegionsAsCanBeMonitoredAreRead() throws {
    func options(_ count: Int) -> [String] {
      (0..<count).flatMap { ["--region", "c\($0)=48.1,11.3,\($0 + 100)"] }
    }
    let track = Command.root.appending(path: "Tests/TrackTests/Vectors/drive.nmea").path
    let run = try Command.run(["monitor", "--replay", track] + options(16384))
    #expect(run.status == 0, "\(run.error.prefix(300))")
    // Each beacon region becomes known to be outside at the same moment.
    let regions = (0..<16000).flatMap {
      ["--region", "r\($0)=\(Self.visitor):\(1000 + $0 / 250):\($0 % 250)"]
    }
    for (subcommand, duration) in [("monitor", "100s"), ("range", "2s")] {
      let run = try Command.run(
        [subcommand, "--json", "-q", "--replay", Self.file, "--duration", duration] + regions)
      #expect(run.status == 0 && run.output.utf8.count > 16000, "\(run.error.prefix(300))")
    }
    let tooMany = try Command.run(["monitor", "--replay", track] + options(16385))
    #expect(tooMany.status == 64)
    #expect(tooMany.error.hasPrefix("beaconscan: --region names 16385 circles; name at most 16384"))
  }

  @Test(arguments: subcommands + uuids + times + numbers + combinations + files + hostile)
  func oneSentence(mistake: Mistake) throws {
    let run = try Command.shell("beaconscan \(mistake.line)")
    #expect(run.status == mistake.status, "\(run.error)")
    #expect(run.error.hasPrefix("beaconscan: "), "\(run.error)")
    #expect(run.error.split(separator: "\n").count == 1, "\(run.error)")
    #expect(run.error.utf8.count < 2000)
    #expect(run.output.isEmpty)
    for word in mistake.words { #expect(run.error.contains(word), "\(run.error)") }
  }

  /// Options whose value is any text: what is wrong with one is found where it is used.
  private static let texts: Set = [
    "replay", "config", "state-file", "exec", "output", "truth", "name", "database",
    "token-file", "history", "webhook-secret-file", "mqtt-username", "mqtt-password-file",
    "mqtt-ca", "apps", "apps-state", "socket",
    "mqtt-certificate", "mqtt-key", "mqtt-node", "mqtt-prefix", "mqtt-discovery", "mqtt-room",
    "fleet-username", "fleet-password-file", "fleet-ca", "fleet-certificate", "fleet-key",
    "fleet-outbox",
  ]

  /// A subcommand, by its words.
  struct Subcommand: CustomTestStringConvertible {
    var type: any ParsableCommand.Type
    var path: [String]
    var testDescription: String { path.joined(separator: " ") }

    static let all = Beaconscan.configuration.subcommands.flatMap { type in
      let path = [type.name]
      return [Subcommand(type: type, path: path)]
        + type.configuration.subcommands.map {
          Subcommand(type: $0, path: path + [$0.name])
        }
    }

    var options: [Input] { Input.all(of: type).filter { !$0.isArgument } }
  }

  /// Every option of every subcommand says what is valid where its value is wrong, and where it is missing.
  @Test(arguments: Subcommand.all) func everyOption(subcommand: Subcommand) {
    for option in subcommand.options {
      // What is wrong with a text is found where it is used.
      let isText =
        Self.texts.contains(option.name)
        || subcommand.path == ["history"] && option.name == "region"
      for value in option.isFlag ? ["=x"] : isText ? ["", "="] : ["", "=", "=a\nb' is", "=\u{7F}"] {
        let word = "--\(option.name)"
        let error = #expect(throws: CommandError.self) {
          let given = try GivenInputs(
            [word + value], for: subcommand.type, path: subcommand.path)
          try given.check()
        }
        let sentence = error?.message ?? ""
        let says = ["write ", "leave ", "digits"]
        #expect(
          sentence.hasPrefix(word) && !sentence.contains("--help")
            && says.contains { sentence.contains($0) }, "\(word)\(value): \(sentence)")
      }
    }
  }

  @Test func optionsAreFound() {
    #expect(Subcommand.all.map(\.options.count).reduce(0, +) > 150)
  }

  /// A file that is no recording leaves no recording, and replaces none.
  @Test(arguments: ["README.md", "- < README.md"])
  func whatIsNoRecordingIsNotRecorded(source: String) throws {
    let scratch = try Scratch()
    let new = scratch.path("new").path
    let run = try Command.shell("beaconscan record '\(new)' --replay \(source)")
    #expect(run.status == 65 && run.error.split(separator: "\n").count == 1, "\(run.error)")
    let old = try scratch.file("old", "kept").path
    _ = try Command.shell("beaconscan record --force '\(old)' --replay README.md")
    let kept = try Command.shell("cat '\(old)'; test -e '\(new)' && echo left")
    #expect(kept.output == "kept")
  }

  /// What looks like a mistake and is none.
  @Test(arguments: [
    "scan --uuid '{E2C56DB5-DFFB-48D2-B060-D0F5A71096E0}' \(file) --count 1",
    "scan --uuid 'e2 c5 6d b5 df fb 48 d2 b0 60 d0 f5 a7 10 96 e0' \(file) --json --count 1",
    "range --adapter-offset -3 --measured-power -59 \(file) --duration 2s",
    "monitor --uuid \(visitor) --boundary -67 \(file) --duration 1.5m -q",
    "monitor --uuid \(visitor) --enter-rssi -67 --exit-rssi -75 --exit-after 30s \(file)",
    "range --adapter-offset hci0=3 --adapter-offset hci100=-2 \(file) captures/edge.btsnoop",
    "range --adapter-offset hci1=3 - < \(file)",
    "inspect \(file) -v --color never",
    "decode 4c0002 --config /dev/null",
    "range --interval 500ms --duration 0.1h --replay \(file) --format json",
  ])
  func accepted(line: String) throws {
    let run = try Command.shell("beaconscan \(line)")
    #expect(run.status == 0, "\(run.error)")
  }
}
