import Foundation
import Positioning
import Scanning
import TestSupport

/// A drive past circles, with stays, made from a seed: where the receiver is, and what it sends.
struct Drive {
  struct Point {
    /// Seconds since the start.
    var second: Int
    /// Where the receiver is, and where it reports to be.
    var truth: Coordinate
    var place: Coordinate
    /// In degrees, and in meters per second.
    var course: Double
    var speed: Double
  }

  /// A crossing of a circle.
  struct Crossing: Hashable, CustomStringConvertible {
    var circle: String
    var isEntry: Bool
    var description: String { (isEntry ? "+" : "-") + circle }
  }

  private(set) var points: [Point] = []
  private(set) var circles: [CircularRegion] = []
  /// The seconds of arrival and departure of each stay.
  private(set) var stays: [(arrival: Int, departure: Int)] = []
  let start: WallClockTime

  /// Creates a drive to the east with a stay at two of its corners, by a receiver whose clock is right, or late by hours so that
  /// the drive can be played faster than it was.
  init(seed: UInt64, interval: Int, stay: Int, lead: Int, isInRealTime: Bool = false) throws {
    var random = SplitMix64(seed: seed)
    guard let home = Coordinate(latitude: 52.5, longitude: 13.4) else { throw CancellationError() }
    var (corner, second) = (home, 0)
    let speed = 15.0
    // GeoClue takes the date from today, and a time of day that is to come from yesterday.
    var began = WallClockTime.now.nanoseconds / WallClockTime.nanosecondsPerSecond - 30
    if !isInRealTime {
      began -= 10_800
      if began % 86_400 > 79_200 { began -= 7200 }
    }
    start = WallClockTime(nanoseconds: began * WallClockTime.nanosecondsPerSecond)
    circles = [try CircularRegion(identifier: "home", center: home, radius: 500)]
    func rest(_ seconds: Int) {
      for _ in 0..<seconds / interval { add(corner, 0, 0, at: &second, interval, &random) }
    }
    rest(lead * interval)
    let lengths = [1400.0, 2400, 1400, 1800]
    for (leg, length) in lengths.enumerated() {
      let course = random.uniform(45, 135)
      for step in 1...Int(length / speed / Double(interval)) {
        let place = corner.moved(speed * Double(interval * step), toward: course)
        add(place, course, speed, at: &second, interval, &random)
      }
      if leg == 1 {
        let middle = corner.moved(length / 2, toward: course)
        circles.append(try CircularRegion(identifier: "bridge", center: middle, radius: 300))
      }
      corner = points.last?.truth ?? corner
      if stay > 0, leg == 0 || leg == 2 {
        let arrival = second
        rest(stay)
        stays.append((arrival, second))
      }
      let center = corner.moved(random.uniform(0, 80), toward: random.uniform(0, 360))
      circles.append(
        try CircularRegion(
          identifier: "corner \(leg)", center: center, radius: random.uniform(300, 400)))
    }
    let aside = home.moved(4000, toward: 0)
    circles.append(try CircularRegion(identifier: "aside", center: aside, radius: 1000))
    // A tail in the last circle.
    rest(10 * interval)
  }

  private mutating func add(
    _ truth: Coordinate, _ course: Double, _ speed: Double, at second: inout Int, _ interval: Int,
    _ random: inout SplitMix64
  ) {
    let place = truth.moved(abs(2 * random.normal()), toward: random.uniform(0, 360))
    points.append(
      Point(second: second, truth: truth, place: place, course: course, speed: speed))
    second += interval
  }

  /// The crossings of the receiver's true way, each with its second.
  var crossings: [(crossing: Crossing, second: Int)] {
    var all: [(Crossing, Int)] = []
    for circle in circles {
      var wasInside = circle.distanceOutside(points[0].truth) < 0
      for point in points.dropFirst() {
        let isInside = circle.distanceOutside(point.truth) < 0
        if isInside != wasInside {
          all.append((Crossing(circle: circle.identifier, isEntry: isInside), point.second))
        }
        wasInside = isInside
      }
    }
    return all.sorted { $0.1 < $1.1 }
  }

  /// The second of the drive at a time of its receiver, whatever the day.
  func second(_ time: WallClockTime) -> Double {
    let seconds = time.seconds(since: start).truncatingRemainder(dividingBy: 86_400)
    return seconds < -43_200 ? seconds + 86_400 : seconds > 43_200 ? seconds - 86_400 : seconds
  }

  private func time(_ point: Point) -> WallClockTime {
    WallClockTime(
      nanoseconds: start.nanoseconds / 1_000_000_000 * 1_000_000_000 + Int64(point.second)
        * 1_000_000_000)
  }

  /// The sentences of a receiver at a point.
  func sentences(_ index: Int) -> [String] {
    let point = points[index]
    let clock = time(point).description
    let date = clock.dropFirst(2).prefix(8).split(separator: "-").reversed().joined()
    let hours = clock.dropFirst(11).prefix(8).replacing(":", with: "") + ".00"
    func minutes(_ degrees: Double, _ digits: Int, _ signs: (String, String)) -> String {
      let size = abs(degrees)
      let whole = String("000\(Int(size))".suffix(digits))
      let minutes = String(format: "%08.5f", (size - size.rounded(.down)) * 60)
      return "\(whole)\(minutes),\(degrees < 0 ? signs.1 : signs.0)"
    }
    let latitude = minutes(point.place.latitude, 2, ("N", "S"))
    let longitude = minutes(point.place.longitude, 3, ("E", "W"))
    let speed = String(format: "%.2f", point.speed / 0.514_444)
    let course = String(format: "%06.2f", point.course)
    return [
      "GPRMC,\(hours),A,\(latitude),\(longitude),\(speed),\(course),\(date),,,A",
      "GPGGA,\(hours),\(latitude),\(longitude),1,08,1.0,30.0,M,-25.0,M,,",
      "GPGSA,A,3,01,02,03,04,05,06,07,08,,,,,1.8,1.0,1.5",
    ]
  }

  /// The track as GPX.
  var gpx: String {
    let points = points.map { point in
      "<trkpt lat=\"\(point.place.latitude)\" lon=\"\(point.place.longitude)\"><ele>30</ele>"
        + "<time>\(time(point).description)</time><hdop>1.0</hdop></trkpt>"
    }
    return "<?xml version=\"1.0\"?>\n<gpx version=\"1.1\" creator=\"test\"><trk><trkseg>\n"
      + points.joined(separator: "\n") + "\n</trkseg></trk></gpx>\n"
  }
}
