package import Bytes
package import Positioning
import RealModule
package import Scanning

/// A line of gpsd's JSON protocol (gpsd_json(5) of gpsd 3.22), live or from a log.
package enum GPSDMessage: Hashable, Sendable {
  /// VERSION, the first message.
  case version(release: String, major: Int, minor: Int)
  /// DEVICES: all receivers of the gpsd.
  case devices([Device])
  /// DEVICE: a receiver that was added, removed or changed.
  case device(Device)
  /// TPV: time, position and velocity.
  case report(Report)
  /// SKY: satellites.
  case sky(Sky)
  /// ATT: a compass.
  case attitude(Attitude)
  /// ERROR: a request was refused, or a receiver cannot be opened.
  case error(String)
  case other(String)

  /// The maximum length of a line, in bytes. gpsd 3.22 sends at most 10,240.
  package static let maximumLength = 1 << 16

  package struct Device: Hashable, Sendable {
    package var path: String
    /// Whether gpsd has opened the receiver.
    package var isActive: Bool
    /// The name of its driver, once the receiver has sent something.
    package var driver: String?
  }

  package struct Sky: Hashable, Sendable {
    package var device: String?
    /// The number in view; `nil` if the message does not contain it.
    package var visible: Int?
    package var used: Int?
    package var hdop: Double?
  }

  package struct Attitude: Hashable, Sendable {
    package var device: String?
    package var time: WallClockTime?
    /// Clockwise from true north.
    package var heading: Double?
    /// Clockwise from magnetic north; since gpsd 3.24.
    package var magneticHeading: Double?
  }

  /// Parses a line, with or without its line end.
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
    // `activated` is 0 for a closed receiver, else the time at which it was opened.
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
    hdop = object["hdop"]?.asDouble?.within(FieldRange.dilution)
  }
}

extension GPSDMessage.Attitude {
  init(_ object: JSONValue) {
    device = object["device"]?.asString
    time = WallClockTime(gpsd: object["time"])
    heading = object["heading"]?.asDouble.flatMap(bearing)
    magneticHeading = object["mheading"]?.asDouble.flatMap(bearing)
  }
}

// MARK: Fixes

extension GPSDMessage {
  /// A position report in gpsd's units: meters, degrees and meters per second.
  package struct Report: Hashable, Sendable {
    package var device: String?
    /// 0: unknown, 1: no fix, 2: no altitude, 3: with altitude.
    package var mode: Int
    /// UTC; gpsd has applied the leap seconds.
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

    package var hasFix: Bool { mode >= 2 }
  }
}

extension GPSDMessage.Report {
  init(_ object: JSONValue) {
    func number(_ key: String, _ range: ClosedRange<Double>) -> Double? {
      object[key]?.asDouble?.within(range)
    }
    func error(_ key: String) -> Double? {
      number(key, FieldRange.error).flatMap { $0 >= FieldRange.smallestError ? $0 : nil }
    }
    device = object["device"]?.asString
    mode = object["mode"]?.asInt ?? 0
    time = WallClockTime(gpsd: object["time"])
    if let latitude = object["lat"]?.asDouble, let longitude = object["lon"]?.asDouble {
      place = Coordinate(latitude: latitude, longitude: longitude)
    }
    // Before 3.20, `alt` is the only one, and is above mean sea level.
    altitude = number(object["altMSL"] == nil ? "alt" : "altMSL", FieldRange.altitude)
    ellipsoidalAltitude = number("altHAE", FieldRange.altitude)
    speed = number("speed", FieldRange.speed)
    course = object["track"]?.asDouble.flatMap(bearing)
    // gpsd 3.22 reports a receiver's 13° east as 13, although gpsd_json(5) and its own model define
    // west as positive. Its `magtrack` is wrong by twice that.
    declination = number("magvar", -180...180)
    (horizontalError, eastError, northError) = (error("eph"), error("epx"), error("epy"))
    (verticalError, speedError, courseError) = (error("epv"), error("eps"), error("epd"))
  }

  /// Converts the report to a fix; `nil` if it has none. `wallClock` is for receivers without time.
  ///
  /// gpsd_json(5) presumes 95 % confidence for errors, which is true for those that gpsd computes.
  /// They are converted to 68 % for a circular normal distribution. gpsd passes on a receiver's own
  /// errors, whatever their confidence. Without errors, the accuracy follows from the HDOP, or is
  /// ``Dilution/unknownAccuracy``.
  package func fix(
    at time: MonotonicTime, wallClock: WallClockTime, hdop: Double? = nil
  ) -> Fix? {
    guard hasFix, let place else { return nil }
    let accuracy: Double =
      if let horizontalError {
        horizontalError / Dilution.radius95 * Dilution.radius68
      } else if let eastError, let northError {
        .hypot(eastError, northError) / Double.sqrt(2) / Dilution.deviations95 * Dilution.radius68
      } else {
        Dilution.horizontalAccuracy(hdop, isDifferential: false)
      }
    var fix = Fix(
      time: time, timestamp: self.time ?? wallClock, place: place, horizontalAccuracy: accuracy)
    if mode >= 3 {
      (fix.altitude, fix.ellipsoidalAltitude) = (altitude, ellipsoidalAltitude)
      if altitude != nil || ellipsoidalAltitude != nil {
        fix.verticalAccuracy = verticalError.map { $0 / Dilution.deviations95 }
      }
    }
    fix.speed = speed
    fix.speedAccuracy = speed.flatMap { _ in speedError.map { $0 / Dilution.deviations95 } }
    fix.course = course
    fix.courseAccuracy = course.flatMap { _ in courseError.map { $0 / Dilution.deviations95 } }
    return fix
  }
}

extension WallClockTime {
  /// Reads `2026-01-01T00:00:00.000Z`, or seconds since 1970 as in old versions; 1970 to 2199.
  init?(gpsd value: JSONValue?) {
    if let seconds = value?.asDouble {
      guard seconds >= 0, seconds < 7_258_118_400 else { return nil }
      self.init(nanoseconds: Int64(seconds * 1e9))
      return
    }
    guard let text = value?.asString else { return nil }
    self.init(xml: Array(text.utf8)[...])
  }
}
