import Foundation
import TestDaemons
import TestSupport
import Testing

/// `beaconscan locate`, circles in `monitor`, and tracks in `inspect`.
@Suite(.blocking) struct LocateCommandTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  /// A place so many meters north of a place in Berlin, as GPX has it.
  private static func latitude(_ meters: Double) -> Double { 52.51 + meters / 111_262 }

  private static func time(_ second: Int) -> String {
    let clock = 9 * 3600 + second
    func pair(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
    return "2026-01-15T\(pair(clock / 3600)):\(pair(clock / 60 % 60)):\(pair(clock % 60))Z"
  }

  /// A track of GPX through places that are given in meters north of the first, a second apart.
  private static func gpx(_ places: [Double]) -> String {
    let points = places.enumerated().map { second, meters in
      #"<trkpt lat="\#(latitude(meters))" lon="13.4"><time>\#(time(second))</time>"#
        + "<hdop>1</hdop></trkpt>"
    }
    return #"<gpx version="1.1"><trk><trkseg>"# + points.joined() + "</trkseg></trk></gpx>"
  }

  /// A walk at 2 m/s.
  private func walk(_ name: String = "walk.gpx", meters: Int = 1200) throws -> String {
    try scratch.file(name, Self.gpx((0...meters / 2).map { Double($0) * 2 })).path
  }

  /// An NMEA sentence with its checksum.
  private static func sentence(_ body: String) -> String {
    let sum = body.utf8.reduce(UInt8(0), ^)
    return "$\(body)*" + (sum < 16 ? "0" : "") + String(sum, radix: 16).uppercased() + "\r\n"
  }

  /// A place in words of NMEA at a second of the day, with a course.
  private static func rmc(_ second: Int) -> String {
    sentence(
      "GPRMC,0900\(second < 10 ? "0" : "")\(second),A,5230.0000,N,01324.0000,E,002.0,090.0,150126,,"
    )
  }

  // MARK: locate

  @Test func aTrackAsJSON() throws {
    let run = try Command.run("locate", try walk(), "--json")
    #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
    let lines = try run.json()
    #expect(lines.count == 602)
    let fix = lines[100]
    #expect(
      Set(fix.keys) == [
        "type", "time", "latitude", "longitude", "accuracy", "altitude", "ellipsoidalAltitude",
        "verticalAccuracy", "speed", "speedAccuracy", "course", "courseAccuracy",
      ])
    #expect(
      fix["type"] as? String == "fix" && fix["time"] as? String == "2026-01-15T09:01:40.000000Z")
    #expect(abs(try #require(fix["latitude"] as? Double) - Self.latitude(200)) < 1e-6)
    #expect(
      fix["longitude"] as? Double == 13.4 && fix["altitude"] is NSNull && fix["speed"] is NSNull)
    let summary = try #require(lines.last)
    #expect(summary["type"] as? String == "trackSummary" && summary["fixes"] as? Int == 601)
  }

  @Test func fewerFixes() throws {
    let track = try walk()
    func times(_ options: String...) throws -> [Substring] {
      let run = try Command.run(["locate", track, "--format", "csv"] + options)
      #expect(run.status == 0 && run.lines[0].hasPrefix("time,type,latitude,longitude,accuracy,"))
      return run.lines.dropFirst().map { $0.prefix(19).suffix(8) }
    }
    #expect(try times("--distance", "301") == ["09:00:00", "09:02:31", "09:05:02", "09:07:33"])
    #expect(try times("--interval", "4m") == ["09:00:00", "09:04:00", "09:08:00"])
    #expect(try times("--count", "2") == ["09:00:00", "09:00:01"])
    #expect(try times("--duration", "3s").count == 3)
  }

  /// A table has whole columns, and standard input is a track as well.
  @Test func aTable() throws {
    let run = try Command.shell(
      "beaconscan locate --utc - < '\(try walk(meters: 20))'", in: scratch.folder)
    #expect(run.status == 0 && run.lines.count == 12)
    #expect(run.lines[0].hasPrefix("TIME ") && run.lines[0].contains("LATITUDE"))
    #expect(
      run.lines[1].hasPrefix("2026-01-15 09:00:00.000Z") && run.lines[1].contains("52.510000 °"))
  }

  /// What is damaged is counted, and everybody is told.
  @Test func discarded() throws {
    let bad = "$GPRMC,090003,A,5230.0000,N,01324.0000,E,002.0,090.0,150126,,*00\r\n"
    let text = Self.rmc(1) + Self.rmc(2) + bad + Self.rmc(4) + Self.rmc(5)
    let track = try scratch.file("track.nmea", text).path
    let run = try Command.run("locate", track, "--json")
    let summary = try #require(try run.json().last)
    #expect(summary["fixes"] as? Int == 4)
    #expect((summary["discarded"] as? [String: Int])?["badChecksum"] == 1)
    #expect(run.error.contains("discarded: 1 sentence with a wrong checksum"))
    let quiet = try Command.run("locate", track, "--quiet")
    #expect(quiet.status == 0 && quiet.error.isEmpty)
    let report = try #require(try Command.run("inspect", track, "--json").json().first)
    #expect(report["type"] as? String == "track" && report["format"] as? String == "NMEA 0183")
    #expect((report["discarded"] as? [String: Int])?["badChecksum"] == 1)
  }

  /// The status is that of a capture without a beacon.
  @Test(arguments: ["locate", "inspect"], ["table", "json", "csv"])
  func aTrackWithoutAFix(command: String, format: String) throws {
    let track = try scratch.file(
      "planned.gpx",
      #"<gpx><wpt lat="1" lon="2"/><trk><trkseg><trkpt lat="1" lon="2"/></trkseg></trk></gpx>"#
    ).path
    let run = try Command.run(command, track, "--format", format)
    #expect(run.status == 0)
    #expect(
      run.error
        == "beaconscan: \(track): no fix in 1 record; discarded: 1 point that was planned, not recorded, "
        + "1 fix without a date\n")
    let quiet = try Command.run(command, track, "--format", format, "--quiet")
    #expect(quiet.status == 0 && quiet.error.isEmpty, "\(quiet.error)")
  }

  @Test func aTrackWithoutHeadingsShowsTheRest() throws {
    let result = try Command.run("locate", "captures/visitor.gpx", "--heading", "--json")
    #expect(result.status == 0)
    #expect(
      result.error == "captures/visitor.gpx: no headings are recorded here\n")
    #expect(try result.json().count == 66)
  }

  @Test func headings() throws {
    let text = (1...9).map { Self.rmc($0) + Self.sentence("HCHDG,\(100 + 10 * $0).0,,,,") }
    let track = try scratch.file("track.nmea", text.joined()).path
    let lines = try Command.run("locate", track, "--heading", "--json").json()
    let headings = lines.filter { $0["type"] as? String == "heading" }
    #expect(headings.count == 9)
    let first = try #require(headings.first)
    #expect(first["magneticHeading"] as? Double == 110 && first["microteslas"] is NSNull)
    // Berlin, 2026: some 5 degrees east.
    #expect(abs(try #require(first["trueHeading"] as? Double) - 115) < 1)
  }

  /// Half an hour at one place is a visit.
  @Test func visits() throws {
    let walk = (0...500).map { Double($0) * 2 }
    let stay = (0..<1800).map { 1000 + Double($0 % 3) }
    let back = (0...500).map { 1000 - Double($0) * 2 }
    let track = try scratch.file("day.gpx", Self.gpx(walk + stay + back)).path
    let lines = try Command.run("locate", track, "--visits", "--distance", "1000", "--json").json()
    let visits = lines.filter { $0["type"] as? String == "visit" }
    #expect(visits.count == 2)
    let last = try #require(visits.last)
    #expect(visits.first?["departure"] is NSNull && last["departure"] is String)
    #expect(abs(try #require(last["latitude"] as? Double) - Self.latitude(1001)) < 2e-4)
    let arrival = Truth.seconds(try #require(last["arrival"] as? String))
    #expect(abs(arrival - 9 * 3600 - 500) < 120)
  }

  @Test func aFixedPosition() throws {
    let run = try Command.run(
      "locate", "--source", "fixed", "--position", "-33.8568,151.2153,4", "--format", "json")
    #expect(run.status == 0)
    let fix = try #require(try run.json().last)
    #expect(fix["latitude"] as? Double == -33.8568 && fix["altitude"] as? Double == 4)
    #expect(run.error == "beaconscan: the configured position is used, because of --source fixed\n")
  }

  /// Runs the command with a GeoClue whose agent answers "no", and returns how often the agent was asked as well.
  private func runRefused(_ arguments: String) throws -> (run: Run, questions: Int) {
    let daemons = try TestSupport.Scratch()
    let bus = try BusDaemon(in: daemons)
    // GeoClue knows the app by its process, which waits.
    let running = try Running(
      URL(filePath: "/bin/sh"),
      [
        "-c",
        "until [ -e go ]; do sleep 0.05; done; DBUS_SYSTEM_BUS_ADDRESS='\(bus.address)' "
          + "exec beaconscan \(arguments)",
      ], in: scratch.folder)
    let geoclue = try Daemon.geoclue(
      on: bus, in: daemons, app: .init("beaconscan", process: running.identifier))
    let agent = try GeoClueAgent(bus.address, refuses: true)
    _ = try scratch.file("go")
    let run = try running.finish()
    withExtendedLifetime(geoclue) {}
    return (run, agent.authorizations)
  }

  private static let refusal = "beaconscan: GeoClue does not give beaconscan the location ("

  /// A refusal ends it: GeoClue's sentence, and the status of a permission that is missing.
  @Test(.daemons, .enabled(if: Daemon.canMount), arguments: ["", "--follow", "--json --follow"])
  func refusedByGeoClue(options: String) throws {
    let (run, questions) = try runRefused("locate --source geoclue \(options)")
    #expect(run.status == 77, "\(run.error)")
    let lines = run.error.split(separator: "\n")
    #expect(lines.first == "beaconscan: GeoClue is used, because of --source geoclue")
    #expect(lines.count == 2 && lines.last?.hasPrefix(Self.refusal) == true, "\(run.error)")
    #expect(questions == 1)
  }

  /// What goes on after a refusal reports it once, and asks again after 10 s at the earliest.
  @Test(.daemons, .enabled(if: Daemon.canMount)) func aRefusalIsRepeatedSeldom() throws {
    let start = ContinuousClock.now
    let (run, questions) = try runRefused(
      "monitor --region a=52,13,200 --source geoclue --state-file state --duration 4s")
    #expect(run.error.components(separatedBy: Self.refusal).count == 2, "\(run.error)")
    #expect(questions >= 1)
    #expect(questions <= 1 + Int((ContinuousClock.now - start) / .seconds(10)))
  }

  /// The bus permits the compass to GeoClue alone, as Debian's policy has it; or there is none.
  @Test(
    .daemons,
    arguments: [(true, 77, "copy beaconscan-compass.conf"), (false, 69, "has no compass")])
  func compassThatCannotBeUsed(isRefused: Bool, status: Int32, sentence: String) throws {
    let rules = #"<deny send_destination="net.hadess.SensorProxy" send_type="method_call"/>"#
    let daemons = try TestSupport.Scratch()
    let bus = try BusDaemon(in: daemons, rules: isRefused ? rules : "")
    let machine = try CompassMachine(bus.address)
    try machine.run("start")
    if !isRefused { try machine.run("remove") }
    func locate() throws -> Run {
      try Command.shell(
        "DBUS_SYSTEM_BUS_ADDRESS='\(bus.address)' "
          + "beaconscan locate --source fixed --position 52,13 --heading", in: scratch.folder)
    }
    // On a busy machine the daemon answers late.
    var run = try locate()
    while run.error.contains("does not answer") { run = try locate() }
    #expect(run.status == status && run.output.isEmpty)
    #expect(run.error.contains(sentence), "\(run.error)")
    #expect(run.error.split(separator: "\n").count == 1)
  }

  /// The receiver works as often as fixes are shown: with minutes between them gpsd's connection ends after each.
  @Test func anIntervalIsTheReceiversToo() throws {
    let path = scratch.path("gpsd").path
    let server = try FakeServer(at: path)
    let running = try Running(
      Command.folder.appending(path: "beaconscan"),
      ["locate", "--source", "gpsd", "--gpsd", path, "--interval", "10m", "--follow", "--json"])
    var request: String?
    #expect(
      eventually {
        // A connection that only asks whether there is a gpsd ends without a request.
        if server.acceptIfAny() { request = nil }
        if request == nil { request = server.receive() }
        return request?.contains("WATCH") == true
      })
    server.send(
      #"{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}"# + "\n"
        + #"{"class":"DEVICES","devices":[{"path":"/dev/gps","activated":1}]}"# + "\n"
        + #"{"class":"TPV","device":"/dev/gps","mode":2,"lat":52.5,"lon":13.4}"# + "\n")
    #expect(eventually { server.receive() == "" })
    try running.wait { running.output.contains(#""latitude":52.5"#) }
    running.interrupt()
    #expect(try running.finish().status == 0)
  }

  /// Headings need iio-sensor-proxy; without it there is one sentence that says what is missing.
  @Test func noCompass() throws {
    let run = try Command.shell(
      "DBUS_SYSTEM_BUS_ADDRESS=unix:path=none "
        + "beaconscan locate --source fixed --position 52,13 --heading", in: scratch.folder)
    #expect(run.status == 69 && run.output.isEmpty)
    #expect(run.error.contains("the system's bus does not answer"), "\(run.error)")
    #expect(run.error.split(separator: "\n").count == 1)
  }

  /// A number that no receiver can mean is printed or left out, in each format.
  @Test(arguments: ["table", "json", "csv"])
  func largeNumbers(format: String) throws {
    let log = try scratch.file(
      "large.json",
      #"{"class":"TPV","mode":3,"time":"2026-01-01T00:00:00Z","lat":1,"lon":2,"altMSL":1.5e300,"#
        + #""speed":1e300}"# + "\n")
    let run = try Command.run("locate", log.path, "--format", format)
    #expect(run.status == 0, "\(run.error)")
  }

  /// The doctor names each daemon of locations and the source that is chosen, and its status is that of scanning.
  @Test func doctor() throws {
    let run = try Command.shell(
      "DBUS_SYSTEM_BUS_ADDRESS=unix:path=none "
        + "beaconscan doctor --gpsd \(scratch.path("none").path) --position 52.5,13.25 --format json",
      in: scratch.folder)
    let findings = try run.json().dropLast().suffix(5)
    let subjects = ["gpsd", "geoclue", "compass", "position", "location"]
    #expect(findings.map { $0["id"] as? String } == subjects)
    #expect(findings.map { $0["level"] as? String } == Array(repeating: "info", count: 5))
    #expect(findings.last?["command"] is NSNull)
    // The bus has a line of its own, with its command.
    #expect(findings.dropFirst().prefix(2).allSatisfy { $0["command"] is NSNull })
    let choice = findings.last?["message"] as? String ?? ""
    #expect(choice.hasPrefix("locations: the configured position is used, because"), "\(choice)")
  }

  /// Without a source there is one sentence that says what to do.
  @Test func noSource() throws {
    let run = try Command.run("locate", "--source", "gpsd", "--gpsd", scratch.path("none").path)
    #expect(run.status == 69 && run.output.isEmpty)
    #expect(run.error.contains("start it:") && run.error.split(separator: "\n").count == 1)
  }

  @Test(arguments: [
    ("locate none.gpx", 66, "no such file"),
    ("locate \(Command.capture("visitor.btsnoop"))", 65, "which has no locations"),
    ("locate --position 95,13", 64, "write LATITUDE,LONGITUDE"),
    ("locate --position 52,13,1.5e300", 64, "from -11000 to 100000 m"),
    ("locate --source fixed", 64, "needs a --position"),
    ("locate --source gpsd --position 1,2", 64, "leave one of them out"),
    ("locate --speed 2x", 64, "belongs to a recording"),
    ("locate --gpsd here:0", 64, "HOST:PORT"),
    ("locate walk.gpx --source gpsd", 64, "is a recording"),
    ("locate walk.gpx --accuracy 0", 64, "more than 0"),
    ("monitor --region a=95,1,3", 64, "latitude from -90 to 90"),
    ("monitor --region a=5,1,0", 64, "more than 0 and at most"),
    ("range --region a=5,1,30", 64, "only monitor and serve"),
    ("monitor --region a=5,1,30 --replay \(Command.capture("visitor.btsnoop"))", 65, "not a track"),
    ("monitor --uuid \(MonitorRun.visitor) walk.gpx", 65, "no region is a circle"),
    ("monitor --uuid \(MonitorRun.visitor) --region a=5,1,30 walk.gpx", 65, "one of beacons"),
  ])
  func refused(line: String, status: Int, sentence: String) throws {
    _ = try walk()
    let run = try Command.shell("beaconscan " + line, in: scratch.folder)
    #expect(run.status == status, "\(run.error)")
    #expect(run.output.isEmpty && run.error.contains(sentence), "\(run.error)")
    #expect(run.error.split(separator: "\n").count == 1)
  }

  // MARK: monitor

  /// The circle is entered and left where the walk crosses its boundary, within the fixes' accuracy.
  @Test func aCircle() throws {
    let run = try MonitorRun(["--region", "fair=\(Self.latitude(600)),13.4,200", try walk()])
    #expect(run.run.status == 0 && run.run.error.isEmpty, "\(run.run.error)")
    #expect(run.starts.map(\.state) == ["outside"])
    #expect(run.crossings.map(\.type) == ["enter", "exit"])
    let start = 9.0 * 3600
    #expect(run.crossings.map { $0.time - start }.elementsEqual([200, 400]) { 0...40 ~= $0 - $1 })
    #expect(run.crossings[1].dwell == run.crossings[1].time - run.crossings[0].time)
    let line = try #require(try run.run.json().first { $0["type"] as? String == "enter" })
    #expect(line["radius"] as? Double == 200 && line["longitude"] as? Double == 13.4)
    #expect(try #require(line["distance"] as? Double) < 0)
    #expect(
      Set((line["reason"] as? [String: Any] ?? [:]).keys)
        == ["rule", "accuracy", "duration", "fixes"])
  }

  /// A command is run on a circle's events, and a row has what stands in its environment.
  @Test func execAndRows() throws {
    let region = "fair=\(Self.latitude(600)),13.4,200"
    let track = try walk()
    let run = try Command.shell(
      """
      beaconscan monitor --region \(region) \(track) --format csv --exec \
        'echo $BEACONSCAN_TYPE $BEACONSCAN_REGION $BEACONSCAN_RADIUS'
      """, in: scratch.folder)
    #expect(run.error == "state fair 200\nstate fair 200\nenter fair 200\nexit fair 200\n")
    #expect(run.lines[0].hasSuffix(",distance,beacons,latitude,longitude,radius,accuracy,fixes"))
    #expect(run.lines.count == 5 && run.lines[3].hasPrefix("2026-01-15T09:"))
    // Without a circle the columns are those of beacons.
    let beacons = try Command.run(
      "monitor", "--uuid", MonitorRun.visitor, "--format", "csv", Command.capture("visitor.btsnoop")
    )
    #expect(beacons.lines[0].hasSuffix(",distance,beacons"))
  }

  /// The state outlives the process: who is inside does not enter again.
  @Test func restart() throws {
    let region = "fair=\(Self.latitude(600)),13.4,200"
    let first = try scratch.file("a.gpx", Self.gpx((0...300).map { Double($0) * 2 })).path
    let second = try scratch.file("b.gpx", Self.gpx((0...300).map { 600 + Double($0) * 2 })).path
    let state = scratch.path("state").path
    let one = try MonitorRun(["--region", region, "--state-file", state, first])
    #expect(one.starts.map(\.state) == ["outside"] && one.crossings.map(\.type) == ["enter"])
    let two = try MonitorRun(["--region", region, "--state-file", state, second])
    #expect(two.starts.map(\.state) == ["inside"] && two.crossings.map(\.type) == ["exit"])
  }

  /// Beacons and circles of two recordings come in the order of time, each time the same, at every speed.
  @Test func merged() throws {
    let places = (0..<180).map { Double($0) * 15 - 150 }
    let track = try scratch.file("drive.gpx", Self.gpx(places)).path
    let options = [
      "--region", "all=\(MonitorRun.visitor),each",
      "--region", "first=\(Self.latitude(450)),13.4,200",
      "--region", "second=\(Self.latitude(900)),13.4,150",
    ]
    let capture = Command.capture("visitor.btsnoop")
    let run = try MonitorRun(options + [capture, track])
    #expect(run.run.status == 0)
    let times = run.events.map(\.time)
    #expect(times == times.sorted())
    #expect(run.crossings.count { $0.region == "all" } == 4)
    #expect(run.crossings.count { $0.region == "first" } == 2)
    #expect(run.crossings.count { $0.region == "second" } == 2)
    // Each alone is as in the other's company.
    let alone = try MonitorRun(Array(options[..<2]) + [capture])
    #expect(alone.crossings.map(\.time) == run.crossings.filter { $0.region == "all" }.map(\.time))
    let circles = try MonitorRun(Array(options[2...]) + [track])
    #expect(
      circles.crossings.map(\.time) == run.crossings.filter { $0.region != "all" }.map(\.time))
    for _ in 0..<5 {
      #expect(try MonitorRun(options + [capture, track]).run.output == run.run.output)
    }
    let paced = try MonitorRun(options + [capture, track, "--speed", "200x"])
    #expect(paced.crossings.map(\.time) == run.crossings.map(\.time))
    // One of them ends early, or has nothing.
    let cut = try MonitorRun(options + [capture, track, "--count", "2"])
    #expect(cut.crossings.count == 2)
    let short = try scratch.file("short.gpx", Self.gpx([0, 1, 2])).path
    let early = try MonitorRun(options + [capture, short])
    #expect(early.crossings.map(\.time) == alone.crossings.map(\.time))
  }

  // MARK: inspect

  @Test func inspectsTracks() throws {
    let run = try Command.run("inspect", try walk(), "--json")
    let report = try #require(try run.json().first)
    #expect(report["format"] as? String == "GPX" && report["fixes"] as? Int == 601)
    #expect(report["from"] as? String == "2026-01-15T09:00:00.000000Z")
    #expect(report["to"] as? String == "2026-01-15T09:10:00.000000Z")
    #expect(abs(try #require(report["length"] as? Double) - 1200) < 2)
    let corner = try #require(report["northEast"] as? [String: Double])
    #expect(abs(try #require(corner["latitude"]) - Self.latitude(1200)) < 1e-6)
    // A capture beside it is shown too.
    let both = try Command.run(
      "inspect", try walk(), Command.capture("visitor.btsnoop"), "--format", "table")
    #expect(both.status == 0 && both.lines[0].contains("GPX, 601 records, 601 fixes"))
    #expect(both.output.contains("1113 sightings of 3 beacons"))
  }

  @Test func inspectsOverTheAntimeridian() throws {
    let points = [179.9, 179.95, -179.95, -179.9].enumerated().map { second, longitude in
      #"<trkpt lat="0" lon="\#(longitude)"><time>\#(Self.time(second * 600))</time></trkpt>"#
    }
    let text = #"<gpx version="1.1"><trk><trkseg>"# + points.joined() + "</trkseg></trk></gpx>"
    let track = try scratch.file("pacific.gpx", text).path
    let report = try #require(try Command.run("inspect", track, "--json").json().first)
    #expect((report["southWest"] as? [String: Double])?["longitude"] == 179.9)
    #expect((report["northEast"] as? [String: Double])?["longitude"] == -179.9)
    #expect(abs(try #require(report["length"] as? Double) - 22264) < 2)
  }

  @Test func aDamagedTrack() throws {
    let whole = Self.gpx((0..<50).map { Double($0) })
    let track = try scratch.file("cut.gpx", String(whole.prefix(3000))).path
    let run = try Command.run("inspect", track)
    #expect(run.status == 65 && run.error.contains("cut short") && run.lines[0].contains("fixes"))
    let locate = try Command.run("locate", track, "--format", "csv")
    #expect(locate.status == 65 && locate.lines.count > 10)
  }
}
