import Foundation
import TestSupport
import Testing

/// `beaconscan scan` of recordings whose truth is known.
@Suite(.blocking) struct ScanCommandTests {
  private func truth(_ name: String) throws -> [Substring] {
    try Command.truth(name).filter { $0.hasPrefix(#"{"type":"sighting","#) }
  }

  /// The lines are those of the truth, byte for byte, and the same each time.
  @Test(arguments: ["visitor.btsnoop", "lobby.btsnoop", "edge.btsnoop", "hostile.pcapng"])
  func json(name: String) throws {
    let run = try Command.run("scan", "--replay", Command.capture(name), "--format", "json")
    #expect(run.status == 0 && run.error.isEmpty)
    let isSame = try run.lines == truth(String(name.prefix { $0 != "." }))
    #expect(isSame)
    let again = try Command.run("scan", "--replay", Command.capture(name), "--format", "json")
    let isRepeated = again.output == run.output
    #expect(isRepeated)
  }

  @Test func csv() throws {
    let run = try Command.run(
      "scan", "--replay", Command.capture("hostile.pcapng"), "--format", "csv")
    #expect(run.status == 0 && run.error.isEmpty)
    #expect(run.lines.first == "time,uuid,major,minor,measuredPower,rssi,address,addressType")
    let json = try Command.run(
      "scan", "--replay", Command.capture("hostile.pcapng"), "--format", "json"
    ).json()
    #expect(run.lines.count == json.count + 1)
    for (line, object) in zip(run.lines.dropFirst(), json) {
      let fields = line.split(separator: ",", omittingEmptySubsequences: false)
      let keys = [
        "time", "uuid", "major", "minor", "measuredPower", "rssi", "address", "addressType",
      ]
      let expected = keys.map { key in
        object[key].map { $0 is NSNull ? "" : "\($0)" } ?? "missing"
      }
      #expect(fields.map(String.init) == expected)
    }
  }

  /// The table is the default, piped or not, and its columns stand under their titles.
  @Test func table() throws {
    let run = try Command.run("scan", "--replay", Command.capture("visitor.btsnoop"))
    let explicit = try Command.run(
      "scan", "--replay", Command.capture("visitor.btsnoop"), "--format", "table")
    let isSame = run.output == explicit.output
    #expect(isSame)
    #expect(run.status == 0 && run.lines.count == 1114)
    let title = try #require(run.lines.first)
    let column = title.distance(from: title.startIndex, to: title.ranges(of: "UUID")[0].lowerBound)
    let isAligned = run.lines.dropFirst().allSatisfy {
      $0.dropFirst(column).hasPrefix("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0  ")
    }
    #expect(isAligned)
  }

  @Test(arguments: ["1", "5", "1112", "1113", "9999"])
  func count(number: String) throws {
    let run = try Command.run(
      "scan", "--replay", Command.capture("visitor.btsnoop"), "--format", "json", "--count", number)
    #expect(run.status == 0)
    let isStart = try run.lines[...] == truth("visitor")[...].prefix(Int(number) ?? 0)
    #expect(isStart)
  }

  /// Seconds from the first packet on.
  @Test(arguments: [0.5, 10, 99.5, 1e6])
  func duration(seconds: Double) throws {
    let run = try Command.run(
      "scan", "--replay", Command.capture("visitor.btsnoop"), "--format", "json", "--duration",
      "\(seconds)")
    #expect(run.status == 0)
    let whole = try truth("visitor")
    #expect(run.lines.count <= whole.count)
    let isStart = run.lines[...] == whole[...].prefix(run.lines.count)
    #expect(isStart)
    // The recording lasts for 100 s from 09:00:00 on.
    let end = String(format: "2026-01-15T09:%02d:%09.6fZ", Int(seconds) / 60, min(seconds, 59.9))
    if seconds < 60 {
      #expect(run.lines.allSatisfy { $0.split(separator: "\"")[7] < end })
      let next = whole.dropFirst(run.lines.count).first.map { $0.split(separator: "\"")[7] }
      #expect(try #require(next) >= end)
    }
  }

  @Test func filters() throws {
    let uuid = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"
    func minors(_ filter: String) throws -> Set<Int> {
      let run = try Command.shell(
        "beaconscan scan --replay captures/visitor.btsnoop --format json \(filter)")
      #expect(run.status == 0)
      return Set(try run.json().compactMap { $0["minor"] as? Int })
    }
    #expect(try minors("") == [1, 2, 100])
    #expect(try minors("--uuid \(uuid)") == [1, 2, 100])
    #expect(try minors("--uuid \(uuid) --major 1 --minor 2") == [2])
    #expect(try minors("--uuid \(uuid) --major 2") == [])
    #expect(try minors("--region a=\(uuid):1:1 --region b=\(uuid):1:100") == [1, 100])
    #expect(try minors("--uuid 00000000-0000-0000-0000-000000000000") == [])
  }

  /// Two recordings are merged by time.
  @Test func several() throws {
    let run = try Command.run(
      "scan", "--replay", Command.capture("visitor.btsnoop"), "--replay",
      Command.capture("edge.btsnoop"), "--format", "json")
    #expect(run.status == 0)
    let expected = try (truth("visitor") + truth("edge")).sorted()
    let isMerged = run.lines.sorted() == expected
    #expect(isMerged)
    let times = run.lines.map { $0.split(separator: "\"")[7] }
    let isSorted = times == times.sorted()
    #expect(isSorted)
  }

  @Test func verbose() throws {
    let run = try Command.run(
      "scan", "--replay", Command.capture("hostile.pcapng"), "--verbose")
    #expect(run.error.contains("1521 packets") && run.error.contains("refused: "))
  }

  /// A sighting has the name of the first region that its beacon is in.
  @Test func regions() throws {
    let regions = [
      "--region", "visitor=\(MonitorRun.visitor):1:100", "--uuid", MonitorRun.visitor, "--replay",
      Command.capture("visitor.btsnoop"),
    ]
    let objects = try Command.run(["scan", "--format", "json"] + regions).json()
    let names = Dictionary(grouping: objects) { $0["minor"] as? Int ?? 0 }
      .mapValues { Set($0.compactMap { $0["region"] as? String }) }
    // Those by --uuid come first.
    #expect(names == [1: [MonitorRun.visitor], 2: [MonitorRun.visitor], 100: [MonitorRun.visitor]])
    let one = try Command.run(
      ["scan", "--format", "csv", "--count", "1"] + regions.prefix(2) + regions.suffix(2))
    #expect(
      one.lines.first?.hasSuffix(",region") == true && one.lines.last?.hasSuffix(",visitor") == true
    )
    // A table has the UUID beside it: only a name has a column.
    let named = try Command.run(["scan"] + regions)
    #expect(named.lines.first?.hasSuffix("REGION") == true)
    #expect(named.lines.contains { $0.contains("  visitor") })
    #expect(named.lines.allSatisfy { $0.ranges(of: MonitorRun.visitor).count <= 1 })
    let unnamed = try Command.run(["scan"] + regions.suffix(4))
    #expect(unnamed.lines.count > 1 && unnamed.lines.first?.contains("REGION") == false)
    let unnamedJSON = try Command.run(["scan", "--format", "json"] + regions.suffix(4)).json()
    #expect(unnamedJSON.allSatisfy { $0["region"] as? String == MonitorRun.visitor })
    let all = try Command.run(["scan", "--format", "csv"] + regions.suffix(2))
    #expect(all.lines.first?.contains("region") == false)
  }
}
