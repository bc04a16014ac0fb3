import Simulation
import Testing

/// Scenarios that are no JSON, or ask for too much.
@Suite struct ScenarioTextTests {
  @Test func tooMuchIsRefused() {
    let crowd = #"{"kind": "name", "rate": 100, "count": 1000}"#
    Wrong(
      Scenes.scenario(clutter: "[" + (0..<11).map { _ in crowd }.joined(separator: ",") + "]"),
      "beacons and clutter have 11001 senders by their counts; at most 10000 are allowed"
    ).expectRefusal()
    Wrong(
      Scenes.scenario(clutter: "[" + (0..<9).map { _ in crowd }.joined(separator: ",") + "]"),
      "duration, intervals, counts and rates make about 36000420 packets and lines of truth; at"
        + " most 20000000 are allowed"
    ).expectRefusal()
    let points = (0..<1000).map { "[\(Double($0) / 100), 2]" }.joined(separator: ",")
    Wrong(
      beacon: Scenes.beacon(#""count": 300,"#, course: #""track": [\#(points)]"#),
      "beacons have 300000 points by their tracks and counts; at most 200000 are allowed"
    ).expectRefusal()
  }

  @Test(arguments: [
    ("", "line 1, column 1: expected a value"),
    ("\u{0}", "line 1, column 1: expected a value"),
    ("{\"é\" 5}", "line 1, column 6: expected a colon"),
    ("{\n  name: 5}", "line 2, column 3: expected a key in double quotes"),
    ("{\"a\": [1, {}, []\n \"b\": 1}", "line 2, column 2: expected a comma or ]"),
    ("{\"a\": [], \"b\": -1e5\n", "line 2, column 1: expected a comma or }"),
    ("{\"a\": \"b\\\"\n", "line 1, column 11: expected the end of the text in double quotes"),
    ("{\"a\": nil}", "line 1, column 7: expected a value"),
    ("{} {}", "line 1, column 4: expected nothing more"),
  ])
  func whatIsNotJSON(_ text: String, _ place: String) {
    Wrong(text, "the scenario is not JSON: \(place)").expectRefusal()
  }

  /// Every prefix of a scenario, and every byte of it replaced, is refused or read, and never traps.
  @Test func damagedText() throws {
    let json = Array(Scenes.scenario(clutter: Scenes.clutter).utf8)
    for length in json.indices {
      #expect(throws: ScenarioError.self) { try Scenario(json: Array(json[..<length])) }
    }
    for index in json.indices {
      for byte in [UInt8(ascii: "{"), UInt8(ascii: "]"), UInt8(ascii: "9"), 0xFF] {
        var damaged = json
        damaged[index] = byte
        _ = try? Scenario(json: damaged)
      }
    }
  }
}
