import Foundation
import TestSupport
import Testing

/// `beaconscan inspect`.
@Suite(.blocking) struct InspectCommandTests {
  @Test func json() throws {
    let run = try Command.run("inspect", Command.capture("hostile.pcapng"), "--format", "json")
    #expect(run.status == 0 && run.error.isEmpty)
    let objects = try run.json()
    let types = objects.compactMap { $0["type"] as? String }
    #expect(
      types == ["capture"] + [String](repeating: "beacon", count: 11)
        + ["identity", "identity", "summary"])
    #expect(
      objects[0]["format"] as? String == "pcapng, link type 201 (Bluetooth HCI H4 with direction)")
    let summary = try #require(objects.last)
    #expect(summary["packets"] as? Int == 1521)
    #expect(summary["sightings"] as? Int == 617)
    #expect(summary["beacons"] as? Int == 11 && summary["evictions"] as? Int == 0)
    let refused = try #require(summary["refused"] as? [String: Int])
    #expect(
      refused == [
        "badCRC": 0, "truncatedPacket": 28, "malformedPacket": 58, "incompleteReport": 29,
        "malformedADStructure": 56, "malformedIBeacon": 117, "unsupportedPacket": 0,
      ])
    let beacons = objects.filter { $0["type"] as? String == "beacon" }
    #expect(beacons.compactMap { $0["sightings"] as? Int }.reduce(0, +) == 617)
    // The decoys' UUID is not among them.
    #expect(!run.output.contains("DEC0DEC0"))
  }

  /// Six badly provisioned beacons share an identity: each is named, and no interval is made up.
  @Test func sixSendersOfOneIdentity() throws {
    let scratch = try Scratch()
    let scenario = try scratch.file(
      "six.json",
      """
      { "name": "six", "seed": 27, "start": "2026-04-01T12:00:00Z", "duration": 120,
        "environment": { "noise": 3, "noiseCorrelation": 0.2, "hearing": -98, "loss": 0.3 },
        "beacons": [ { "id": "true", "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "major": 1, "minor": 7,
          "interval": 1000, "track": [[0, 3], [120, 3]] } ],
        "clutter": [ { "kind": "spoofed", "rate": 1, "count": 5, "rssi": [-85, -65] } ] }
      """)
    let recording = scratch.path("six.btsnoop").path
    #expect(try Command.run("simulate", scenario.path, "--output", recording).status == 0)
    let run = try Command.run("inspect", recording, "--format", "json")
    let objects = try run.json()
    let beacon = try #require(objects.first { $0["type"] as? String == "beacon" })
    #expect(beacon["interval"] is NSNull && beacon["loss"] is NSNull)
    let identity = try #require(objects.first { $0["type"] as? String == "identity" })
    #expect((identity["senders"] as? [Any])?.count == 6)
    let monitor = try Command.run("monitor", recording, "--region", "a=\(MonitorRun.visitor)")
    #expect(monitor.error.contains("is sent by 6 senders at once"), "\(monitor.error)")
    #expect(monitor.output.contains("ENTER") && !monitor.output.contains("EXIT"))
  }

  /// Signal strength, interval and loss, against what the scenario was told.
  @Test func statistics() throws {
    let run = try Command.run("inspect", Command.capture("edge.btsnoop"), "--format", "json")
    let beacons = try run.json().filter { $0["type"] as? String == "beacon" }
    #expect(beacons.count == 5)
    // 10 Hz with 80 % lost, 1 Hz with 60 %.
    for (minor, major, interval, loss) in [(1, 1, 0.1, 0.8), (2, 1, 1, 0.6)] {
      let beacon = try #require(
        beacons.first { $0["minor"] as? Int == minor && $0["major"] as? Int == major })
      let learnt = try #require(beacon["interval"] as? Double)
      let lost = try #require(beacon["loss"] as? Double)
      #expect((learnt / interval - 1).magnitude < 0.1, "\(learnt)")
      #expect((lost - loss).magnitude < 0.06, "\(lost)")
      let mean = try #require(beacon["rssiMean"] as? Double)
      let least = try #require(beacon["rssiMin"] as? Int)
      let most = try #require(beacon["rssiMax"] as? Int)
      #expect(Double(least) <= mean && mean <= Double(most))
    }
  }

  @Test func csvAndTable() throws {
    let csv = try Command.run("inspect", Command.capture("lobby.btsnoop"), "--format", "csv")
    #expect(csv.status == 0 && csv.lines.count == 41)
    let columns = csv.lines.map { $0.split(separator: ",", omittingEmptySubsequences: false).count }
    #expect(Set(columns) == [18])
    let table = try Command.run("inspect", Command.capture("lobby.btsnoop"))
    #expect(table.status == 0)
    #expect(table.output.contains("2895 reports, 1636 sightings of 40 beacons"))
    #expect(table.lines.count == 43)
  }

  /// The senders of an identity that several use are listed.
  @Test func senders() throws {
    let run = try Command.run("inspect", Command.capture("hostile.pcapng"), "--format", "json")
    let shared = try #require(
      run.json().first { ($0["type"] as? String == "beacon") && ($0["major"] as? Int == 6) })
    let senders = try #require(shared["senders"] as? [[String: Any]])
    #expect(senders.map { $0["address"] as? String } == ["C0:BE:AC:00:00:01", "EF:69:63:6B:8F:59"])
    #expect(senders.compactMap { $0["sightings"] as? Int } == [142, 57])
    #expect(
      senders.compactMap { $0["sightings"] as? Int }.reduce(0, +) == shared["sightings"] as? Int)
    #expect(shared["intervalSamples"] as? Int == 0 && shared["interval"] is NSNull)
  }

  /// What comes from few packets is marked.
  @Test func fewGaps() throws {
    let scratch = try Scratch()
    let file = try scratch.file(
      "few", Recording.pcapng(times: [5_000_000_000, 6_000_000_000, 8_000_000_000]))
    let table = try Command.run("inspect", file.path)
    #expect(table.output.contains("~1.00 s") && table.output.contains("~ from fewer than 10 gaps"))
    let json = try Command.run("inspect", file.path, "--format", "json").json()
    let beacon = try #require(json.first { $0["type"] as? String == "beacon" })
    #expect(beacon["intervalSamples"] as? Int == 2 && beacon["interval"] as? Double == 1)
    let many = try Command.run("inspect", Command.capture("visitor.btsnoop"))
    #expect(!many.output.contains("~"))
  }

  /// A recording without iBeacons leads to what it has.
  @Test(arguments: [
    ["inspect"], ["scan"], ["range"], ["monitor", "--uuid", MonitorRun.visitor],
  ])
  func withoutBeacons(command: [String]) throws {
    let scratch = try Scratch()
    let file = try scratch.file(
      "none", Recording.pcapng(times: [5_000_000_000, 6_000_000_000], company: 6))
    let run = try Command.run(command + [file.path])
    #expect(run.status == 0)
    #expect(
      run.error
        == "beaconscan: no iBeacon, but 2 other adverts: 2 of Microsoft; list their senders "
        + "with beaconscan scan --all\n")
    #expect(try Command.run(command + ["--quiet", file.path]).error.isEmpty)
    #expect(try !Command.run("scan", "--all", file.path).error.contains("no iBeacon"))
  }

  @Test func severalFiles() throws {
    let run = try Command.run(
      "inspect", Command.capture("lobby.btsnoop"), Command.capture("visitor.btsnoop"), "--replay",
      Command.capture("edge.btsnoop"), "--format", "json")
    let objects = try run.json()
    #expect(objects.filter { $0["type"] as? String == "capture" }.count == 3)
    #expect(objects.last?["sightings"] as? Int == 1636 + 1113 + 815)
  }

  @Test func repeats() throws {
    for format in ["json", "csv", "table"] {
      let runs = try (0..<2).map { _ in
        try Command.run("inspect", Command.capture("lobby.btsnoop"), "--format", format)
      }
      let isSame = runs[0].output == runs[1].output && !runs[0].output.isEmpty
      #expect(isSame)
    }
  }

  /// A clock that was set is said, not hidden.
  @Test func clockSteps() throws {
    let scratch = try Scratch()
    let file = try scratch.file(
      "steps", Recording.pcapng(times: [5_000_000_000_000, 6_000_000_000, 7_000_000_000]))
    let table = try Command.run("inspect", file.path)
    #expect(table.output.contains("the recording's clock was set back once"))
    let json = try Command.run("inspect", file.path, "--format", "json").json()
    #expect(json[0]["clockStepsBack"] as? Int == 1)
  }
}
