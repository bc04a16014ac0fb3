package import Bytes
package import Positioning
import RealModule
package import Scanning

/// A line of gpsd's JSON protocol (gpsd_json(5) of gpsd 3.22), live or from a log.
package enum GPSDMessage: Hashable, Sendable {
  /// What a gpsd sends first.
  case version(release: String, major: Int, minor: Int)
  /// All of the receivers that a gpsd knows.
  case devices([Device])
  /// A receiver that came, went or changed.
  case device(Device)
  /// TPV: time, position and velocity.
  case report(Report)
  /// SKY: the satellites.
  case sky(Sky)
  /// ATT: a compass.
  case attitude(Attitude)
  /// A request was refused, or a receiver cannot be opened.
  case error(String)
  /// A class that is not used here.
  case other(String)

  /// The longest line that is read, in bytes: gpsd 3.22 sends 10,240 at most.
  package static let maximumLength = 1 << 16

  /// A receiver.
  package struct Device: Hashable, Sendable {
    package var path: String
    /// Whether gpsd has opened it.
    package var isActive: Bool
    /// The name of the driver that reads it, once it has sent something.
    package var driver: String?

    package init(path: String, isActive: Bool, driver: String? = nil) {
      self.path = path
      self.isActive = isActive
      self.driver = driver
    }
  }

  /// Satellites in view.
  package struct Sky: Hashable, Sendable {
    package var device: String?
    /// The number of satellites in view; `nil` where the message does not state it.
    package var visible: Int?
    /// The number of satellites that the fix is computed from.
    package var used: Int?
    /// The horizontal dilution of precision.
    package var hdop: Double?

    package init() {}
  }

  /// A compass, in degrees.
  package struct Attitude: Hashable, Sendable {
    package var device: String?
    package var time: WallClockTime?
    /// Clockwise from true north.
    package var heading: Double?
    /// Clockwise from magnetic north; from gpsd 3.24 on.
    package var magneticHeading: Double?

    package init() {}
  }

  /// Reads a line, with or without its end.
  package init(parsing line: RawSpan) throws(ParseError) {
    guard line.byteCount <= Self.maximumLength else {
      throw ParseError(.invalid("a line of at most 65,536 bytes"), at: Self.maximumLength)
    }
    let object = try JSONValue(parsing: line)
    guard let name = object["class"]?.asString else {
      throw ParseError(.invalid("a JSON object with a class"), at: 0)
    }
    switch name {
    case "VERSION":
      self = .version(
        release: object["release"]?.asString ?? "", major: object["proto_major"]?.asInt ?? 0,
        minor: object["proto_minor"]?.asInt ?? 0)
    case "DEVICES": self = .devices((object["devices"]?.asArray ?? []).compactMap(Device.init))
    case "DEVICE": self = Device(object).map { .device($0) } ?? .other(name)
    case "TPV": self = .report(Report(object))
    case "SKY": self = .sky(Sky(object))
    case "ATT": self = .attitude(Attitude(object))
    case "ERROR": self = .error(object["message"]?.asString ?? "")
    default: self = .other(name)
    }
  }
}

extension GPSDMessage.Device {
  init?(_ object: JSONValue) {
    guard let path = object["path"]?.asString else { return nil }
    self.path = path
    // `"activated":0` is a receiver that is closed; otherwise the time at which it was opened stands there.
    isActive = object["activated"].map { $0.asDouble != 0 } ?? false
    driver = object["driver"]?.asString
  }
}

extension GPSDMessage.Sky {
  init(_ object: JSONValue) {
    device = object["device"]?.asString
    let satellites = object["satellites"]?.asArray
    visible = object["nSat"]?.asInt ?? satellites?.count
    used = object["uSat"]?.asInt ?? satellites?.count { $0["used"]?.asBool == true }
    hdop = object["hdop"]?.asDouble
  }
}

