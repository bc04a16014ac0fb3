import Foundation
import TestSupport

/// A way over the ground, made leg by leg, with one fix a second, and what tracks record of it.
///
/// Its geometry is a plane around the start, by the lengths of a degree there (NIMA TR8350.2), so that it owes nothing
/// to the code under test. It is right to 0.1 % within 30 km.
struct Route {
  struct Point {
    var north = 0.0
    var east = 0.0
    var second = 0
    var accuracy = 5.0
    var altitude = 30.0
    var speed = 0.0
    var course = 0.0

    var latitude: Double { 52.5 + north / 111_276.8 }
    /// A degree of longitude shrinks on the way to the pole.
    var longitude: Double {
      13.4 + east / (67_909.9 * cos(latitude * .pi / 180) / cos(52.5 * .pi / 180))
    }
  }

  static let start = Date(timeIntervalSince1970: 1_767_225_600)
  private(set) var points = [Point()]
  private var random = SplitMix64(seed: 20260101)

  /// Moves straight ahead.
  mutating func go(
    _ meters: Double, toward course: Double = 0, at speed: Double, climb: Double = 0
  ) {
    guard let origin = points.last else { return }
    let seconds = Int((meters / speed).rounded())
    for second in 1...seconds {
      var point = origin
      let way = meters * Double(second) / Double(seconds)
      point.north += way * cos(course * .pi / 180)
      point.east += way * sin(course * .pi / 180)
      point.altitude += climb * Double(second) / Double(seconds)
      point.second += second
      (point.speed, point.course) = (speed, course)
      points.append(point)
    }
  }

  /// Stays, with a little jitter.
  mutating func stay(_ seconds: Int, every interval: Int = 5) {
    guard let origin = points.last else { return }
    for second in stride(from: interval, through: seconds, by: interval) {
      var point = origin
      point.north += Double.random(in: -4...4, using: &random)
      point.east += Double.random(in: -4...4, using: &random)
      (point.second, point.speed) = (point.second + second, 0)
      points.append(point)
    }
  }

  /// Changes every so many points.
  mutating func spoil(every count: Int, _ change: (inout Point) -> Void) {
    for index in points.indices where index % count == count - 1 { change(&points[index]) }
  }

  mutating func spoil(_ index: Int, _ change: (inout Point) -> Void) { change(&points[index]) }

  private static func time(_ point: Point) -> String {
    Self.start.addingTimeInterval(Double(point.second)).formatted(.iso8601)
  }

  /// The route as GPX.
  var gpx: String {
    let points = points.map { point in
      """
      <trkpt lat="\(point.latitude)" lon="\(point.longitude)"><ele>\(point.altitude)</ele>\
      <time>\(Self.time(point))</time><extensions><accuracy>\(point.accuracy)</accuracy>\
      <speed>\(point.speed)</speed><course>\(point.course)</course></extensions></trkpt>
      """
    }
    return """
      <?xml version="1.0"?><gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>
      \(points.joined(separator: "\n"))
      </trkseg></trk></gpx>
      """
  }

  /// The route as gpsd's JSON, with a compass that turns by so many degrees a second.
  func gpsd(turning degrees: Double) -> String {
    points.map { point in
      let heading = (degrees * Double(point.second)).truncatingRemainder(dividingBy: 360)
      return """
        {"class":"TPV","device":"/dev/ttyS0","mode":3,"time":"\(Self.time(point))",\
        "lat":\(point.latitude),"lon":\(point.longitude),"eph":\(point.accuracy)}
        {"class":"ATT","device":"/dev/ttyS0","time":"\(Self.time(point))","mheading":\(heading)}
        """
    }.joined(separator: "\n") + "\n"
  }

  /// The route as NMEA 0183, of an accuracy of 5.5 m.
  var nmea: String {
    points.map { point in
      // 20260131235959, of which RMC has the time and the date backward.
      let time = Self.time(point).filter(\.isNumber)
      let date = [6, 4, 2].map { time.dropFirst($0).prefix(2) }.joined()
      func angle(_ degrees: Double, _ width: Int) -> String {
        let minutes = (degrees - degrees.rounded(.down)) * 60
        return String(format: "%0\(width)d%09.6f", Int(degrees), minutes)
      }
      let place = "\(angle(point.latitude, 2)),N,\(angle(point.longitude, 3)),E"
      return [
        "GPRMC,\(time.suffix(6)).00,A,\(place),0.0,0.0,\(date),,,A",
        "GPGGA,\(time.suffix(6)).00,\(place),1,09,0.6,\(point.altitude),M,0.0,M,,",
      ].map { body in
        let sum = body.utf8.reduce(0, ^)
        return "$\(body)*\(String(format: "%02X", sum))\r\n"
      }.joined()
    }.joined()
  }
}
