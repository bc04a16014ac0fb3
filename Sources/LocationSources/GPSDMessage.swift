package import Bytes
package import Positioning
import RealModule
package import Scanning

/// A line of gpsd's JSON protocol (gpsd_json(5) of gpsd 3.22), live or from a log.
package enum GPSDMessage: Hashable, Sendable {
  case version(release: String, major: Int, minor: Int)
  case devices([Device])
  /// DEVICE: a receiver that was added, removed or changed.
  case device(Device)
  case report(Report)
  case sky(Sky)
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

  /// Returns degrees clockwise from magnetic north, given those from true to magnetic north.
  func magneticHeading(declination: Double?) -> Double? {
    magneticHeading
      ?? heading.flatMap { heading in declination.flatMap { bearing(heading - $0) } }
  }
}

extension GPSDMessage {
  /// A position report.
  package struct Report: Hashable, Sendable {
    package let device: String?
    /// 0: unknown, 1: no fix, 2: no altitude, 3: with altitude.
    package let mode: Int
    /// UTC; gpsd has applied the leap seconds.
    package let time: WallClockTime?
    /// Degrees from true north to magnetic north, clockwise.
    package let declination: Double?
    /// The fix without its times, and with an accuracy of 0 if no error is known.
    private var stated: Fix?

    package var hasFix: Bool { mode >= 2 }
  }
}

extension GPSDMessage.Report {
  init(_ object: JSONValue) {
    func number(_ key: String, _ range: ClosedRange<Double>) -> Double? {
      object[key]?.asDouble?.within(range)
    }
    /// Returns an error in standard deviations. gpsd_json(5) presumes 95 % confidence, which is
    /// true for those that gpsd computes; it passes on a receiver's own, whatever their confidence.
    func deviation(_ key: String, in deviations: Double = Dilution.deviations95) -> Double? {
      number(key, FieldRange.smallestError...FieldRange.error.upperBound).map { $0 / deviations }
    }
    device = object["device"]?.asString
    mode = object["mode"]?.asInt ?? 0
    time = WallClockTime(gpsd: object["time"])
    // gpsd 3.22 reports a receiver's 13° east as 13, although gpsd_json(5) and its own model define
    // west as positive. Its `magtrack` is wrong by twice that.
    declination = number("magvar", -180...180)
    guard mode >= 2, let latitude = object["lat"]?.asDouble,
      let longitude = object["lon"]?.asDouble,
      let place = Coordinate(latitude: latitude, longitude: longitude)
    else { return }
    var fix = Fix(
      time: MonotonicTime(nanoseconds: 0), timestamp: WallClockTime(nanoseconds: 0), place: place,
      horizontalAccuracy: 0)
    if let radius = deviation("eph", in: Dilution.radius95) {
      fix.horizontalAccuracy = radius * Dilution.radius68
    } else if let east = deviation("epx"), let north = deviation("epy") {
      fix.horizontalAccuracy = .hypot(east, north) / Double.sqrt(2) * Dilution.radius68
    }
    if mode >= 3 {
      // Before 3.20, `alt` is the only one, and is above mean sea level.
      fix.altitude = number(object["altMSL"] == nil ? "alt" : "altMSL", FieldRange.altitude)
      fix.ellipsoidalAltitude = number("altHAE", FieldRange.altitude)
      if fix.altitude ?? fix.ellipsoidalAltitude != nil { fix.verticalAccuracy = deviation("epv") }
    }
    fix.speed = number("speed", FieldRange.speed)
    fix.speedAccuracy = fix.speed.flatMap { _ in deviation("eps") }
    fix.course = object["track"]?.asDouble.flatMap(bearing)
    fix.courseAccuracy = fix.course.flatMap { _ in deviation("epd") }
    stated = fix
  }

  /// Returns the report's fix; `nil` if it has none. `wallClock` is for receivers without time. If
  /// no error is known, the accuracy follows from the HDOP.
  package func fix(
    at time: MonotonicTime, wallClock: WallClockTime, hdop: Double? = nil
  ) -> Fix? {
    guard var fix = stated else { return nil }
    fix.time = time
    fix.timestamp = self.time ?? wallClock
    if fix.horizontalAccuracy == 0 {
      fix.horizontalAccuracy = Dilution.horizontalAccuracy(hdop, isDifferential: false)
    }
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

/// A buffer that splits a stream of gpsd's into lines. It drops and counts lines that are too long.
struct LineBuffer {
  private var part: [UInt8] = []
  private var isTooLong = false
  private(set) var droppedLines = 0

  /// Appends bytes, and returns the lines that they complete, without line ends.
  mutating func append(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var rest = bytes
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      add(rest[..<end])
      if !isTooLong, !part.isEmpty { lines.append(part) }
      part = []
      isTooLong = false
      rest = rest[(end + 1)...]
    }
    add(rest)
    return lines
  }

  private mutating func add(_ bytes: ArraySlice<UInt8>) {
    guard !isTooLong else { return }
    if part.count + bytes.count > GPSDMessage.maximumLength {
      part = []
      isTooLong = true
      droppedLines += 1
    } else {
      part += bytes
    }
  }
}
