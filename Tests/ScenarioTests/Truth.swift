import Advertising
import CaptureFiles
import FoundationEssentials
import Scanning
import Simulation

/// The zones and positions in the truth of a shipped scenario.
struct Truth {
  /// A line of the truth, as far as these tests look at it.
  struct Line: Decodable {
    var type: String
    var time: String
    var uuid: String
    var major: UInt16
    var minor: UInt16
    var proximity: String?
    var distance: Double?

    var beacon: BeaconIdentity {
      BeaconIdentity(
        uuid: ProximityUUID(uuid) ?? ProximityUUID(high: 0, low: 0), major: major, minor: minor)
    }
  }

  let lines: [Line]

  static let captures = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "captures")

  init(_ name: String) throws {
    let json = try Data(contentsOf: Self.captures.appending(path: "\(name).json"))
    let scenario = try Scenario(json: [UInt8](json))
    var simulator = Simulator(scenario, format: .btsnoop)
    var recording: [UInt8] = []
    var truth: [UInt8] = []
    while simulator.next(recording: &recording, truth: &truth) {}
    lines = try truth.split(separator: UInt8(ascii: "\n")).map {
      try JSONDecoder().decode(Line.self, from: Data($0))
    }
  }

  /// The zones of each beacon, in order, with the second of the day in which they begin.
  var zones: [BeaconIdentity: [(name: String, second: Double)]] {
    var zones: [BeaconIdentity: [(String, Double)]] = [:]
    for line in lines where line.type == "zone" {
      zones[line.beacon, default: []].append((line.proximity ?? "", Self.second(of: line.time)))
    }
    return zones
  }

  /// The true distance of each beacon in metres, by whole seconds of the day.
  var positions: [BeaconIdentity: [Int: Double]] {
    var positions: [BeaconIdentity: [Int: Double]] = [:]
    for line in lines where line.type == "position" {
      positions[line.beacon, default: [:]][Int(Self.second(of: line.time).rounded())] =
        line.distance
    }
    return positions
  }

  /// Seconds since midnight of `2026-01-15T09:00:00.000000Z`.
  static func second(of time: String) -> Double {
    let parts = time.dropFirst(11).dropLast().split(separator: ":").map { Double($0) ?? .nan }
    return parts[0] * 3600 + parts[1] * 60 + parts[2]
  }
}
