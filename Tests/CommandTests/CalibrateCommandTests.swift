import Advertising
import Foundation
import Ranging
import Scanning
import TestSupport
import Testing

@testable import beaconscan

/// `beaconscan calibrate`.
@Suite(.blocking) struct CalibrateCommandTests {
  private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
  private static let visitor = Command.capture("visitor.btsnoop")

  /// The visitor's stays of the scenario: at 2 m, at 0.3 m, and at 2 m again; n is 2, the power -59 dBm.
  private static let stays = [
    "--at", "0.3=\(visitor)@38-51", "--at", "2=\(visitor)@17-34", "--at", "2=\(visitor)@55-68",
  ]

  private static func calibrate(_ arguments: [String]) throws -> Run {
    try Command.run(["calibrate"] + arguments)
  }

  @Test func aRecordingsTruthIsFound() throws {
    let run = try Self.calibrate(Self.stays + ["--format", "json"])
    #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
    let record = try #require(try run.json().first)
    #expect(record["type"] as? String == "calibration" && record["minor"] as? Int == 100)
    func number(_ key: String) throws -> Double { try #require(record[key] as? Double) }
    #expect(try abs(number("measuredPower") + 59) <= number("measuredPowerError"))
    #expect(try abs(number("exponent") - 2) <= number("exponentError"))
    #expect(try abs(number("measuredPower") + 59) < 2 && abs(number("exponent") - 2) < 0.3)
    #expect(record["adapter"] == nil && record["boundary"] is NSNull)
    #expect((record["places"] as? [Any])?.count == 3)
  }

  /// What is saved is used, and the rest of the file stays.
  @Test func theResultIsSavedAndUsed() throws {
    let scratch = try Scratch()
    let file = scratch.path("new/folder/beaconscan.toml")
    let save = Self.stays + ["--save", "--config", file.path]
    let run = try Self.calibrate(save + ["--name", "visitor"])
    #expect(run.status == 0 && run.error == "beaconscan: saved in \(file.path)\n", "\(run.error)")
    #expect(run.output.contains("For this beacon:  --calibrate=\(Self.uuid):1:100@power="))
    let saved = try String(contentsOf: file, encoding: .utf8)
    #expect(
      saved.hasPrefix(
        "[beacon.visitor]\nuuid = \"\(Self.uuid)\"\nmajor = 1\nminor = 100\npower = -59"))
    for command in ["range", "monitor --minor 100 --uuid \(Self.uuid)"] {
      let used = try Command.shell(
        "beaconscan \(command) --replay captures/visitor.btsnoop --config '\(file.path)' --format json"
      )
      #expect(used.status == 0 && used.output.contains("\"name\":\"visitor\""), "\(used.error)")
      if command == "range" { #expect(used.output.contains("\"powerSource\":\"configured\"")) }
    }
    // Values are replaced where they stand.
    let power = try #require(saved.firstMatch(of: #/power = (\S+)\n/#)?.1)
    let old =
      "# mine\nformat = 'table' # so\n\n"
      + saved.replacing("power = \(power)", with: "power = -40 # old")
      + "\n[region.x] # last\nuuid = '\(Self.uuid)'"
    try Data(old.utf8).write(to: file)
    #expect(try Self.calibrate(save + ["--quiet"]).error.isEmpty)
    #expect(try String(contentsOf: file, encoding: .utf8) == old.replacing("-40", with: power))
    // A name is neither taken from another beacon nor changed.
    for (name, minor, words) in [
      ("other", 100, "has the name 'visitor' here"), ("visitor", 7, "another beacon"),
    ] {
      let text = "[beacon.visitor]\nuuid = '\(Self.uuid)'\nmajor = 1\nminor = \(minor)\n"
      try Data(text.utf8).write(to: file)
      let refused = try Self.calibrate(save + ["--name", name])
      #expect(refused.status == 65 && refused.error.contains(words), "\(refused.error)")
      #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }
  }

  @Test func aBoundaryIsSavedForItsRegion() throws {
    let scratch = try Scratch()
    let region = "[region.door]\nuuid = '\(Self.uuid)'\nmajor = 1\nminor = 100\n"
    let places = [
      "--at", "edge=\(Self.visitor)@17-34", "--at", "inside=\(Self.visitor)@38-51",
      "--at", "outside=\(Self.visitor)@5-9",
    ]
    let file = try scratch.file("site.toml", region)
    let save = places + ["--save", "--config", file.path, "--quiet", "--region"]
    let run = try Self.calibrate(save + ["door"])
    #expect(run.status == 0, "\(run.error)")
    #expect(
      try String(contentsOf: file, encoding: .utf8).wholeMatch(
        of: try Regex(NSRegularExpression.escapedPattern(for: region) + "boundary = -6[0-9.]+\n"))
        != nil)
    let all = try Self.calibrate(save + ["x=\(Self.uuid):1:100"])
    #expect(all.status == 0, "\(all.error)")
    #expect(try String(contentsOf: file, encoding: .utf8).hasPrefix("boundary = -6"))
    // Other limits stay the user's.
    let other = region + "enter-distance = 1\n"
    try Data(other.utf8).write(to: file)
    let refused = try Self.calibrate(save + ["door"])
    #expect(
      refused.status == 65 && refused.error.contains("--boundary is both"), "\(refused.error)")
    #expect(try String(contentsOf: file, encoding: .utf8) == other)
  }

