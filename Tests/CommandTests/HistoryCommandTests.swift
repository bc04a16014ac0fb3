import Foundation
import Records
import Scanning
import ServiceCore
import Storage
import TestSupport
import Testing

@testable import beaconscan

/// `beaconscan history` on histories that are made here, as the service writes them.
@Suite(.blocking) struct HistoryCommandTests {
  private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
  /// 2026-01-15T09:00:00Z, in microseconds.
  private static let start: Int64 = 1_768_467_600_000_000

  let scratch: Scratch
  private let file: String

  init() throws {
    scratch = try Scratch()
    file = scratch.path("history.sqlite").path
  }

  private func history(_ arguments: String...) throws -> Run {
    try Command.run(["history", "--database", file] + arguments)
  }

  /// An entry that says what a JSON record says.
  private func entry(_ line: some StringProtocol) throws -> StoredEntry {
    let record = try #require(
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let text = try #require(record["time"] as? String)
    let time = try #require(WrittenTime(text))
    return StoredEntry(
      id: 0, time: time.time(in: .utc).microseconds, kind: try #require(record["type"] as? String),
      region: record["region"] as? String,
      beacon: (record["minor"] as? Int).map { "\(Self.uuid):1:\($0)" }, payload: Array(line.utf8),
      dwell: record["dwell"] as? Double)
  }

