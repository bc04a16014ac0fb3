import Foundation
import Testing

/// What a run of `beaconscan monitor` told.
struct MonitorRun {
  /// The proximity UUIDs of the recordings.
  static let visitor = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
  static let edge = "0EDCE000-1111-4222-8333-444455556666"

  /// A line of type `enter`, `exit` or `state`.
  struct Event {
    var type: String
    /// Seconds of the day.
    var time: Double
    var region: String
    var dwell: Double?
    var state: String?
    var minor: Int?
    var beacons: Int?
    var reason: [String: Any]

    init(_ object: [String: Any]) throws {
      type = try #require(object["type"] as? String)
      time = Truth.seconds(try #require(object["time"] as? String))
      region = try #require(object["region"] as? String)
      dwell = object["dwell"] as? Double
      state = object["state"] as? String
      minor = object["minor"] as? Int
      beacons = object["beacons"] as? Int
      reason = try #require(object["reason"] as? [String: Any])
    }

    var rule: String? { reason["rule"] as? String }
    var exitTimeout: Double? { reason["exitTimeout"] as? Double }
    /// When the beacon that decided was heard last, in seconds of the day.
    var lastSighting: Double? {
      ((reason["lastSighting"] as? [String: Any])?["time"] as? String).map(Truth.seconds)
    }
  }

  var run: Run
  /// The states at the start.
  var starts: [Event]
  /// What came after them.
  var events: [Event]

  /// Runs it.
  init(_ arguments: [String], in place: URL = Command.root) throws {
    let line = (["monitor", "--format", "json"] + arguments).map { "'\($0)'" }
    run = try Command.shell("beaconscan " + line.joined(separator: " "), in: place)
    let all = try run.json().filter {
      ["enter", "exit", "state"].contains($0["type"] as? String)
    }.map(Event.init)
    (starts, events) = (all.filter { $0.rule == "request" }, all.filter { $0.rule != "request" })
  }

  /// Entries and exits.
  var crossings: [Event] { events.filter { $0.type != "state" } }
}

/// The crossings and sightings in the truth of a recording.
struct Truth {
  /// `enter` or `exit` of a beacon.
  struct Mark {
    var type: String
    var time: Double
    var beacon: String
  }

  var marks: [Mark] = []
  /// When each beacon was heard.
  var heard: [String: [Double]] = [:]

  init(_ name: String) throws {
    for line in try Command.truth(name) where !line.contains("\"position\"") {
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      guard let type = object["type"] as? String, let time = object["time"] as? String,
        let uuid = object["uuid"] as? String, let major = object["major"] as? Int,
        let minor = object["minor"] as? Int
      else { continue }
      let beacon = "\(uuid):\(major):\(minor)"
      switch type {
      case "enter", "exit":
        marks.append(Mark(type: type, time: Self.seconds(time), beacon: beacon))
      case "sighting": heard[beacon, default: []].append(Self.seconds(time))
      default: break
      }
    }
  }

  /// The beacons that come and go.
  var beacons: [String] { Set(marks.map(\.beacon)).sorted() }

  /// The crossings of a region that means the beacons whose identity begins so: the first that comes, and
  /// the last that goes.
  func crossings(of region: String) -> [Mark] {
    var present = 0
    return marks.filter { mark in
      guard (mark.beacon + ":").hasPrefix(region + ":") else { return false }
      present += mark.type == "enter" ? 1 : -1
      return present == (mark.type == "enter" ? 1 : 0)
    }
  }

  /// When beacons of a region were heard.
  func heard(in region: String) -> [Double] {
    heard.filter { ($0.key + ":").hasPrefix(region + ":") }.flatMap(\.value).sorted()
  }

  /// The seconds of the day in a time as JSON has it.
  static func seconds(_ text: String) -> Double {
    let parts = text.dropFirst(11).dropLast().split(separator: ":").compactMap { Double($0) }
    return parts.reduce(0) { $0 * 60 + $1 }
  }
}