extension GPSDMessage.Attitude {
  init(_ object: JSONValue) {
    device = object["device"]?.asString
    time = WallClockTime(gpsd: object["time"])
    heading = object["heading"]?.asDouble.flatMap(GPSDMessage.direction)
    magneticHeading = object["mheading"]?.asDouble.flatMap(GPSDMessage.direction)
  }
}

extension GPSDMessage {
  /// Returns a direction of −360 to 360 degrees as one of at least 0 and less than 360; `nil` for one beyond that.
  static func direction(_ degrees: Double) -> Double? {
    guard abs(degrees) <= 360 else { return nil }
    let turned = degrees < 0 ? degrees + 360 : degrees
    return turned < 360 ? turned : 0
  }
}

// MARK: Fixes

extension GPSDMessage {
  /// Time, position and velocity, as gpsd states them: meters, degrees and meters per second.
  package struct Report: Hashable, Sendable {
    package var device: String?
    /// 0: not known, 1: no fix, 2: no altitude, 3: with altitude.
    package var mode: Int
    /// UTC; gpsd has taken the leap seconds into account.
    package var time: WallClockTime?
    package var place: Coordinate?
    package var altitude: Double?
    package var ellipsoidalAltitude: Double?
    package var speed: Double?
    package var course: Double?
    /// Degrees from true north to magnetic north, clockwise.
    package var declination: Double?
    /// gpsd's `eph`, `epx` (east), `epy` (north), `epv`, `eps` and `epd`, of 95 % confidence.
    package var horizontalError: Double?
    package var eastError: Double?
    package var northError: Double?
    package var verticalError: Double?
    package var speedError: Double?
    package var courseError: Double?

    /// Whether the receiver knows its place.
    package var hasFix: Bool { mode >= 2 }
  }
}

extension GPSDMessage.Report {
  /// The accuracy of a fix of which nothing but its place is known, in meters.
  package static let unknownAccuracy = 50.0
  /// The horizontal error at an HDOP of 1, in meters, of 95 % confidence, by which gpsd computes errors
  /// (`H_UERE_NO_DGPS` in libgpsd_core.c).
  private static let rangeError = 15.0
  /// A normal number lies within so many standard deviations of its mean in 95 of 100 cases.
  private static let deviations95 = 1.959_964
  /// The radius that contains 68 % of a circular normal distribution, in standard deviations along one axis.
  private static let radius68 = 1.509_592
  /// The radius that contains 95 % of it.
  private static let radius95 = 2.447_747

  init(_ object: JSONValue) {
    func error(_ key: String) -> Double? { object[key]?.asDouble.flatMap { $0 > 0 ? $0 : nil } }
    device = object["device"]?.asString
    mode = object["mode"]?.asInt ?? 0
    time = WallClockTime(gpsd: object["time"])
    if let latitude = object["lat"]?.asDouble, let longitude = object["lon"]?.asDouble {
      place = Coordinate(latitude: latitude, longitude: longitude)
    }
    // `alt` is the only one before 3.20, and above mean sea level there.
    altitude = (object["altMSL"] ?? object["alt"])?.asDouble
    ellipsoidalAltitude = object["altHAE"]?.asDouble
    speed = object["speed"]?.asDouble.flatMap { $0 >= 0 ? $0 : nil }
    course = object["track"]?.asDouble.flatMap(GPSDMessage.direction)
    // gpsd 3.22 states a receiver's 13° east as 13, although gpsd_json(5) has it that positive is west, and its own model, too.
    // Its `magtrack` is wrong by twice that.
    declination = object["magvar"]?.asDouble.flatMap { abs($0) <= 180 ? $0 : nil }
    (horizontalError, eastError, northError) = (error("eph"), error("epx"), error("epy"))
    (verticalError, speedError, courseError) = (error("epv"), error("eps"), error("epd"))
  }

