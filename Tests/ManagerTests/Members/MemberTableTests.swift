import Foundation
import Testing

@testable import CoreLocation

/// docs/corelocation.md says of every member what it does here. It must be complete, and true.
@Suite struct MemberTableTests {
  @Test func allThatIsAskedForIsInTheTable() throws {
    let rows = try MemberTable().rows
    let asked = try MemberTable.asked()
    #expect(asked.count > 120)
    for asked in asked {
      let row = rows.first { $0.members.contains(asked.member) }
      #expect(row != nil, "docs/corelocation.md has no row of \(asked.member)")
      for older in asked.older {
        #expect(
          row?.older.contains("`\(older)`") == true,
          "the row of \(asked.member) does not name \(older)")
      }
    }
  }

  @Test func everyRowIsOnce() throws {
    let members = try MemberTable().rows.flatMap(\.members)
    let doubled = Dictionary(grouping: members) { $0 }.filter { $0.value.count > 1 }.keys
    #expect(doubled.isEmpty)
  }

  @Test func everyRowSaysWhy() throws {
    for row in try MemberTable().rows where row.status != .works {
      #expect(row.remark.count > 10, "\(row.members): no reason")
    }
  }

  @Test func everyMemberIsThere() throws {
    let uses = MemberUses().all
    let used = Dictionary(grouping: uses, by: \.name)
    #expect(used.values.allSatisfy { $0.count == 1 })
    var listed: Set<String> = []
    for row in try MemberTable().rows {
      // What sources speak of and is no member has no backquotes.
      guard row.members.allSatisfy({ !$0.contains(" ") }) else { continue }
      for member in row.members {
        listed.insert(member)
        let use = used[member]?.first
        #expect(use != nil, "\(member) is used nowhere in MemberUses")
        #expect(use?.status == row.status, "\(member) is '\(row.status.rawValue)' in the table")
      }
    }
    for use in uses where !listed.contains(use.name) {
      Issue.record("docs/corelocation.md has no row of \(use.name)")
    }
  }

  /// A use uses what its name says.
  @Test func everyUseIsOfItsMember() throws {
    var bodies: [String: String] = [:]
    let names = /(?:use|never)\(\s*"([^"]+)"/
    for file in ["Beacons", "Locations", "Deprecated"] {
      let text = try MemberTable.text("Tests/ManagerTests/Members/MemberUses+\(file).swift")
      let matches = text.matches(of: names)
      for (index, match) in matches.enumerated() {
        let end = index + 1 < matches.count ? matches[index + 1].range.lowerBound : text.endIndex
        bodies[String(match.output.1)] = String(text[match.range.upperBound..<end])
      }
    }
    for use in MemberUses().all {
      let body = try #require(bodies[use.name])
      let parts = use.name.split(separator: "(", maxSplits: 1)
      let base = parts[0].split(separator: ".").last.map(String.init) ?? ""
      let labels = parts.dropFirst().joined().split { "():".contains($0) }.filter { $0 != "_" }
      let word = base == "init" ? "CLLocationManager()" : base
      #expect(body.contains(word), "\(use.name): \(body)")
      for label in labels { #expect(body.contains("\(label):"), "\(use.name): \(body)") }
    }
  }

  /// What can have no effect here calls nothing that it should not; what works is used with live sources.
  @Test func everyMemberCanBeUsed() async throws {
    let source = ScriptedLocations(hasCompass: true)
    source.add(walk(100))
    source.allow(until: 100)
    let scene = Scene { $0.locationSource = .init(source) }
    let listener = FullListener()
    let stage = MemberUses.Stage(
      services: scene.services, manager: scene.manager, delegate: listener,
      region: Scene.region("lobby"))
    _ = await scene.told(1)
    scene.manager.delegate = listener
    for use in MemberUses().all {
      await use.body(stage)
      // Calls come in order: what comes before a last one is all that came of the use.
      stage.manager.callDelegate(after: stage.manager.services.beacons) { _ in
        listener.note("that is all")
      }
      let told = await listener.lines(before: "that is all")
      if use.status != .works { #expect(told == use.told, "\(use.name)") }
    }
  }
}
