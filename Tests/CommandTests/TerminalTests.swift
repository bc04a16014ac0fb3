import Foundation
import TestSupport
import Testing

/// The command in a real terminal: what its tables show at any width is true, and the terminal is as before afterwards.
@Suite(.blocking) struct TerminalTests {
  private static let uuids = [
    "F7826DA6-4FA2-4E98-8024-BC5B71E0893E", "B9407F30-F5F8-466E-AFF9-25556B57FE6D",
  ]

  /// A recording of 200 beacons, 3 s long.
  private static func crowd(in scratch: Scratch) throws -> String {
    let beacons = uuids.enumerated().map { index, uuid in
      """
      { "id": "b\(index)", "uuid": "\(uuid)", "major": \(1000 + index), "minor": 20001,
        "measuredPower": -59, "interval": 300, "count": 100, "spread": [1, 18] }
      """
    }
    let scenario = try scratch.file(
      "crowd.json",
      """
      { "name": "crowd", "description": "200 beacons", "seed": 7,
        "start": "2026-02-02T17:30:00Z", "duration": 3, "format": {},
        "environment": { "pathLossExponent": 2.3, "noise": 3, "noiseCorrelation": 0.5,
          "hearing": -110, "loss": 0 },
        "beacons": [\(beacons.joined(separator: ","))] }
      """)
    let recording = scratch.path("crowd.btsnoop").path
    let run = try Command.run("simulate", scenario.path, "--output", recording)
    try #require(run.status == 0, "\(run.error)")
    return recording
  }

  /// The rows of a table under its header: cells by their titles.
  private func rows(_ lines: [String], below header: Int) -> [[String: String]] {
    func cells(_ line: String) -> [String] {
      line.components(separatedBy: "  ").map { $0.trimmingCharacters(in: .whitespaces) }
        .filter { !$0.isEmpty }
    }
    let titles = cells(lines[header])
    return lines[(header + 1)...].filter { !$0.hasPrefix("…") }.map { line in
      Dictionary(zip(titles, cells(line)), uniquingKeysWith: { $1 })
    }
  }

