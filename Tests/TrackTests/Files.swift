import Foundation
import LocationSources
import Positioning
import Scanning

/// The files beside the tests.
enum Files {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

  static func bytes(_ path: String) throws -> [UInt8] {
    // The logs are those that gpsd plays in the tests of its client.
    let root = path.hasPrefix("Logs/") ? folder.appending(path: "../LocationSourcesTests") : folder
    return [UInt8](try Data(contentsOf: root.appending(path: path).standardized))
  }

  static let logs = ["bt451", "haicom-305N", "nmea-fuzzy-cases", "quectel-eg25-g", "ublox-8"]
  /// All files that are tracks.
  static let tracks =
    logs.map { "Logs/\($0).log" } + [
      "Logs/nmea-fuzzy-cases.log.chk", "Logs/bt451.log.chk", "Vectors/drive.nmea",
      "Vectors/drive.gpx",
    ]
}

/// An epoch as another program reads it.
struct Epoch {
  var time: String
  var latitude: Double
  var longitude: Double
  var altitude: Double?
  var ellipsoidalAltitude: Double?
  var speed: Double?
  var course: Double?

  static func all(_ name: String) throws -> [Epoch] {
    String(decoding: try Files.bytes("Vectors/\(name).csv"), as: UTF8.self)
      .split(separator: "\n").dropFirst().compactMap { line in
        let values = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard let latitude = Double(values[1]), let longitude = Double(values[2]) else {
          return nil
        }
        return Epoch(
          time: values[0], latitude: latitude, longitude: longitude, altitude: Double(values[3]),
          ellipsoidalAltitude: Double(values[4]), speed: Double(values[5]),
          course: Double(values[6]))
      }
  }
}

/// What came of decoding bytes to their end.
struct Decoded {
  var inputs: [PositionInput] = []
  var counts = TrackCounts()
  var fault: String?
  var isComplete = true

  init(_ bytes: [UInt8], _ format: TrackFormat, atATime size: Int = .max) {
    var decoder = TrackDecoder(format)
    var rest = bytes[...]
    while !rest.isEmpty, fault == nil {
      let piece = Array(rest.prefix(size))
      rest = rest.dropFirst(size)
      fault = unsafe decoder.decode(piece.span.bytes, into: &inputs)?.rule
    }
    isComplete = decoder.finish(into: &inputs)
    counts = decoder.counts
  }

  init(_ text: String, _ format: TrackFormat) { self.init(Array(text.utf8), format) }

  var fixes: [Fix] { inputs.compactMap { if case .fix(let fix) = $0 { fix } else { nil } } }
  var readings: [CompassReading] {
    inputs.compactMap { if case .compass(let reading) = $0 { reading } else { nil } }
  }
  var times: [String] { fixes.map { String($0.timestamp.description.prefix(23)) + "Z" } }

  /// The reasons that were counted.
  var oddities: [TrackOddity: Int] {
    TrackOddity.allCases.reduce(into: [:]) { if counts[$1] > 0 { $0[$1] = counts[$1] } }
  }
}

/// What the first bytes of a recording are.
func detected(_ bytes: [UInt8], isWhole: Bool = true) -> RecordingFormat? {
  unsafe RecordingFormat.detect(bytes.span.bytes, isWhole: isWhole)
}

/// Adds the frame to a sentence.
func sentence(_ body: String) -> String {
  let sum = String(body.utf8.reduce(0, ^), radix: 16, uppercase: true)
  return "$\(body)*\(sum.count == 1 ? "0" : "")\(sum)\r\n"
}

/// RMC, 1/100 minute further north for each second.
func rmc(
  _ time: String, _ date: String = "010224", status: String = "A", minutes: String = "10.0000",
  knots: String = "5.0", course: String = "90.0"
) -> String {
  sentence("GPRMC,\(time),\(status),48\(minutes),N,01120.0000,E,\(knots),\(course),\(date),,,A")
}

func gga(_ time: String, quality: Int = 1, minutes: String = "10.0000") -> String {
  sentence("GPGGA,\(time),48\(minutes),N,01120.0000,E,\(quality),08,1.0,500.0,M,47.0,M,,")
}
