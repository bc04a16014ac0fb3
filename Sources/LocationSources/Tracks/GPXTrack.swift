import Positioning
import Scanning

/// A decoder of the track points of GPX 1.0 and 1.1.
///
/// A track point (`trkpt`) with a time is a fix. Others, and route points and waypoints, which may
/// be planned, are only counted. NaN and -1, which apps write for unknown values, are ignored;
/// other invalid values make the point invalid.
///
/// Speed, course and accuracies are in the point (GPX 1.0) or its extensions, in any namespace and
/// letter case. A missing accuracy follows from `hdop`, as in NMEA.
struct GPXTrack: TrackFormatDecoder {
  private var scanner = XMLScanner()
  private var offset = 0
  private var point: Point?
  private var depth = 0

  private struct Point {
    var place: Coordinate?
    var time: WallClockTime?
    var values: [Field: Double] = [:]
    var isMalformed = false
    var hasNoFix = false
    var isFlat = false
  }

  private enum Field {
    case elevation, separation, speed, course, hdop, vdop, horizontal, vertical, speedAccuracy,
      courseAccuracy

    init?(_ name: String) {
      switch name {
      case "ele": self = .elevation
      case "geoidheight": self = .separation
      case "speed": self = .speed
      case "course", "bearing": self = .course
      case "hdop": self = .hdop
      case "vdop": self = .vdop
      case "accuracy", "hacc", "h_acc", "horizontalaccuracy", "horizontal_accuracy",
        "accuracy_horizontal":
        self = .horizontal
      case "vacc", "v_acc", "verticalaccuracy", "vertical_accuracy", "accuracy_vertical":
        self = .vertical
      case "speedaccuracy", "speed_accuracy", "sacc": self = .speedAccuracy
      case "courseaccuracy", "course_accuracy", "bearing_accuracy", "cacc": self = .courseAccuracy
      default: return nil
      }
    }

    var range: ClosedRange<Double> {
      switch self {
      case .elevation: FieldRange.altitude
      case .separation: FieldRange.separation
      case .speed: FieldRange.speed
      case .course: FieldRange.course
      case .hdop, .vdop: FieldRange.dilution
      case .horizontal, .vertical, .speedAccuracy, .courseAccuracy: FieldRange.error
      }
    }
  }

  mutating func decode(_ bytes: RawSpan, into output: inout TrackOutput) -> TrackDecoder.Fault? {
    for index in 0..<bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      var events: [XMLScanner.Event] = []
      do throws(XMLScanner.Fault) {
        try scanner.take(byte, into: &events)
      } catch {
        return (error.rule, offset)
      }
      for event in events { take(event, &output) }
      offset += 1
    }
    return nil
  }

  func finish(into output: inout TrackOutput) -> Bool { scanner.isAtEnd }

  private mutating func take(_ event: XMLScanner.Event, _ output: inout TrackOutput) {
    switch event {
    case .start(let name, let attributes):
      if point != nil {
        depth += 1
      } else if name.elementsEqual("trkpt".utf8) {
        output.counts.records += 1
        depth = 0
        point = Point(place: coordinate(attributes))
      } else if name.elementsEqual("rtept".utf8) || name.elementsEqual("wpt".utf8) {
        output.count(.notRecorded)
      }
    case .end(let name, let text):
      guard point != nil else { return }
      if depth == 0 {
        if let point { deliver(point, &output) }
        point = nil
      } else {
        depth -= 1
        if text.count > 0, text.count < 64 { read(name, text, isDirect: depth == 0) }
      }
    }
  }

  private func coordinate(
    _ attributes: [(name: ArraySlice<UInt8>, value: [UInt8])]
  ) -> Coordinate? {
    func number(_ name: String) -> Double? {
      attributes.first { $0.name.elementsEqual(name.utf8) }.flatMap { real($0.value) }
    }
    guard let latitude = number("lat"), let longitude = number("lon"), abs(longitude) <= 360 else {
      return nil
    }
    return Coordinate(latitude: latitude, longitude: longitude)
  }

  /// Parses a decimal, also with an exponent, which some programs write.
  private func real(_ text: [UInt8]) -> Double? {
    guard let first = text.first, first != UInt8(ascii: "n"), first != UInt8(ascii: "N"),
      text.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }),
      let number = decimal(text[...]) ?? Double(String(decoding: text, as: UTF8.self)),
      number.isFinite
    else { return nil }
    return number
  }

  private mutating func read(_ name: ArraySlice<UInt8>, _ text: [UInt8], isDirect: Bool) {
    let word = String(decoding: name.prefix(32), as: UTF8.self).lowercased()
    if isDirect, word == "time" {
      point?.time = WallClockTime(xml: text[...])
      if point?.time == nil { point?.isMalformed = true }
    } else if isDirect, word == "fix" {
      point?.hasNoFix = text.elementsEqual("none".utf8)
      point?.isFlat = text.elementsEqual("2d".utf8)
    } else if let field = Field(word) {
      let number = real(text)
      guard !isUnknown(field, number, text) else { return }
      guard let number, field.range.contains(number) else {
        // The contents of extensions are up to the app.
        if isDirect { point?.isMalformed = true }
        return
      }
      point?.values[field] = number
    }
  }

  /// Returns `true` for a value that apps write if it is unknown.
  private func isUnknown(_ field: Field, _ number: Double?, _ text: [UInt8]) -> Bool {
    guard let number else { return String(decoding: text, as: UTF8.self).lowercased() == "nan" }
    return switch field {
    case .elevation, .separation: false
    case .course: number == -1
    default: number < 0
    }
  }

  private func deliver(_ point: Point, _ output: inout TrackOutput) {
    if point.hasNoFix { return output.count(.noFix) }
    guard !point.isMalformed, let place = point.place else { return output.count(.malformed) }
    guard let time = point.time else { return output.count(.undated) }
    let values = point.values
    func positive(_ field: Field) -> Double? { values[field].flatMap { $0 > 0 ? $0 : nil } }
    var fix = Fix(
      time: MonotonicTime(nanoseconds: 0), timestamp: time, place: place,
      horizontalAccuracy: positive(.horizontal)
        ?? Dilution.horizontalAccuracy(positive(.hdop), isDifferential: false))
    if !point.isFlat, let elevation = values[.elevation] {
      fix.altitude = elevation
      fix.ellipsoidalAltitude = values[.separation].map { elevation + $0 }
      fix.verticalAccuracy =
        positive(.vertical)
        ?? Dilution.verticalAccuracy(positive(.vdop), isDifferential: false)
    }
    fix.speed = values[.speed]
    fix.speedAccuracy = fix.speed == nil ? nil : positive(.speedAccuracy)
    fix.course = values[.course].flatMap(bearing)
    fix.courseAccuracy = fix.course == nil ? nil : positive(.courseAccuracy)
    output.add(fix)
  }
}
