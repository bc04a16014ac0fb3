import CaptureFiles
import FoundationEssentials
import Simulation
import Testing

/// The recordings in `captures/` are what their scenarios make today.
@Suite struct ShippedScenarioTests {
  private static let captures = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "captures")

  private func bytes(_ name: String) throws -> [UInt8] {
    try [UInt8](Data(contentsOf: Self.captures.appending(path: name)))
  }

  @Test(arguments: [
    ("visitor", CaptureWriter.Format.btsnoop), ("lobby", .btsnoop), ("edge", .btsnoop),
    ("hostile", .pcapng),
  ])
  func isWhatTheScenarioMakes(_ name: String, _ format: CaptureWriter.Format) throws {
    let scenario = try Scenario(json: try bytes("\(name).json"))
    #expect(scenario.name == name)
    let simulated = Simulator.run(scenario, format: format)
    let recording = try bytes("\(name).\(format.rawValue)")
    // Not compared in the macro: a failure would print both.
    let isSame = recording == simulated.recording
    #expect(isSame, "captures/\(name).\(format.rawValue) is not what its scenario makes")
    #expect(recording.count <= 300_000)
    let read = try Scenes.readBack(recording).sightings
    let isRead = read == Scenes.lines("sighting", of: simulated.truth)
    #expect(isRead, "captures/\(name) is not read as its truth says")
  }

  /// The visitor comes through all zones, and the fixed beacons stay in theirs.
  @Test func theVisitorWalksAsTold() throws {
    let scenario = try Scenario(json: try bytes("visitor.json"))
    let truth = Simulator.run(scenario, format: .btsnoop).truth
    let zones = Scenes.lines("zone", of: truth)
    func proximities(minor: Int) -> [String] {
      zones.filter { $0.contains(#""minor":\#(minor),"#) }.map { line in
        String(line.split(separator: #""proximity":""#)[1].prefix { $0 != "\"" })
      }
    }
    #expect(proximities(minor: 100) == ["far", "near", "immediate", "near", "far"])
    #expect(proximities(minor: 1) == ["near"])
    #expect(proximities(minor: 2) == ["far"])
    #expect(Scenes.lines("exit", of: truth).count == 1)
  }

  /// The example in the documentation is one that works.
  @Test func theDocumentedExampleWorks() throws {
    let text = String(decoding: try bytes("../docs/scenarios.md"), as: UTF8.self)
    let block = try #require(text.split(separator: "```json\n").last)
    let example = try #require(block.split(separator: "```").first)
    let simulated = Simulator.run(try Scenes.parse(String(example)), format: .btsnoop)
    #expect(Scenes.lines("zone", of: simulated.truth).count == 4)
    #expect(Scenes.lines("sighting", of: simulated.truth).count > 200)
  }
}