  @Test func aBoundaryIsFound() throws {
    let region = ["--uuid", Self.uuid, "--major", "1", "--minor", "100"]
    let places = [
      "--at", "edge=\(Self.visitor)@17-34", "--at", "inside=\(Self.visitor)@38-51",
      "--at", "outside=\(Self.visitor)@0-16",
    ]
    // The visitor walks while it is outside.
    let moving = try Self.calibrate(region + places)
    #expect(moving.status == 65 && moving.error.contains("outside: the signal changed by"))
    let door = "outside=\(Self.visitor)@5-9"
    let run = try Self.calibrate(region + places.dropLast() + [door, "--format", "json"])
    #expect(run.status == 0, "\(run.error)")
    let boundary = try #require(try run.json().first?["boundary"] as? Double)
    #expect(abs(boundary + 65) < 1.5, "\(boundary)")
  }

  @Test(
    arguments: [
      (["--at", "x"], 64, "--at: '"), (["--at", "0"], 64, "--at: '"),
      (["--at", "1=\(visitor)@9-3"], 64, "--at: '"),
      (["--at", "1=\(visitor)", "--at", "2"], 64, "or none of them"),
      (["--at", "edge=\(visitor)", "--at", "inside=\(visitor)"], 64, "once each"),
      (["--at", "1=\(visitor)", "--adapter", "hci0"], 64, "for live scanning"),
      (["--at", "1=\(visitor)", "--name", "x"], 64, "add --save"),
      (["--replay", visitor], 64, "calibrate has no option '--replay'"),
      (["--at", "1=none.btsnoop"], 66, "no such file"),
      (["--at", "1=\(Command.capture("INDEX.md"))"], 65, "INDEX.md"),
      (["--at", "1=\(visitor)@0-1"], 65, "20 are needed"),
      (["--at", "1=\(visitor)@900-901"], 65, "after 99.9 s, and FROM is 900 s"),
      (["--at", "2=\(visitor)@17-34"], 65, "name one with --uuid"),
      (
        [
          "--at", "0.3=\(visitor)@17-34", "--at", "2=\(visitor)@38-51", "--uuid", uuid, "--major",
          "1",
          "--minor", "100",
        ], 65, "let expect"
      ),
    ] as [([String], Int32, String)])
  func wrongInput(arguments: [String], status: Int32, message: String) throws {
    let run = try Self.calibrate(Array(arguments))
    #expect(run.status == status && run.error.contains(message), "\(run.status) \(run.error)")
    #expect(run.output.isEmpty)
  }

  /// What cannot be written is an error, and the result is printed all the same.
  @Test func anUnwritableFileIsAnError() throws {
    let run = try Self.calibrate(Self.stays + ["--save", "--config", "/proc/none/site.toml"])
    #expect(run.status == 73 && run.output.contains("For this beacon"))
  }

  // MARK: The dialog

  private static let beacon = BeaconIdentity(
    uuid: ProximityUUID(high: 1, low: 2), major: 1, minor: 7)

  /// Sightings of a second, ten of each adapter.
  private static func sightings(
    second: Int, rssi: Int8, beacon: BeaconIdentity = beacon, adapters: [UInt16] = [0]
  ) -> [Sighting] {
    (0..<10).flatMap { index in
      adapters.map { adapter in
        Sighting(
          time: MonotonicTime(nanoseconds: Int64(second * 10 + index) * 100_000_000),
          wallTime: WallClockTime(nanoseconds: 0), beacon: beacon, measuredPower: -59,
          rssi: rssi + Int8(index % 2) - Int8(4 * adapter), address: BluetoothAddress(rawValue: 1),
          addressType: .public, adapter: adapter)
      }
    }
  }

