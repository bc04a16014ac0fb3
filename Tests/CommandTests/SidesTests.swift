import Foundation
import TestSupport
import Testing

/// `range --sides`, over the recordings of two adapters.
@Suite(.blocking) struct SidesTests {
  /// A visitor who walks from one distance to another, and a beacon that stays at 3 m, as one adapter receives them.
  private func scenario(from first: Int, to last: Int, seed: Int) -> String {
    """
    { "name": "side", "seed": \(seed), "start": "2026-01-15T09:00:00Z", "duration": 60,
      "environment": { "noise": 3, "loss": 0.1 },
      "beacons": [
        { "id": "visitor", "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "major": 1,
          "minor": 100, "interval": 100,
          "track": [[0, \(first)], [25, \(first)], [35, \(last)], [60, \(last)]] },
        { "id": "middle", "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "major": 1,
          "minor": 1, "interval": 200, "spread": [3, 3] }
      ] }
    """
  }

  /// Recordings of the left and of the right adapter.
  private func recordings(_ scratch: Scratch) throws -> [String] {
    try [("left", 1, 8), ("right", 8, 1)].map { name, first, last in
      let file = try scratch.file(
        "\(name).json", scenario(from: first, to: last, seed: first))
      let recording = scratch.path("\(name).btsnoop").path
      let run = try Command.run("simulate", file.path, "--output", recording)
      try #require(run.status == 0, "\(run.error)")
      return recording
    }
  }

  @Test func aVisitorWalksPast() throws {
    let scratch = try Scratch()
    let paths = try recordings(scratch)
    let run = try Command.run(
      "range", "--format", "json", "--replay", paths[0], "--replay", paths[1], "--sides",
      "left=hci0,right=hci100")
    #expect(run.status == 0, "\(run.error)")
    var sides: [Int: [String]] = [:]
    for line in try run.json() where line["type"] as? String == "range" {
      for beacon in try #require(line["beacons"] as? [[String: Any]]) {
        let side = try #require(beacon["side"])
        sides[beacon["minor"] as? Int ?? 0, default: []].append(side as? String ?? "unknown")
      }
    }
    let visitor = try #require(sides[100])
    #expect(visitor[5..<25].allSatisfy { $0 == "left" }, "\(visitor)")
    #expect(visitor[40..<58].allSatisfy { $0 == "right" }, "\(visitor)")
    let middle = try #require(sides[1]).dropFirst(10)
    #expect(middle.count { $0 == "between" } * 10 >= middle.count * 8, "\(middle)")
  }

  @Test func tablesAndColumns() throws {
    let scratch = try Scratch()
    let paths = try recordings(scratch)
    let csv = try Command.run(
      "range", "--format", "csv", "--replay", paths[0], "--replay", paths[1], "--sides",
      "right=hci100,left=hci0")
    let rows = csv.lines.map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    let place = try #require(rows.first?.firstIndex(of: "side"))
    #expect(Set(rows.map(\.count)).count == 1)
    #expect(Set(rows.dropFirst().map { $0[place] }) == ["left", "between", "right", ""])
    let table = try Command.run(
      "range", "--replay", paths[0], "--replay", paths[1], "--sides", "left=hci0,right=hci100")
    let visitor = try #require(table.lines.first { $0.contains("  100  ") })
    #expect(table.lines.first?.hasSuffix("SIDES") == true)
    let shown = visitor.split(separator: " ").filter {
      ["left", "between", "right"].contains($0)
    }
    #expect(shown.first == "left" && shown.last == "right", "\(visitor)")
    let without = try Command.run(
      "range", "--format", "csv", "--replay", paths[0], "--replay", paths[1])
    #expect(without.lines.first?.contains("side") == false)
  }

  /// The sentence for each wrong value.
  @Test(arguments: [
    ("left=hci0", "--sides: 'left=hci0' cannot be used: right is missing; write two adapters"),
    ("hci0,hci1", "'hci0' is neither left=ADAPTER nor right=ADAPTER"),
    ("left=hci0,middle=hci1", "'middle=hci1' is neither left=ADAPTER nor right=ADAPTER"),
    ("left=hci0,right=eth0", "'eth0' is not an adapter's number or address"),
    ("left=hci0,right=", "'' is not an adapter's number"),
    ("left=hci0,left=hci1", "left is given twice"),
    ("left=hci0,right=hci0", "left and right are both hci0"),
    ("left=hci0,right=00:1B:DC:0F:10:07", "recordings have adapters' numbers"),
  ])
  func wrongValues(value: String, sentence: String) throws {
    let run = try Command.run("range", "--replay", "a", "--sides", value)
    #expect(run.status == 64 && run.output.isEmpty)
    #expect(run.error.contains(sentence), "\(run.error)")
  }

  @Test func bothAdaptersMustScan() throws {
    let run = try Command.run("range", "--adapter", "hci0", "--sides", "left=hci0,right=hci1")
    #expect(run.status == 64)
    #expect(run.error.contains("--sides needs hci1, which --adapter leaves out"), "\(run.error)")
  }
}
