import Foundation
import TestSupport
import Testing

/// `beaconscan range`.
@Suite(.blocking) struct RangeCommandTests {
  private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  @Test func json() throws {
    let run = try Command.run(
      "range", "--replay", Command.capture("visitor.btsnoop"), "--format", "json")
    #expect(run.status == 0 && run.error.isEmpty)
    let objects = try run.json()
    let reports = objects.filter { $0["type"] as? String == "range" }
    // Once a second of 100 s, and the summary.
    #expect((99...101).contains(reports.count))
    #expect(objects.count == reports.count + 1)
    #expect(objects.last?["type"] as? String == "summary")
    #expect(objects.last?["sightings"] as? Int == 1113)
    let keys: Set = [
      "uuid", "major", "minor", "proximity", "accuracy", "distance", "distanceLow", "distanceHigh",
      "rssi", "measuredPower", "powerSource", "sightings",
    ]
    var heard = 0
    for report in reports {
      #expect(report["region"] is NSNull)
      let beacons = try #require(report["beacons"] as? [[String: Any]])
      #expect(beacons.count <= 3)
      for beacon in beacons {
        #expect(Set(beacon.keys) == keys)
        heard += try #require(beacon["sightings"] as? Int)
        let proximity = try #require(beacon["proximity"] as? String)
        #expect(["immediate", "near", "far", "unknown"].contains(proximity))
      }
      // Closest first, unknown last.
      let distances = beacons.map { $0["distance"] as? Double ?? .infinity }
      #expect(distances == distances.sorted())
    }
    #expect(heard == 1113)
  }

  /// The prior draws what is far nearer, and `none` leaves the formula's distance.
  @Test func typicalDistances() throws {
    func farthest(_ words: String...) throws -> Double {
      let run = try Command.run(
        [
          "range", "--replay", Command.capture("edge.btsnoop"), "--format", "json",
          "--environment", "2.2", "--measured-power", "-59",
        ] + words)
      let beacons = try run.json().flatMap { $0["beacons"] as? [[String: Any]] ?? [] }
      return try #require(beacons.compactMap { $0["distance"] as? Double }.max())
    }
    let standard = try farthest()
    #expect(try farthest("--typical-distance", "3,4") == standard)
    #expect(try farthest("--typical-distance", "1") < standard)
    #expect(try farthest("--typical-distance", "none") > standard)
  }

