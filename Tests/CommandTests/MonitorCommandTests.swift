import Foundation
import TestSupport
import Testing

/// `beaconscan monitor`: what it writes, and its options.
@Suite(.blocking) struct MonitorCommandTests {
  private static let kiosk = "kiosk=\(MonitorRun.visitor):1:100"
  private static let replay = ["--replay", Command.capture("visitor.btsnoop")]

  private func monitor(_ arguments: String...) throws -> MonitorRun {
    try MonitorRun(arguments + Self.replay)
  }

  @Test func json() throws {
    let told = try monitor("--region", Self.kiosk, "--region", "nobody=\(MonitorRun.visitor):9")
    #expect(told.run.status == 0 && told.run.error.isEmpty)
    let objects = try told.run.json()
    try #require(
      objects.map { $0["type"] as? String } == [
        "state", "state", "enter", "state", "exit", "approach", "summary",
      ])
    let keys: Set = [
      "type", "time", "region", "state", "uuid", "major", "minor", "distance", "rssi", "beacons",
      "reason",
    ]
    #expect(objects.prefix(4).allSatisfy { Set($0.keys) == keys })
    #expect(Set(objects[4].keys) == keys.union(["dwell"]))
    #expect(
      objects.prefix(5).map { $0["state"] as? String }
        == ["outside", "outside", "inside", "outside", "outside"])
    // Who it is, and where, without a look into the reason.
    for object in [objects[2], objects[4]] {
      #expect(object["uuid"] as? String == MonitorRun.visitor)
      #expect(object["major"] as? Int == 1 && object["minor"] as? Int == 100)
    }
    #expect(objects[2]["rssi"] as? Int == -86 && objects[2]["distance"] as? Double == 22.387)
    #expect(objects[4]["rssi"] as? Int == -79 && objects[4]["distance"] as? Double == 10)
    #expect(objects[3]["uuid"] is NSNull && objects[3]["distance"] is NSNull)
    #expect(objects.prefix(5).map { $0["beacons"] as? Int } == [0, 0, 1, 0, 0])
    #expect(told.starts.map(\.region) == ["kiosk", "nobody"])
    #expect(told.starts.allSatisfy { $0.time == 9 * 3600 && $0.type == "state" })
    for event in told.events {
      #expect(
        Set(event.reason.keys) == [
          "rule", "lastSighting", "samples", "exitTimeout", "interval", "loss",
        ])
    }
    let last = try #require(told.events[2].reason["lastSighting"] as? [String: Any])
    #expect(Set(last.keys) == ["time", "uuid", "major", "minor", "rssi"])
    #expect(told.events[0].reason["interval"] is NSNull)
    #expect(told.events[1].reason["lastSighting"] is NSNull)
    #expect(told.events[2].reason["interval"] as? Double == 0.1)
    #expect(objects[6]["sightings"] as? Int == 1113 && objects[6]["beacons"] as? Int == 1)
  }

  /// A region that was not entered states the rule that failed, and by how much.
  @Test func whyNot() throws {
    let reasons = [
      (["--enter-distance", "0.05"], "nearest 0.08 m; within 0.05 m is needed"),
      (
        ["--enter-distance", "0.2"],
        "nearest 0.08 m, but not long enough within 0.2 m: 29 % of the evidence"
      ),
      (["--enter-rssi", "-30"], "strongest -37 dBm; above -30 dBm is needed"),
      (["--dwell", "2m"], "received for at most 76.3 s; 120 s are needed"),
      (
        ["--boundary", "-67", "--dwell", "60s"],
        "near enough for at most 54.1 s; 60 s are needed"
      ),
    ]
    for (options, message) in reasons {
      let arguments = ["--region", Self.kiosk] + options + Self.replay
      let table = try Command.run(["monitor"] + arguments)
      #expect(table.status == 0 && table.error.isEmpty)
      #expect(
        table.lines.last == "kiosk was not entered: \(message) (1:100, 729 sightings)",
        "\(options)")
      let objects = try Command.run(["monitor", "--format", "json"] + arguments).json()
      let approach = try #require(objects.dropLast().last)
      #expect(approach["type"] as? String == "approach")
      #expect(approach["message"] as? String == message)
      #expect(approach["sightings"] as? Int == 729 && approach["minor"] as? Int == 100)
    }
    let state = try monitor("--region", Self.kiosk, "--enter-distance", "0.05").events[0]
    let part = try #require(state.reason["approach"] as? [String: Any])
    #expect(part["rule"] as? String == "distance" && part["distance"] as? Double == 0.794)
    #expect((part["needed"] as? [String: Any])?["distance"] as? Double == 0.05)
    let csv = try Command.run(
      ["monitor", "--region", Self.kiosk, "--enter-rssi", "-30", "--format", "csv"] + Self.replay)
    #expect(csv.lines.count == 3 && !csv.output.contains("needed"))
  }

  @Test func explain() throws {
    let visitor = MonitorRun.visitor
    let arguments =
      [
        "--explain", "--region", Self.kiosk, "--region", "nobody=\(visitor):9",
        "--region", "near=\(visitor):1:100,enter-distance=0.1,dwell=9",
      ] + Self.replay
    let table = try Command.run(["monitor"] + arguments)
    let rules = table.lines.drop { !$0.hasPrefix("REGION") }
    #expect(
      rules.map { $0.split(separator: " ").joined(separator: " ") } == [
        "REGION STATE RULE NEEDED NEAREST LATEST BEACON SIGHTINGS",
        "kiosk outside sighting 1 – – – 0", "nobody outside sighting 1 – – – 0",
        "near outside distance < 0.1 m 0.08 m (2 %) 10.00 m 1:100 729", "dwell 9 s 0.0 s 0.0 s",
      ])
    #expect(!table.output.contains("was not entered"))
    let objects = try Command.run(["monitor", "--format", "json"] + arguments).json()
      .filter { $0["type"] as? String == "approach" }
    #expect(objects.map { $0["rule"] as? String } == ["sighting", "sighting", "distance"])
    // A region that is inside at the end shows what it would leave by.
    let inside = try Command.run(
      ["monitor", "--duration", "30", "--boundary", "-80"] + arguments)
    let row = try #require(inside.lines.first { $0.hasPrefix("kiosk") && $0.contains("inside") })
    #expect(row.contains("signal") && row.contains("< -80 dBm") && row.contains("1:100"))
    #expect(inside.output.contains("exitTimeout"))
  }

  @Test func csv() throws {
    let run = try Command.run(
      "monitor", "--region", Self.kiosk, "--format", "csv", "--replay", Self.replay[1])
    let rows = run.lines.map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    try #require(run.status == 0 && rows.count == 4 && Set(rows.map(\.count)) == [17])
    #expect(rows.map { $0[1] } == ["type", "state", "enter", "exit"])
    #expect(rows[3][4] == "78.272")
    #expect(
      rows[0].joined(separator: ",") == """
        time,type,region,state,dwell,rule,lastSighting,uuid,major,minor,rssi,samples,exitTimeout,interval,\
        loss,distance,beacons
        """)
  }

  @Test func table() throws {
    let run = try Command.run("monitor", "--region", Self.kiosk, "--replay", Self.replay[1])
    try #require(run.status == 0 && run.error.isEmpty && run.lines.count == 3)
    #expect(
      run.lines[1].contains("  ENTER  kiosk ") && run.lines[1].contains("received at -86 dBm"))
    #expect(run.lines[2].contains("  EXIT   kiosk ") && run.lines[2].contains(" 78.3 s "))
    #expect(
      run.lines[2].hasSuffix(
        "not received for its exit timeout of 2.0 s; sent every 0.10 s, 4 % lost"))
    #expect(!run.output.contains("\u{1B}"))
    let quiet = try Command.run(
      "monitor", "--region", Self.kiosk, "--replay", Command.capture("edge.btsnoop"), "--duration",
      "20")
    #expect(quiet.output == "kiosk was not entered: none of its beacons was received\n")
  }

  /// On a terminal, a paced replay is a table that is drawn over.
  @Test func terminal() throws {
    let run = try Command.shell(
      """
      script -qec "stty rows 24 cols 120; env -u NO_COLOR beaconscan monitor --region \(Self.kiosk) \
        --replay \(Self.replay[1]) --speed 50x --utc" /dev/null
      """)
    #expect(run.status == 0)
    let frames = run.output.components(separatedBy: "\u{1B}[J")
    #expect(frames.count > 90)
    #expect(
      frames.contains { $0.contains("kiosk   inside  2026-01-15 09:00:05Z        1  1:100 ") })
    let last = try #require(frames.dropLast().last)
    #expect(last.contains("kiosk   outside  2026-01-15 09:01:23Z        0  –"))
    #expect(last.contains("\u{1B}[32mENTER\u{1B}[0m  kiosk"))
    #expect(last.contains("\u{1B}[33mEXIT\u{1B}[0m   kiosk"))
    #expect(last.contains("\u{1B}[6A\r") || last.contains("\u{1B}[5A\r"))
  }

  @Test func repeats() throws {
    for format in ["json", "csv", "table"] {
      let line =
        "beaconscan monitor --format \(format) --uuid \(MonitorRun.edge) --region "
        + "slow=\(MonitorRun.edge):1:3 --replay captures/edge.btsnoop"
      let runs = try (0..<2).map { _ in try Command.shell(line) }
      #expect(runs[0].output == runs[1].output && runs[0].lines.count >= 3)
    }
  }

  @Test func countAndDuration() throws {
    let told = try monitor(
      "--region", Self.kiosk, "--region", "all=\(MonitorRun.visitor)",
      "--count", "2")
    #expect(told.events.map(\.region) == ["all", "kiosk"])
    #expect(told.run.lines.count == 5)
    let short = try monitor("--region", Self.kiosk, "--duration", "30")
    #expect(short.events.map(\.type) == ["enter"])
  }

  /// The truth has the visitor at 2 m until 09:00:35, nearer than 1 m from 35.9 s to 53.0 s, and beyond
  /// 3 m again from 69.4 s.
  @Test func distanceGate() throws {
    let told = try monitor(
      "--region", Self.kiosk, "--enter-distance", "1", "--exit-distance", "3")
    try #require(told.crossings.map(\.type) == ["enter", "exit"])
    #expect(told.crossings.map(\.rule) == ["distance", "distance"])
    let times = told.crossings.map { $0.time - 9 * 3600 }
    #expect((35.5...38).contains(times[0]) && (68...72).contains(times[1]), "\(times)")
    // Calibrated to hear 12 dB more, everything is four times as far: it never comes near.
    let far = try monitor(
      "--region", Self.kiosk, "--enter-distance", "1", "--adapter-offset=12", "--environment", "2")
    #expect(far.crossings.isEmpty || far.crossings[0].time > told.crossings[0].time)
  }

  @Test func otherRules() throws {
    let signal = try monitor("--region", Self.kiosk, "--enter-rssi=-60")
    #expect(signal.crossings.map(\.rule) == ["signal", "signal"])
    let count = try monitor("--region", Self.kiosk, "--enter-count", "8/10")
    #expect(count.crossings.map(\.rule) == ["count", "exitTimeout"])
    let dwell = try monitor("--region", Self.kiosk, "--dwell", "10", "--exit-after", "7.5")
    try #require(dwell.crossings.map(\.rule) == ["dwell", "exitTimeout"])
    #expect(dwell.crossings[1].exitTimeout == 7.5)
    #expect((15...15.5).contains(dwell.crossings[0].time - 9 * 3600))
    // One level is a boundary in both directions.
    let pairs = [
      (["--enter-rssi=-60"], ["--exit-rssi=-60"], ["--boundary", "-60"]),
      (["--enter-distance=1.5"], ["--exit-distance=1.5"], ["--boundary", "1.5m"]),
    ]
    for (one, other, boundary) in pairs {
      let runs = try [one, other, one + other, boundary].map { options in
        try MonitorRun(["--region", Self.kiosk] + options + Self.replay).run.output
      }
      #expect(Set(runs).count == 1)
    }
  }

  @Test(arguments: [
    ([], "No region is named; name one, for example with --region lobby="),
    (["--exit-after", "soon"], "exit-after"),
    (["--exit-after", "0"], "--exit-after: '0' cannot be used"),
    (["--enter-count", "5/3"], "--enter-count: '5/3' cannot be used"),
    (["--enter-count", "3"], "enter-count"),
    (["--boundary", "3"], "--boundary"), (["--boundary", "-67", "--exit-rssi=-70"], "--boundary"),
    (["--dwell", "-1"], "dwell"), (["--enter-rssi=-70", "--exit-rssi=-60"], "weaker signal"),
    (["--enter-distance=3", "--exit-distance=1"], "greater distance"),
    (["--enter-distance=-3"], "--enter-distance: '-3' cannot be used"),
    (["--environment", "99"], "--environment"),
    (
      ["--enter-distance", "1", "--enter-distance=5"],
      "--enter-distance is given twice; give it once"
    ),
    (["--region", "x=\(MonitorRun.visitor),dwell=1,dwell=2"], "region 'x': dwell is given twice"),
    (["--region", "x=\(MonitorRun.visitor),exit-rss=1"], "region 'x': "),
    (["--region", "x=\(MonitorRun.visitor),exit-after=soon"], "region 'x': "),
    (
      ["--region", "x=\(MonitorRun.visitor),exit-distance=0"],
      "region 'x': --exit-distance: '0' cannot be used"
    ),
    (["--exec", "no-such-command now"], "--exec: there is no command 'no-such-command'; "),
    (["--exec", "./no-such-file"], "there is no command './no-such-file'"),
    (["--count", "0"], "--count"), (["--exec", ""], "--exec"), (["--state-file", ""], "--state"),
  ])
  func usage(arguments: [String], words: String) throws {
    let region = arguments.isEmpty ? [] : ["--region", Self.kiosk]
    let line = (region + arguments + Self.replay).map { "'\($0)'" }.joined(separator: " ")
    let run = try Command.shell("beaconscan monitor \(line)")
    #expect(run.status == 64 && run.output.isEmpty)
    #expect(run.error.contains(words), "\(run.error)")
  }

  @Test func cutFile() throws {
    let scratch = try Scratch()
    let cut = try scratch.file("cut", try Recording.head(20_000))
    let told = try MonitorRun(["--region", Self.kiosk, "--replay", cut.path])
    #expect(told.run.status == 65 && told.run.error.contains("cut short"))
    #expect(told.events.map(\.type) == ["enter"])
    #expect(try told.run.json().last?["type"] as? String == "summary")
  }
}