  /// A record of `monitor`, some seconds after nine.
  private func record(
    _ kind: String, _ region: String, after seconds: Double, minor: Int? = nil, inside: Int? = nil,
    dwell: Double? = nil
  ) -> String {
    let time = WallClockTime(microseconds: Self.start + Int64(seconds * 1e6))
    let identity = minor.map { #""uuid":"\#(Self.uuid)","major":1,"minor":\#($0)"# }
    return #"{"type":"\#(kind)","time":"\#(time)","region":"\#(region)","state":""#
      + (kind == "enter" ? "inside" : "outside") + #"","#
      + (dwell.map { #""dwell":\#($0),"# } ?? "")
      + (identity ?? #""uuid":null,"major":null,"minor":null"#)
      + #","distance":2.5,"rssi":-67,"beacons":\#(inside.map { "\($0)" } ?? "null"),"#
      + #""reason":{"rule":"sighting","lastSighting":null,"samples":1,"exitTimeout":30,"#
      + #""interval":null,"loss":null}}"#
  }

  /// A morning at two regions, of which one reports each beacon.
  private func makeMorning() throws {
    let store = try Store(.file(file), limits: .init())
    let lines = [
      record("state", "lobby", after: 0, inside: 0),
      record("enter", "lobby", after: 60, inside: 1),
      record("exit", "lobby", after: 690, inside: 0, dwell: 630),
      record("enter", "door", after: 900, minor: 1, inside: 1),
      record("enter", "door", after: 1800, minor: 2, inside: 2),
      record("exit", "door", after: 2700, minor: 1, inside: 1, dwell: 1800),
      #"{"type":"health","time":"2026-01-15T09:50:00.000000Z","state":"removed","adapter":"hci0","address":null,"receptionLost":true,"message":"hci0 is gone; plug it in"}"#,
      record("enter", "lobby", after: 3300, inside: 1),
      record("exit", "lobby", after: 3900, inside: 0, dwell: 600),
      record("exit", "door", after: 5400, minor: 2, inside: 0, dwell: 3600),
      record("enter", "lobby", after: 7155, inside: 1),
      record("exit", "lobby", after: 7200, inside: 0, dwell: 45),
    ]
    try store.append(lines.map(entry))
    let hour = HistoryHour.containing(Self.start)
    try store.addPresence(
      [
        .init(
          beacon: "\(Self.uuid):1:1", hour: hour, seconds: 1800, sightings: 17_893, samples: 17_893,
          meanRSSI: -66.25, bestRSSI: -58),
        .init(beacon: "\(Self.uuid):1:2", hour: hour, seconds: 1800, sightings: 12),
        .init(
          beacon: "\(Self.uuid):1:2", hour: hour + 1, seconds: 1799.9985, sightings: 9000,
          samples: 9000, meanRSSI: -71, bestRSSI: -60),
      ])
  }

  /// What is stored of `monitor` is shown as `monitor` showed it.
  @Test func rowsAreThoseOfMonitor() throws {
    let arguments = [
      "--each", "--region", "lobby=\(Self.uuid)", "--replay", "captures/visitor.btsnoop",
    ]
    func monitor(_ format: String) throws -> [Substring] {
      try Command.run(["monitor"] + arguments + ["--format", format]).lines
    }
    let lines = try monitor("json").filter { !$0.contains(#""type":"summary""#) }
    let store = try Store(.file(file), limits: .init())
    try store.append(lines.map(entry))
    #expect(lines.count == 5)
    // While the service has it open.
    #expect(try history("--json").lines == lines)
    let csv = try history("--format", "csv").lines
    let common = csv.map { $0.split(separator: ",", omittingEmptySubsequences: false).dropLast(9) }
    #expect(common.map { $0.joined(separator: ",") } == (try monitor("csv")).map(String.init))
    #expect(
      csv[0].hasSuffix(
        ",beacons,adapter,message,latitude,longitude,radius,accuracy,fixes,arrival,departure"))
    let table = try history("--utc").lines
    #expect(table.count == 6 && table[1].contains("STATE    lobby "))
    #expect(table[5].contains("EXIT     lobby ") && table[5].contains("1 min 18 s  1:100"))
    #expect(table[5].contains("not received for its exit timeout of 2.0 s"))
    store.close()
    #expect(try history("--json").lines == lines)
  }

  /// The reason for not entering a region is that of `monitor`.
  @Test func whyNot() throws {
    let arguments = [
      "--region", "lobby=\(Self.uuid)", "--enter-distance", "0.05", "--replay",
      "captures/visitor.btsnoop",
    ]
    let lines = try Command.run(["monitor", "--format", "json"] + arguments).lines
      .filter { $0.contains(#""rule":"start""#) }
    let store = try Store(.file(file), limits: .init())
    try store.append(lines.map(entry))
    store.close()
    let reason =
      "outside: no beacon met the rules for 30.0 s: nearest 0.71 m; within 0.05 m is needed"
    #expect(try Command.run(["monitor"] + arguments).lines[1].hasSuffix(reason))
    let table = try history("--utc").lines
    #expect(table.count == 2 && table[1].hasSuffix(reason), "\(table)")
  }

  /// What is stored of circles is shown as `monitor` showed it.
  @Test func circlesAreThoseOfMonitor() throws {
    func monitor(_ format: String) throws -> [Substring] {
      try Command.run(
        "monitor", "--region", "stop=52.5163,13.3777,200", "captures/visitor.gpx", "--utc",
        "--format", format
      ).lines
    }
    func rows(_ lines: [Substring]) throws -> [[Substring: Substring]] {
      let header = try #require(lines.first).split(separator: ",")
      return lines.dropFirst().map { line in
        let cells = line.split(separator: ",", omittingEmptySubsequences: false)
        return Dictionary(uniqueKeysWithValues: zip(header, cells))
      }
    }
    let lines = try monitor("json").filter { !$0.contains("trackSummary") }
    let store = try Store(.file(file), limits: .init())
    try store.append(lines.map(entry))
    try store.append([entry(record("enter", "lobby", after: 0, inside: 1))])
    #expect(lines.count == 3)
    #expect(try history("--json", "--region", "stop").lines == lines)
    let shown = try rows(history("--format", "csv", "--region", "stop").lines)
    let expected = try rows(monitor("csv"))
    #expect(shown.count == 3)
    for (shown, expected) in zip(shown, expected) {
      #expect(shown.filter { expected[$0.key] != nil } == expected)
    }
    // The reasons are the same, in the last column.
    let reasons = try monitor("table").dropFirst().map { $0.drop { $0 != "–" } }
    let table = try history("--utc", "--region", "stop").lines.dropFirst().suffix(2)
    #expect(table.map { $0.drop { $0 != "–" } } == reasons, "\(table)")
    let dwell = try history("--dwell", "--region", "stop").lines
    #expect(dwell.count == 2 && dwell[1].contains("46.0 s"))
    #expect(try history("--plot", "--region", "stop").output.hasPrefix("stop ·"))
  }

  @Test func visitsSayWhenAndWhere() throws {
    func visit(_ time: String, _ arrival: String, _ departure: String) -> String {
      #"{"type":"visit","time":"\#(time)","latitude":52.5163,"longitude":13.3777,"#
        + #""accuracy":21.5,"arrival":\#(arrival),"departure":\#(departure)}"#
    }
    let (nine, ten) = ("2026-01-15T09:14:00.000000Z", "2026-01-15T09:40:00.000000Z")
    let before = "2026-01-14T23:14:00.000000Z"
    let lines = [
      visit(nine, "\"\(nine)\"", "null"), visit(ten, "\"\(nine)\"", "\"\(ten)\""),
      visit(ten, "\"\(before)\"", "\"\(ten)\""), visit(ten, "null", "\"\(ten)\""),
    ]
    try Store(.file(file), limits: .init()).append(lines.map(entry))
    #expect(try history("--json").lines.map(String.init) == lines)
    let table = try history("--utc").lines.dropFirst().map(String.init)
    let place = "at 52.51630, 13.37770"
    let words = [
      "arrived 09:14, \(place)", "arrived 09:14, left 09:40, \(place)",
      "arrived 2026-01-14 23:14, left 09:40, \(place)", "left 09:40, \(place)",
    ]
    #expect(table.count == words.count)
    for (row, words) in zip(table, words) {
      #expect(row.contains(" VISIT ") && row.hasSuffix(" \(words)"), "\(row)")
    }
    let csv = try history("--format", "csv").lines
    #expect(csv[2].hasPrefix("\(ten),visit,,") && csv[2].hasSuffix(",\(nine),\(ten)"), "\(csv[2])")
    #expect(csv[2].contains(",52.5163,13.3777,,21.5,,"))
  }

  @Test func filters() throws {
    try makeMorning()
    func times(_ arguments: String...) throws -> [String] {
      let run = try Command.run(["history", "--database", file, "--json"] + arguments)
      #expect(run.status == 0)
      return try run.json().compactMap {
        ($0["time"] as? String).map { String($0.dropFirst(11).prefix(5)) }
      }
    }
    #expect(try times().count == 12)
    #expect(try times("--region", "lobby").count == 7)
    #expect(try times("--region", "lobby", "--last", "2") == ["10:59", "11:00"])
    #expect(
      try times("--since", "2026-01-15T09:45:00Z", "--until", "2026-01-15T10:05:00Z")
        == ["09:45", "09:50", "09:55"])
    #expect(try times("--since", "2026-01-15 11:00", "--utc") == ["11:00"])
    #expect(try times("--since", "1d").isEmpty)
    #expect(try times("--until", "0s").count == 12)
    let none = try history("--since", "1h")
    #expect(none.status == 0 && none.error.contains("nothing happened in this time"))
    let other = try history("--region", "loby")
    #expect(other.error.contains("has no region 'loby'; it has door, lobby"))
  }

  /// Tests/Checks/outputs.sh checks these very lines by the schema and by docs/json.md.
  @Test func itsLinesAreThoseThatAreChecked() throws {
    try makeMorning()
    let names = try scratch.file(
      "names.toml", "[beacon.forklift]\nuuid = \"\(Self.uuid)\"\nmajor = 1\nminor = 2\n")
    let output =
      try history("--dwell", "--json").output + history("--presence", "--json").output
      + history("--presence", "--json", "--since", "2026-01-15T10:00:00Z", "--config", names.path)
      .output
    let checked = Command.root.appending(path: "Tests/Outputs/history.jsonl")
    #expect(try output == String(contentsOf: checked, encoding: .utf8))
  }

  @Test func staysAndPresenceForPeople() throws {
    try makeMorning()
    #expect(
      try history("--dwell", "--utc").output == """
        REGION  STAYS       MEDIAN         MEAN      LONGEST        TOTAL  BY HOUR 0–23
        door        2  45 min 00 s  45 min 00 s   1 h 00 min   1 h 30 min  ·········█▅·············
        lobby       3  10 min 00 s   7 min 05 s  10 min 30 s  21 min 15 s  ·········█▄·············

        """)
    let csv = try history("--presence", "--format", "csv").lines
    #expect(csv.count == 4 && csv[0] == "time,uuid,major,minor,seconds,sightings,rssi,bestRSSI")
    #expect(csv[3] == "2026-01-15T10:00:00.000000Z,\(Self.uuid),1,2,1799.999,9000,-71,-60")
    let table = try history("--presence", "--utc").lines
    #expect(table[1].contains("2026-01-15 09:00:00Z") && table[1].contains("30 min 00 s"))
  }

  @Test func plots() throws {
    try makeMorning()
    #expect(
      try history("--plot", "--utc").output == """
        door  ·········▆█████████████████████████████████████████████▅··················
        lobby ▄██████▁·························▁██████▁································▄
              2026-01-15 09:00:00Z                                  2026-01-15 11:00:00Z
        A column is 1 min 37 s; a full block is occupied all the time.

        """)
    let ascii = try Command.shell(
      "LC_ALL=C beaconscan history --plot --utc --database '\(file)'", in: scratch.folder)
    #expect(ascii.output.utf8.allSatisfy { $0 < 0x80 } && ascii.lines.count == 4)
    let empty = try history("--plot", "--since", "2h", "--until", "1h")
    #expect(empty.status == 0)
  }

  @Test func theDocumentsExamplesAreTrue() throws {
    try makeMorning()
    let page = try String(
      contentsOf: Command.root.appending(path: "docs/history.md"), encoding: .utf8)
    let blocks = page.components(separatedBy: "```text\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    #expect(blocks.count == 4)
    for block in blocks {
      let line = try #require(block.split(separator: "\n").first)
      let run = try Command.shell(
        "TZ=UTC STATE_DIRECTORY='\(scratch.folder.path)' \(line.dropFirst(2))", in: scratch.folder)
      #expect("\(line)\n\(run.output)" == block)
    }
  }

  /// On a terminal the plot is as wide as that, and tables leave columns out.
  @Test(arguments: [40, 60, 132])
  func itFitsTheTerminal(columns: Int) throws {
    try makeMorning()
    for option in ["--plot", "--dwell", "--presence", ""] {
      let terminal = try Terminal(
        "beaconscan history --utc --color never \(option) --database '\(file)'", columns: columns,
        rows: 30)
      try terminal.finish()
      let lines = try terminal.wait(isStill: true) { $0.count >= 3 }
      #expect(lines.count >= 3 && lines.allSatisfy { $0.count <= columns }, "\(lines)")
      if option == "--plot" { #expect(lines.first?.count == columns) }
    }
  }

  @Test func wrongInput() throws {
    try makeMorning()
    let notes = try scratch.file("notes.txt", "Buy milk.\n")
    let cases: [([String], Int32, String)] = [
      (["--database", "none.sqlite"], 66, "beaconscan serve writes one"),
      (["--database", "none/none.sqlite"], 66, "beaconscan serve writes one"),
      (["--database", notes.path], 65, "it is not a history"),
      (["--database", scratch.folder.path], 66, "not a regular file"),
      (["--database"], 64, "write the name of a file"),
      (["--database="], 64, "write the name of a file"),
      (["--since", "yesterday"], 64, "how long ago such as 24h or 7d"),
      (["--since", "2026"], 64, "how long ago such as 24h or 7d"),
      (["--until"], 64, "write a date and a time"),
      (["--since", "1h", "--until", "2h"], 64, "--since must be before --until"),
      (["--last", "0"], 64, "--last: '0' cannot be used"),
      (["--last", "x"], 64, "write a whole number of 1 or more"),
      (["--last", "1", "--plot"], 64, "leave it or --plot out"),
      (["--dwell", "--plot"], 64, "give one of them"),
      (["--plot", "--json"], 64, "leave --format json out"),
      (["--presence", "--region", "lobby"], 64, "leave one of them out"),
      (["--region"], 64, "write the name of a region"),
    ]
    for (arguments, status, sentence) in cases {
      let isNamed = arguments[0].hasPrefix("--database")
      let run = try Command.run(["history"] + (isNamed ? [] : ["--database", file]) + arguments)
      #expect(run.status == status && run.output.isEmpty, "\(arguments): \(run.error)")
      #expect(run.error.contains(sentence), "\(arguments): \(run.error)")
      #expect(run.error.split(separator: "\n").count == 1, "\(run.error)")
    }
    let usual = try Command.shell(
      "STATE_DIRECTORY=\(scratch.folder.path) beaconscan history --json | wc -l",
      in: scratch.folder)
    #expect(usual.output == "12\n")
    let home = try Command.shell(
      "HOME=/nowhere XDG_STATE_HOME= beaconscan history", in: scratch.folder)
    #expect(home.status == 66 || home.status == 77)
  }

  /// Records that are damaged or of a newer version are shown as far as they can be read.
  @Test func strangeRecords() throws {
    let store = try Store(.file(file), limits: .init())
    let payloads = [
      "", "{", "[]", #"{"uuid":5,"reason":7,"beacons":-1}"#, #"{"regions":[{"name":"a"}]}"#,
      #"{"latitude":"x","longitude":1e999,"arrival":5,"departure":"soon"}"#,
      #"{"latitude":1,"distance":1e300,"reason":{"rule":"clear","accuracy":-1,"fixes":1e300}}"#,
    ]
    let kinds = [4: "regions", 5: "visit"]
    try store.append(
      payloads.enumerated().map {
        .init(
          id: 0, time: $0 == 0 ? .min : $0 == 1 ? .max : Self.start,
          kind: kinds[$0] ?? "exit",
          region: kinds[$0] != nil ? nil : "r\u{1b}[2J\($0)", payload: Array($1.utf8),
          dwell: $0 == 2 ? .infinity : $0 == 3 ? 1e300 : -1)
      })
    try store.addPresence(
      [.init(beacon: "x", hour: .max, seconds: 1, sightings: 1)])
    for arguments in [
      [], ["--dwell"], ["--presence"], ["--plot"], ["--format", "csv"], ["--dwell", "--json"],
    ] {
      let run = try Command.run(["history", "--database", file] + arguments)
      #expect(run.status == 0 && !run.output.contains("\u{1b}"), "\(arguments) \(run.error)")
    }
  }
}

extension Store {
  /// Stores entries under new identifiers.
  fileprivate func append(_ entries: [StoredEntry]) throws(StorageError) {
    try writeAndWait(
      entries.map { entry in
        var entry = entry
        entry.id = nextID()
        return .add(entry)
      })
  }

  fileprivate func addPresence(_ presence: [StoredPresence]) throws(StorageError) {
    try writeAndWait(presence.map { .addPresence($0) })
  }
}