  /// What inspect and monitor report of identities that several senders use is what range reports.
  @Test(arguments: [
    ["inspect", Command.capture("hostile.pcapng")],
    ["monitor", "--uuid", uuid, "--replay", Command.capture("hostile.pcapng")],
  ])
  func othersFindTheSameImitators(arguments: [String]) throws {
    func imitated(_ arguments: [String]) throws -> [String] {
      try Command.run(arguments + ["--format", "json"]).json().compactMap { object in
        guard object["type"] as? String == "identity",
          let senders = object["senders"] as? [[String: Any]], !senders.isEmpty,
          let minor = object["minor"] as? Int
        else { return nil }
        return "\(minor): \(senders.compactMap { $0["address"] as? String }.sorted())"
      }
    }
    let found = try imitated(arguments)
    #expect(
      try found == imitated(["range", "--replay", Command.capture("hostile.pcapng")]))
    #expect(found.count == 2)
    // In CSV it is a sentence on standard error, unless --quiet is given.
    let run = try Command.run(arguments + ["--format", "csv"])
    #expect(run.error.split(separator: "\n").count { $0.contains("2 senders at once") } == 2)
    #expect(try Command.run(arguments + ["--format", "csv", "--quiet"]).error.isEmpty)
  }

  @Test func csv() throws {
    let run = try Command.run(
      "range", "--replay", Command.capture("visitor.btsnoop"), "--format", "csv", "--raw")
    #expect(run.status == 0)
    let columns = run.lines.map { $0.split(separator: ",", omittingEmptySubsequences: false).count }
    #expect(Set(columns) == [17] && columns.count > 200)
    #expect(run.lines.first?.hasPrefix("time,region,uuid,major,minor,proximity,") == true)
  }

  @Test func table() throws {
    let run = try Command.run("range", "--replay", Command.capture("visitor.btsnoop"))
    #expect(run.status == 0 && run.lines.count == 4)
    let visitor = try #require(run.lines.first { $0.contains("  100  ") })
    // It came, was near, then immediate, and went again.
    let zones = visitor.split(separator: " ").map(String.init)
      .filter { ["far", "near", "immediate"].contains($0) }
    #expect(zones == ["far", "near", "immediate", "near", "far"])
  }

  /// A recording beside a copy of it that is 20 dB weaker and 5 ms later: two receivers, one visitor.
  @Test func aWeakerCopyChangesNothing() throws {
    let visitor = Command.capture("visitor.btsnoop")
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: visitor)))
    var record = 16
    while record < bytes.count {
      func number(_ offset: Int, _ count: Int) -> Int {
        bytes[(record + offset)...].prefix(count).reduce(0) { $0 << 8 | Int($1) }
      }
      let (end, time) = (record + 24 + number(4, 4), number(16, 8) + 5000)
      for index in 0..<8 { bytes[record + 16 + index] = UInt8(time >> (56 - 8 * index) & 0xFF) }
      if bytes[(record + 24)...].starts(with: [0x04, 0x3E]), bytes[record + 27] == 0x02 {
        bytes[end - 1] &-= 20
      }
      record = end
    }
    let scratch = try Scratch()
    let weaker = try scratch.file("weaker.btsnoop", bytes).path
    let runs = [
      try Command.run("range", "--replay", visitor),
      try Command.run("range", "--replay", visitor, "--replay", weaker),
    ]
    let columns = runs.map { run in
      run.lines.map { Array($0.split(separator: " ").prefix(7)) }
    }
    let (alone, both) = (columns[0], columns[1])
    #expect(both.count == 4)
    for (one, two) in zip(alone, both).dropFirst() {
      // Nearest, and the beacon.
      #expect(one[6] == two[6] && one[2] == two[2])
      // Until the second receiver is known, its first sightings count.
      let counts = [one, two].compactMap { Int($0[3]) }
      #expect(counts[0]...(counts[0] + 3) ~= counts[1], "\(counts)")
    }
  }

  @Test func regions() throws {
    let run = try Command.run(
      "range", "--replay", Command.capture("visitor.btsnoop"), "--format", "json", "--region",
      "door=\(Self.uuid):1:1", "--region", "nobody=\(Self.uuid):9")
    let reports = try run.json().dropLast()
    let regions = reports.compactMap { $0["region"] as? String }
    #expect(Set(regions) == ["door", "nobody"] && regions.count == reports.count)
    for report in reports {
      let beacons = try #require(report["beacons"] as? [[String: Any]])
      let isDoor = report["region"] as? String == "door"
      #expect(beacons.allSatisfy { isDoor && $0["minor"] as? Int == 1 })
    }
  }

  @Test(arguments: [("0.5", 199...201), ("10", 9...11), ("86400", 1...1)])
  func interval(seconds: String, reports: ClosedRange<Int>) throws {
    let run = try Command.run(
      "range", "--replay", Command.capture("visitor.btsnoop"), "--format", "json", "--interval",
      seconds)
    #expect(reports.contains(run.lines.count - 1))
  }

  @Test func countAndRepeats() throws {
    let arguments = "range --replay captures/lobby.btsnoop --format json"
    let runs = try (0..<2).map { _ in try Command.shell("beaconscan \(arguments)") }
    let isSame = runs[0].output == runs[1].output && !runs[0].output.isEmpty
    #expect(isSame)
    let some = try Command.shell("beaconscan \(arguments) --count 4")
    let isStart = some.lines.dropLast() == runs[0].lines.prefix(4)
    #expect(some.status == 0 && isStart && some.lines.count == 5)
  }

  /// Times as far apart as a recording can have them: the reports end, and nothing traps.
  @Test(
    arguments: [
      [0, UInt64(Int64.max)], [UInt64(Int64.max), 0], [0, 1 << 62, UInt64(Int64.max)],
      [UInt64(Int64.max)], [1_767_225_600_000_000_000, .max, 5],
    ] as [[UInt64]], ["json", "table"])
  func extremeTimes(times: [UInt64], format: String) throws {
    try expectAnEnd(Recording.pcapng(times: times), format)
  }

  /// And farther apart than any number of nanoseconds.
  @Test(arguments: ["json", "csv", "table"])
  func longestTime(format: String) throws {
    let most: Int64 = 9_200_000_000_000_000
    try expectAnEnd(try Recording.btsnoop(times: [-most, most]), format)
    try expectAnEnd(try Recording.btsnoop(times: [.min, .max]), format)
  }

  private func expectAnEnd(_ recording: [UInt8], _ format: String) throws {
    let scratch = try Scratch()
    let file = try scratch.file("far", recording)
    let run = try Command.shell(
      "(timeout -s KILL 120 beaconscan range --format \(format) --replay \(file.path); "
        + "echo status $? >&2) | head -c 4000000 | wc -c")
    #expect(run.error.hasSuffix("status 0\n"), "\(run.error)")
    let bytes = try #require(Int(run.output.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(bytes < 100_000)
  }
}