  @Test func theDialogGoesFromPlaceToPlace() throws {
    var guide = CalibrationGuide([.distance(1), .distance(4)], regions: [])
    #expect(guide.instruction.hasPrefix("1 of 2: put the beacon 1 m from"))
    // Nothing counts before Return.
    for second in 0..<20 { #expect(guide.receive(Self.sightings(second: second, rssi: -90)) == []) }
    #expect(guide.progress == nil)
    guide.receive(returns: 1, areKept: false)
    #expect(guide.progress == "1 m: nothing received yet")
    var lines: [String] = []
    var second = 20
    while lines.isEmpty, second < 100 {
      lines = guide.receive(Self.sightings(second: second, rssi: -60))
      second += 1
    }
    #expect((31...33).contains(second), "ten seconds after the first, which does not count")
    #expect(lines.count == 2 && lines[0].hasSuffix("enough"))
    #expect(lines[1].hasPrefix("2 of 2: put the beacon 4 m from"))
    guide.receive(returns: 1, areKept: false)
    // It is carried away meanwhile: the place is measured again.
    lines = []
    let start = second
    while lines.isEmpty, second < 400 {
      let rssi = Int8(max(-60 - (second - start) * 2, -100))
      lines = guide.receive(Self.sightings(second: second, rssi: rssi))
      second += 1
    }
    #expect(lines.first?.contains("the signal changed by") == true, "\(lines)")
    #expect(lines.last?.hasPrefix("2 of 2") == true && !guide.isOver)
    guide.receive(returns: 1, areKept: false)
    while !guide.isOver, second < 900 {
      _ = guide.receive(Self.sightings(second: second, rssi: -72))
      second += 1
    }
    #expect(guide.failure == nil)
    let results = try CalibrationResult.all(guide.survey, [.distance(1), .distance(4)])
    #expect(results.count == 1 && results[0].adapter == nil)
    #expect(results[0].options.first?.contains("@power=-58.") == true, "\(results[0].options)")
  }

  @Test func theDialogEndsWithItsInput() {
    var guide = CalibrationGuide([.distance(1)], regions: [])
    guide.receive(returns: nil, areKept: false)
    #expect(guide.isOver && guide.failure?.contains("terminal") == true)
    // A place that is measured already needs no answer.
    var measured = CalibrationGuide([.distance(1)], regions: [])
    measured.receive(returns: 1, areKept: false)
    measured.receive(returns: nil, areKept: false)
    #expect(!measured.isOver)
  }

  /// Lines from a pipe come all at once, and its end soon after; a key of a terminal is pressed twice by mistake.
  @Test(arguments: [true, false])
  func eachLineOfAPipeBeginsAPlace(isPipe: Bool) {
    var guide = CalibrationGuide([.distance(1), .distance(4)], regions: [])
    guide.receive(returns: 2, areKept: isPipe)
    for second in 0..<80 {
      _ = guide.receive(Self.sightings(second: second, rssi: second < 12 ? -60 : -72))
      guide.receive(returns: isPipe ? nil : 0, areKept: isPipe)
    }
    #expect(guide.failure == nil && guide.isOver == isPipe)
    #expect(isPipe || guide.instruction.hasPrefix("2 of 2"))
    // Too few lines are an error that says so.
    var short = CalibrationGuide([.distance(1), .distance(4)], regions: [])
    short.receive(returns: 1, areKept: true)
    for second in 0..<80 where !short.isOver {
      _ = short.receive(Self.sightings(second: second, rssi: -60))
      short.receive(returns: nil, areKept: true)
    }
    #expect(short.failure?.contains("before 4 m was measured") == true)
    #expect(short.failure?.contains("a line for each place") == true)
  }

  @Test func severalAdaptersHaveOffsets() throws {
    var survey = CalibrationSurvey(regions: [])
    for (place, rssi) in [(0, Int8(-60)), (1, -72)] {
      for second in 0..<20 {
        let sightings = Self.sightings(second: place * 100 + second, rssi: rssi, adapters: [0, 1])
        for sighting in sightings { survey.receive(sighting) }
      }
      try survey.finishPlace()
    }
    let results = try CalibrationResult.all(survey, [.distance(1), .distance(4)])
    #expect(results.map(\.adapter) == [0, 1])
    let offsets = results.compactMap(\.adapterOffset?.value)
    #expect(offsets.count == 2 && abs(offsets[0] - offsets[1] - 4) < 0.01)
    #expect(results[1].options.first?.hasPrefix("--adapter-offset=hci1=-") == true)
    #expect(throws: CommandError.self) {
      try CalibrationResult.all(survey, CalibrationPlace.Position.boundary)
    }
  }

  /// A crowd of other beacons costs a bounded amount and does not hide the one that is near.
  @Test func aCrowdIsNoTrouble() throws {
    var survey = CalibrationSurvey(regions: [])
    for second in 0..<20 {
      for sighting in Self.sightings(second: second, rssi: -50) { survey.receive(sighting) }
      for minor in 100..<300 {
        let other = BeaconIdentity(
          uuid: ProximityUUID(high: 1, low: 2), major: 1, minor: UInt16(minor))
        for sighting in Self.sightings(second: second, rssi: -80, beacon: other).prefix(1) {
          survey.receive(sighting)
        }
      }
    }
    try survey.finishPlace()
    #expect(survey.beacon == Self.beacon)
  }
}
