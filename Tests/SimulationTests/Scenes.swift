import Advertising
import CaptureFiles
import FoundationEssentials
import Scanning
import Simulation

/// Scenarios and recordings for the tests.
enum Scenes {
  /// A beacon in the middle of a scenario that is otherwise as small as it can be.
  static func scenario(
    top: String = "", format: String = "{}", environment: String = "{}",
    beacons: String = "[\(beacon())]", clutter: String = "[]"
  ) -> String {
    """
    {"name": "test", "start": "2026-01-01T00:00:00Z", "duration": 20, \(top)
     "format": \(format), "environment": \(environment), "beacons": \(beacons),
     "clutter": \(clutter)}
    """
  }

  /// A beacon that stands 2 m away for the first 10 s.
  static func beacon(
    _ more: String = "", id: String = "a", minor: Int = 1, interval: String = "100",
    course: String = #""track": [[0, 2], [10, 2]]"#
  ) -> String {
    """
    {"id": "\(id)", "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "major": 1, \(more)
     "minor": \(minor), "interval": \(interval), \(course)}
    """
  }

  /// Every kind of clutter.
  static let clutter =
    "["
    + Scenario.Clutter.Kind.allCases
    .map { #"{"kind": "\#($0.rawValue)", "rate": 3, "count": 2}"# }.joined(separator: ",") + "]"

  static func parse(_ json: String) throws(ScenarioError) -> Scenario {
    try Scenario(json: Array(json.utf8))
  }

  /// The lines of a truth that have a type.
  static func lines(_ type: String, of truth: [UInt8]) -> [String] {
    String(decoding: truth, as: UTF8.self).split(separator: "\n").map(String.init)
      .filter { $0.hasPrefix(#"{"type":"\#(type)","#) }
  }

  /// What the capture reader finds in a recording, as the truth writes it, and its counts.
  static func readBack(_ recording: [UInt8]) throws -> (sightings: [String], counts: ScanCounts) {
    let file = FileManager.default.temporaryDirectory
      .appending(path: "simulation-\(UUID().uuidString)")
    try Data(recording).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let replay = try ReplayScanner(paths: [file.path])
    var sightings: [Sighting] = []
    var lines: [String] = []
    while true {
      let progress = try replay.receive(for: .ranging, until: nil, into: &sightings)
      lines += sightings.map(line)
      if progress.isOver { return (lines, replay.counts) }
    }
  }

  private static func line(_ sighting: Sighting) -> String {
    #"{"type":"sighting","time":"\#(sighting.wallTime)","uuid":"\#(sighting.beacon.uuid)","#
      + #""major":\#(sighting.beacon.major),"minor":\#(sighting.beacon.minor),"#
      + #""measuredPower":\#(sighting.measuredPower),"#
      + #""rssi":\#(sighting.rssi.map { "\($0)" } ?? "null"),"#
      + #""address":"\#(sighting.address)","addressType":"\#(sighting.addressType)"}"#
  }
}

extension Simulator {
  /// The whole output of a scenario.
  static func run(
    _ scenario: Scenario, format: CaptureWriter.Format
  ) -> (recording: [UInt8], truth: [UInt8]) {
    var simulator = Simulator(scenario, format: format)
    var recording: [UInt8] = []
    var truth: [UInt8] = []
    while simulator.next(recording: &recording, truth: &truth) {}
    return (recording, truth)
  }
}