  /// Each width shows whole values of the last report, in the order that the keys choose, also after a resize.
  @Test func liveTable() throws {
    let scratch = try Scratch()
    let recording = try Self.crowd(in: scratch)
    let report = try #require(
      try Command.run("range", "--replay", recording, "--format", "json").json().last {
        $0["type"] as? String == "range"
      })
    let beacons = try #require(report["beacons"] as? [[String: Any]])
    try #require(beacons.count == 200)
    // At its end a recording that is followed stands still.
    let terminal = try Terminal(
      "beaconscan range --follow --speed 5x --utc --replay '\(recording)'", columns: 80, rows: 30)
    let time = try #require(report["time"] as? String)
    let title = "2026-02-02 " + time.dropFirst(11).prefix(12) + "Z  200 beacons"
    let short = "\(time.dropFirst(11).prefix(8))  200 beacons  keys: d n l q"
    try terminal.wait { $0.first?.hasPrefix(title) == true }
    let titles: [Int: [String]] = [
      40: ["MAJOR", "MINOR", "PROXIMITY", "DISTANCE", "…"],
      60: ["UUID", "MAJOR", "MINOR", "PROXIMITY", "DISTANCE", "RSSI", "…"],
      80: ["UUID", "MAJOR", "MINOR", "PROXIMITY", "DISTANCE", "±", "RSSI", "SIGNAL"],
      120: ["UUID", "MAJOR", "MINOR", "PROXIMITY", "DISTANCE", "±", "RSSI", "SIGNAL"],
      200: ["UUID", "MAJOR", "MINOR", "PROXIMITY", "DISTANCE", "±", "RSSI", "SIGNAL"],
    ]
    for width in [80, 40, 200, 60, 120, 40] {
      for (rows, hidden) in [(30, 174), (12, 192)] {
        try terminal.resize(columns: width, rows: rows)
        let lines = try terminal.wait(isStill: true) { lines in
          lines.count == rows - 1 && lines.last == "… \(hidden) more"
            && lines[0].hasPrefix(width == 40 ? short : title)
            && lines.allSatisfy { $0.count <= width }
            && lines[1].split(separator: " ").map(String.init) == titles[width]
        }
        let shown = self.rows(lines, below: 1)
        #expect(shown.count == 200 - hidden)
        for (row, beacon) in zip(shown, beacons) { check(row, beacon, width) }
      }
    }
    func minors() throws -> [Int] {
      let lines = try terminal.screen()
      guard lines.count > 2 else { return [] }
      return self.rows(lines, below: 1).compactMap { $0["MINOR"].flatMap { Int($0) } }
    }
    let closest = try minors()
    try #require(closest.count == 8 && closest != closest.sorted())
    let byName = Array(20001...20008)
    try terminal.press("n")
    #expect(try eventually { try minors() == byName })
    try terminal.press("l")
    #expect(try eventually { try ![closest, byName, []].contains(minors()) })
    try terminal.press("d")
    #expect(try eventually { try minors() == closest })
    try terminal.press("q")
    try terminal.finish()
  }

  /// At its end a table that was redrawn makes room for the visits.
  @Test func rangeEndsWithTheVisits() throws {
    let terminal = try Terminal(
      "beaconscan range --speed 50x --utc --replay captures/visitor.btsnoop", columns: 150,
      rows: 30)
    try terminal.finish()
    let lines = try terminal.screen()
    #expect(lines.first?.hasPrefix("UUID") == true && lines.first?.contains("NEAREST") == true)
    #expect(lines.count { $0.hasPrefix("E2C56DB5") } == 3, "\(lines)")
    #expect(!lines.contains { $0.contains("keys:") })
  }

  /// At its end the table of regions has no keys, and the reasons for not entering stand below it.
  @Test(arguments: [false, true]) func monitorEndsWithReasons(explains: Bool) throws {
    let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    let terminal = try Terminal(
      "beaconscan monitor --region kiosk=\(uuid):1:100,enter-distance=0.2 --region lobby=\(uuid) "
        + "\(explains ? "--explain" : "") --speed 50x --utc --replay captures/visitor.btsnoop",
      columns: 150, rows: 30)
    try terminal.finish()
    let lines = try terminal.screen()
    let reason =
      "kiosk was not entered: nearest 0.08 m, but not long enough within 0.2 m: 29 % of the evidence "
      + "(1:100, 729 sightings)"
    #expect((lines.last == reason) == !explains, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("kiosk") && $0.contains("< 0.2 m") } == explains)
    #expect(!lines.contains { $0.contains("keys:") })
  }

  /// A live table has only ASCII where the locale has nothing else.
  @Test(arguments: ["range", "scan --all", "monitor --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"])
  func liveTableInASCII(subcommand: String) throws {
    let terminal = try Terminal(
      "LC_ALL=C beaconscan \(subcommand) --follow --speed 10x --replay captures/visitor.btsnoop",
      columns: 60, rows: 30)
    let lines = try terminal.wait(isStill: true) { $0.count > 2 && $0[1].hasSuffix("  ~") }
    #expect(lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }, "\(lines)")
    try terminal.press("q")
    try terminal.finish()
  }

  /// Sentences are broken between words; what is to be copied is not broken at all.
  @Test(arguments: ["inspect captures/hostile.pcapng", "doctor"])
  func sentencesKeepWords(arguments: String) throws {
    let complete = try Command.shell("beaconscan \(arguments) | cat").lines
    let terminal = try Terminal(
      "clear; beaconscan \(arguments) 2>/dev/null", columns: 44, rows: 60)
    try terminal.finish()
    let lines = try terminal.screen()
    func sentences(_ lines: [some StringProtocol]) -> [String] {
      let isHeader = { (line: String) in line.hasPrefix("UUID") || line.hasPrefix("MAJOR") }
      return Array(lines.map { String($0) }.prefix { !isHeader($0) })
    }
    func words(_ lines: [some StringProtocol]) -> [Substring] {
      sentences(lines).flatMap { $0.split(separator: " ") }
    }
    #expect(words(lines) == words(complete) && lines.count > 2)
    // The terminal joins the lines that it broke itself.
    for line in sentences(lines) where line.count > 44 {
      #expect(complete.contains { $0 == line } || !line.dropFirst(9).contains(" "), "\(line)")
    }
  }

  private func check(_ row: [String: String], _ beacon: [String: Any], _ width: Int) {
    #expect(row["MAJOR"] == (beacon["major"] as? Int).map { "\($0)" }, "\(width)")
    #expect(row["MINOR"] == (beacon["minor"] as? Int).map { "\($0)" }, "\(width)")
    #expect(row["PROXIMITY"] == beacon["proximity"] as? String, "\(width)")
    let distance = (beacon["distance"] as? Double).map { ($0 * 10).rounded() / 10 }
    #expect(row["DISTANCE"] == distance.map { "\($0) m" } ?? "–", "\(width)")
    let uuid = beacon["uuid"] as? String ?? ""
    let short = String(uuid.prefix(8) + "…" + uuid.suffix(4))
    #expect(row["UUID"] == nil || row["UUID"] == (width >= 120 ? uuid : short), "\(width)")
    if width >= 60 { #expect(row["RSSI"] == (beacon["rssi"] as? Int).map { "\($0)" } ?? "–") }
  }

  /// The line that shows how far a long replay has come is gone before anything is written to the terminal.
  @Test func noRowBehindTheProgress() throws {
    let visitor = "captures/visitor.btsnoop"
    // Long enough for the line to be shown before the first row, which another beacon brings at the end.
    let long =
      "{ head -c 16 captures/lobby.btsnoop; for i in $(seq 100); do tail -c +17 captures/lobby.btsnoop; done;"
      + " tail -c +17 \(visitor); } > $TMPDIR/long"
    let uuid = "--uuid \(MonitorRun.visitor) --major 1 --minor 100 --count 3"
    let terminal = try Terminal(
      "export TMPDIR=$(mktemp -d); \(long); clear; beaconscan scan \(uuid) $TMPDIR/long; rm -r $TMPDIR",
      columns: 80,
      rows: 30)
    try terminal.finish()
    let lines = try terminal.screen()
    #expect(lines.first?.hasPrefix("TIME") == true, "\(lines)")
    #expect(!lines.contains { $0.contains("s left") }, "\(lines)")
  }

  /// A table that is not drawn over fits too, and is complete in a pipe.
  @Test(arguments: [
    "scan --replay captures/visitor.btsnoop --count 3", "range --replay captures/visitor.btsnoop",
    "inspect captures/edge.btsnoop",
    "monitor --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 --replay captures/visitor.btsnoop",
  ])
  func staticTables(arguments: String) throws {
    let pipe = try Command.shell("beaconscan \(arguments) | cat").lines
    #expect(!pipe.contains { $0.hasSuffix("…") || $0.contains("E2C56DB5…") })
    for width in [40, 60, 80, 120, 200] {
      let terminal = try Terminal("clear; beaconscan \(arguments)", columns: width, rows: 30)
      try terminal.finish()
      let lines = try terminal.screen()
      let table = lines.drop {
        !$0.hasPrefix("UUID") && !$0.hasPrefix("TIME") && !$0.hasPrefix("MAJOR")
      }
      #expect(table.count >= 2, "\(width): \(lines)")
      #expect(table.allSatisfy { $0.count <= width }, "\(width): \(lines)")
      let isCut = table.first?.hasSuffix("…") == true
      #expect(
        isCut
          || table.first?.split(separator: " ").last
            == pipe.first {
              $0.hasPrefix("UUID") || $0.hasPrefix("TIME")
            }?.split(separator: " ").last
      )
    }
  }

  /// The regions and their latest events.
  @Test func liveRegions() throws {
    let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    let regions = (1...30).map { "--region room\($0)=\(uuid):\($0)" }.joined(separator: " ")
    let terminal = try Terminal(
      "beaconscan monitor --follow --speed 100x \(regions) --replay captures/visitor.btsnoop",
      columns: 40, rows: 12)
    try terminal.wait { $0.last?.contains("STATE  room30") == true }
    for (width, rows, last) in [
      (40, 12, "… 27 more"), (80, 24, "… 21 more"), (60, 70, "room30  outside"),
    ] {
      try terminal.resize(columns: width, rows: rows)
      // What is seen before the table is drawn anew is the terminal's own rearrangement.
      try terminal.wait { lines in
        lines.count > 3 && lines.count <= rows - 1 && lines.allSatisfy { $0.count <= width }
          && lines[0].contains("  inside 1 of 30 regions")
          && lines[0].contains("keys: d n l q") == (width > 40)
          && lines[1].hasPrefix("REGION") && lines[2].hasPrefix("room1 ")
          && lines.contains { $0.hasPrefix(last) }
          && lines.last?.contains("STATE  room30") == true
      }
    }
  }

  /// Of a circle, the distance to its center, and nothing of beacons.
  @Test func aCircle() throws {
    let terminal = try Terminal(
      "beaconscan monitor --speed 200x --region fair=52.5163,13.3777,200 --replay captures/visitor.gpx",
      columns: 120, rows: 20)
    try terminal.finish()
    let row = try #require(try terminal.screen().first { $0.hasPrefix("fair") })
    #expect(row.hasSuffix(" m") && row.contains("  center  ") && !row.contains("–"), "\(row)")
  }

  /// However it ends, keys are shown again and come as lines.
  @Test(arguments: ["q", "C-c", "C-\\", "TERM", "HUP", "fault", "end"])
  func modeIsRestored(ending: String) throws {
    let scratch = try Scratch()
    let (before, after) = (scratch.path("before").path, scratch.path("after").path)
    let pid = scratch.path("pid").path
    var recording = Command.capture("lobby.btsnoop")
    if ending == "fault" {
      recording = try scratch.file("cut", Recording.head(60_000, of: "lobby.btsnoop")).path
    }
    let isEndless = ending != "fault" && ending != "end"
    let terminal = try Terminal(
      """
      stty -g >'\(before)'
      sh -c 'echo $$ >"\(pid)"; exec beaconscan range --speed 10x \(isEndless ? "--follow" : "") \
        --replay "\(recording)"'
      stty -g >'\(after)'
      """, columns: 80, rows: 24)
    let device = try terminal.device
    func mode() throws -> String { try Command.shell("stty -a -F \(device)").output }
    let entered = try eventually { try mode().contains("-icanon") || terminal.hasEnded }
    #expect(entered)
    if isEndless {
      try terminal.wait { $0.first?.contains("beacons") == true }
      #expect(try mode().contains("-echo "))
      if ending.count == 1 || ending.hasPrefix("C-") {
        try terminal.press(ending)
      } else {
        _ = try Command.shell("kill -\(ending) $(cat '\(pid)')")
      }
    }
    try terminal.finish()
    let modes = try [before, after].map { try String(contentsOfFile: $0, encoding: .utf8) }
    #expect(modes[0] == modes[1] && !modes[0].isEmpty)
  }

  /// A process that is stopped gives the terminal back, and takes it again in the foreground.
  @Test func stopAndResume() throws {
    let terminal = try Terminal("PS1='$ ' ENV= sh -i", columns: 80, rows: 24)
    let device = try terminal.device
    func isRaw() throws -> Bool {
      try Command.shell("stty -a -F \(device)").output.contains("-icanon")
    }
    try terminal.wait { $0.last == "$" }
    try terminal.press(
      "beaconscan range --follow --speed 10x --replay captures/lobby.btsnoop", "Enter")
    try terminal.wait { $0.contains { $0.hasPrefix("UUID") } }
    #expect(try eventually { try isRaw() })
    try terminal.press("C-z")
    try terminal.wait { $0.last == "$" }
    #expect(try !isRaw())
    try terminal.press("fg", "Enter")
    #expect(try eventually { try isRaw() })
    try terminal.wait { $0.last?.hasSuffix("more") == true }
    try terminal.press("q")
    try terminal.wait { $0.last == "$" }
    #expect(try !isRaw())
  }

  /// People read local times, with their date and offset; programs read UTC.
  @Test func localTime() throws {
    let scan = "beaconscan scan --replay captures/visitor.btsnoop --count 1"
    func last(_ command: String) throws -> String {
      try Command.shell(command).lines.last.map(String.init) ?? ""
    }
    let times = [
      ("TZ=UTC", "2026-01-15 09:00:00.400021+00:00  E2"),
      ("TZ=Europe/Berlin", "2026-01-15 10:00:00.400021+01:00  E2"),
      ("TZ=America/St_Johns", "2026-01-15 05:30:00.400021-03:30  E2"),
      ("TZ=XYZ-14", "2026-01-15 23:00:00.400021+14:00  E2"),
      ("TZ=XYZ12", "2026-01-14 21:00:00.400021-12:00  E2"),
    ]
    for (zone, time) in times {
      #expect(try last("\(zone) \(scan)").hasPrefix(time), "\(zone)")
      #expect(try last("\(zone) \(scan) --utc").hasPrefix("2026-01-15 09:00:00.400021Z  E2"))
      for format in ["json", "csv"] {
        #expect(
          try last("\(zone) \(scan) --format \(format)").contains("2026-01-15T09:00:00.400021Z"))
      }
    }
    let monitor =
      "beaconscan monitor --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 "
      + "--replay captures/visitor.btsnoop"
    #expect(
      try last("TZ=Asia/Kolkata \(monitor)").hasPrefix("2026-01-15 14:30:00.400+05:30  ENTER"))
    let range = try last("TZ=Asia/Kolkata beaconscan range --replay captures/visitor.btsnoop")
    #expect(range.contains("2026-01-15 14:30:00.428+05:30") && range.hasSuffix("far 14:30:02"))
    let inspect = try last("TZ=Asia/Kolkata beaconscan inspect captures/edge.btsnoop")
    #expect(inspect.contains("2026-03-03 08:32:24.934+05:30"))
  }
}