  /// Converts the report to a fix, unless the receiver has none.
  ///
  /// gpsd_json(5) guesses that errors are of 95 % confidence, and those that gpsd computes are: they are converted to 68 % for a
  /// circular normal distribution. Where a receiver states its own errors, gpsd passes them on, whatever their
  /// confidence. Without any error the accuracy follows from the HDOP, or is ``unknownAccuracy``.
  ///
  /// - Parameters:
  ///   - time: When the report was received.
  ///   - wallClock: The wall-clock time then, for a receiver that does not know the time.
  ///   - hdop: The latest horizontal dilution of precision of the receiver.
  /// - Returns: The fix, or `nil`.
  package func fix(
    at time: MonotonicTime, wallClock: WallClockTime, hdop: Double? = nil
  ) -> Fix? {
    guard hasFix, let place else { return nil }
    let accuracy: Double =
      if let horizontalError {
        horizontalError / Self.radius95 * Self.radius68
      } else if let eastError, let northError {
        .hypot(eastError, northError) / Double.sqrt(2) / Self.deviations95 * Self.radius68
      } else if let hdop, hdop > 0, hdop < 99 {
        hdop * Self.rangeError / Self.radius95 * Self.radius68
      } else {
        Self.unknownAccuracy
      }
    var fix = Fix(
      time: time, timestamp: self.time ?? wallClock, place: place, horizontalAccuracy: accuracy)
    if mode >= 3 {
      (fix.altitude, fix.ellipsoidalAltitude) = (altitude, ellipsoidalAltitude)
      if altitude != nil || ellipsoidalAltitude != nil {
        fix.verticalAccuracy = verticalError.map { $0 / Self.deviations95 }
      }
    }
    fix.speed = speed
    fix.speedAccuracy = speed.flatMap { _ in speedError.map { $0 / Self.deviations95 } }
    fix.course = course
    fix.courseAccuracy = course.flatMap { _ in courseError.map { $0 / Self.deviations95 } }
    return fix
  }
}

extension WallClockTime {
  /// Reads gpsd's time: `2026-01-01T00:00:00.000Z`, or in old versions seconds since 1970; from 1970 to 2199.
  init?(gpsd value: JSONValue?) {
    if let seconds = value?.asDouble {
      guard seconds >= 0, seconds < 7_258_118_400 else { return nil }
      self.init(nanoseconds: Int64(seconds * 1e9))
      return
    }
    guard let text = value?.asString, let time = WallClockTime(utc: text) else { return nil }
    self = time
  }

  /// Reads a time of UTC as RFC 3339 writes it, with a fraction of a second or without: from 1970 to 2199.
  package init?(utc text: String) {
    let bytes = Array(text.utf8.prefix(39))
    guard (20...38).contains(bytes.count), bytes.last == UInt8(ascii: "Z") else { return nil }
    func number(_ range: Range<Int>) -> Int64? {
      var value: Int64 = 0
      for byte in bytes[range] {
        guard (0x30...0x39).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - 0x30)
      }
      return value
    }
    let marks: [(Int, Unicode.Scalar)] = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")]
    guard marks.allSatisfy({ bytes[$0] == UInt8(ascii: $1) }),
      let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      (1970..<2200).contains(year), (1...12).contains(month), day >= 1, hour < 24, minute < 60,
      second <= 60
    else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard day <= days[Int(month) - 1] else { return nil }
    let powers: [Int64] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]
    var fraction: Int64 = 0
    if bytes.count > 20 {
      let digits = 20..<bytes.count - 1
      guard bytes[19] == UInt8(ascii: "."), !digits.isEmpty,
        number(digits) != nil
      else { return nil }
      let kept = min(digits.count, 9)
      fraction = (number(20..<20 + kept) ?? 0) * powers[9 - kept]
    }
    // The days before the year: every fourth year has one more, but not every hundredth.
    let before = year - 1
    let leaps = before / 4 - before / 100 + before / 400 - 477
    let total =
      (year - 1970) * 365 + leaps + days.prefix(Int(month) - 1).reduce(0, +) + day - 1
    let seconds = total * 86400 + hour * 3600 + minute * 60 + second
    self.init(nanoseconds: seconds * Self.nanosecondsPerSecond + fraction)
  }
}
