import Foundation
import Records
import TestSupport
import Testing

/// `beaconscan range --on-change` and `--exec`.
@Suite(.blocking) struct RangeChangeTests {
  private static let kiosk = ["--region", "kiosk=\(MonitorRun.visitor):1:100"]
  private static let replay = ["--replay", Command.capture("visitor.btsnoop")]
  /// Type, zone and zone before of the visitor.
  private static let changes = [
    "appear far none", "zone near far", "zone immediate near", "zone near immediate",
    "zone far near", "zone unknown far", "disappear unknown unknown",
  ]

  private func range(_ arguments: [String]) throws -> Run {
    try Command.run(["range", "--on-change"] + arguments + Self.replay)
  }

  @Test func json() throws {
    let objects = try range(Self.kiosk + ["--format", "json"]).json()
    #expect(objects.last?["type"] as? String == "summary")
    let changes = objects.dropLast()
    #expect(
      changes.map { object in
        let words = [object["type"], object["proximity"], object["previous"]]
        return words.map { $0 as? String ?? "none" }.joined(separator: " ")
      } == Self.changes)
    for change in changes {
      #expect(
        Set(change.keys) == [
          "type", "time", "region", "uuid", "major", "minor", "proximity", "previous", "distance",
          "accuracy", "rssi",
        ])
      #expect(change["region"] as? String == "kiosk" && change["minor"] as? Int == 100)
      #expect((change["distance"] is NSNull) == (change["proximity"] as? String == "unknown"))
    }
    // What a change is, is what the reports have.
    let reports = try Command.run(["range", "--format", "json"] + Self.kiosk + Self.replay).json()
    for change in changes.dropLast() {
      let report = try #require(
        reports.first { $0["time"] as? String == change["time"] as? String })
      let beacon = try #require((report["beacons"] as? [[String: Any]])?.first)
      for key in ["proximity", "rssi", "distance", "accuracy"] {
        #expect("\(beacon[key] ?? "")" == "\(change[key] ?? "")")
      }
    }
  }

  @Test func everyBeacon() throws {
    let objects = try range(["--format", "json"]).json().dropLast()
    let first = Dictionary(grouping: objects) { $0["minor"] as? Int ?? 0 }
      .mapValues { $0.map { $0["type"] as? String } }
    #expect(first[1] == ["appear", "zone"] && first[2] == ["appear", "zone"])
    #expect(first[100]?.count == 7)
    #expect(objects.allSatisfy { $0["region"] is NSNull })
  }

  @Test func csvTableAndCount() throws {
    let csv = try range(Self.kiosk + ["--format", "csv"])
    #expect(
      csv.lines.first
        == "time,type,region,uuid,major,minor,proximity,previous,distance,accuracy,rssi")
    #expect(csv.lines.count == 8)
    let table = try range(Self.kiosk)
    #expect(table.lines.count == 8 && table.lines[2].contains("  ZONE  "))
    #expect(try range(Self.kiosk + ["--count", "3", "--format", "csv"]).lines.count == 4)
    let unnamed = try range(["--uuid", MonitorRun.visitor])
    #expect(unnamed.lines.first?.contains("REGION") == false && unnamed.output.contains("UUID"))
    let nobody = try range(["--region", "nobody=\(MonitorRun.visitor):9"])
    #expect(nobody.output == "no beacon was received\n")
  }

  /// The column of regions is as wide as their names.
  @Test(arguments: ["--uuid ", "--region lobby=", "--region Besprechung会議室="])
  func tableIsAligned(region: String) throws {
    let table = try range("\(region)\(MonitorRun.visitor)".split(separator: " ").map(String.init))
      .lines
    try #require(table.count > 2)
    let zones = table.map { line in
      ["PROXIMITY", "  unknown", "  near", "  far", "  immediate"].compactMap { text in
        line.range(of: text).map { line[..<$0.lowerBound] + (text.hasPrefix(" ") ? "  " : "") }
      }.map { String($0).columns }.min()
    }
    #expect(Set(zones).count == 1, "\(table)")
  }

  /// With the environment that monitor's commands have, whether the changes are shown or the reports.
  @Test(arguments: [[], ["--on-change"]]) func exec(options: [String]) throws {
    let scratch = try Scratch()
    _ = try scratch.file(
      "command",
      """
      cat >> lines
      b() { eval echo "\\${BEACONSCAN_$1-none}"; }
      echo "$(b TYPE) $(b PROXIMITY) $(b PREVIOUS)" >> changes
      echo "$(b REGION) $(b UUID) $(b MAJOR) $(b MINOR) $(b RSSI) $(b DISTANCE)" >> facts
      """)
    let line = (options + Self.kiosk + Self.replay).joined(separator: " ")
    let run = try Command.shell(
      "beaconscan range --format json \(line) --exec \"$(cat command)\"", in: scratch.folder)
    #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
    func lines(_ name: String) throws -> [Substring] {
      try String(contentsOf: scratch.path(name), encoding: .utf8).split(separator: "\n")
    }
    #expect(try lines("changes") == Self.changes.map { $0[...] })
    #expect(try lines("facts").first == "kiosk \(MonitorRun.visitor) 1 100 -81 9.389")
    #expect(try lines("facts").last == "kiosk \(MonitorRun.visitor) 1 100 none none")
    let shown = try range(Self.kiosk + ["--format", "json"]).lines.dropLast()
    #expect(try lines("lines") == Array(shown))
    #expect(run.lines.count == (options.isEmpty ? 101 : 8))
  }

  @Test func missingCommand() throws {
    let run = try range(["--exec", "no-such-command"])
    #expect(run.status == 64 && run.output.isEmpty)
    #expect(run.error.contains("there is no command 'no-such-command'"))
  }
}
