import Bytes
import Foundation
import Positioning
import Scanning
import TestSupport
import Testing

@testable import LocationSources

@Suite struct GPSDMessageTests {
  static func read(_ text: String) throws -> GPSDMessage {
    try GPSDMessage(bytes: Array(text.utf8))
  }

  static func report(_ text: String) throws -> GPSDMessage.Report {
    guard case .report(let report) = try read(text) else { throw NoReport() }
    return report
  }

  static let sky: GPSDMessage.Sky = {
    var sky = GPSDMessage.Sky()
    (sky.device, sky.visible, sky.used, sky.hdop) = ("d", 2, 1, 1.5)
    return sky
  }()

  static let attitude: GPSDMessage.Attitude = {
    var attitude = GPSDMessage.Attitude()
    attitude.time = WallClockTime(nanoseconds: 1_270_938_096_500_000_000)
    (attitude.heading, attitude.magneticHeading) = (359, 0)
    return attitude
  }()

  struct NoReport: Error {}

  @Test func aFixHasAllThatGpsdStates() throws {
    let report = try Self.report(
      #"""
      {"class":"TPV","device":"/dev/pts/1","mode":3,"time":"2010-04-30T11:48:20.150Z","leapseconds":18,"ept":0.005,
      "lat":46.498204497,"lon":7.568061439,"altHAE":1343.127,"altMSL":1291.5,"alt":1291.5,"epx":15.319,"epy":17.054,
      "epv":124.484,"track":10.3797,"magtrack":9.3788,"magvar":-1.0,"speed":0.091,"climb":-0.085,"eps":34.11,"epd":5.5,
      "eph":19.0}
      """#)
    let time = MonotonicTime(nanoseconds: 5)
    let fix = try #require(report.fix(at: time, wallClock: WallClockTime(nanoseconds: 0)))
    #expect(fix.time == time)
    #expect(fix.timestamp.description == "2010-04-30T11:48:20.150000Z")
    #expect(fix.place == Coordinate(latitude: 46.498204497, longitude: 7.568061439))
    // The radii of 68 % and 95 % of a circular normal distribution: sqrt(ln 0.32 / ln 0.05) = 0.61672.
    #expect(abs(fix.horizontalAccuracy - 19 * 0.61672) < 1e-3)
    #expect(fix.altitude == 1291.5 && fix.ellipsoidalAltitude == 1343.127)
    #expect(abs(try #require(fix.verticalAccuracy) - 124.484 / 1.96) < 1e-2)
    #expect(fix.speed == 0.091 && fix.course == 10.3797)
    #expect(abs(try #require(fix.speedAccuracy) - 34.11 / 1.96) < 1e-2)
    #expect(abs(try #require(fix.courseAccuracy) - 5.5 / 1.96) < 1e-2)
    #expect(report.declination == -1)
  }

  @Test(
    arguments: [
      // Equal errors along both axes are those of a circle: 10 / 1.96 * 1.5096.
      (#""epx":10.0,"epy":10.0"#, nil, 7.702), (#""eph":0.0"#, nil, 50),
      // What cannot be is not known.
      (#""eph":1e-300"#, nil, 50), (#""eph":1e308"#, 2.0, 18.502), (#""eph":-5"#, nil, 50),
      // 15 m at an HDOP of 1 and 95 %.
      (#""x":1"#, 2.0, 18.502), (#""x":1"#, 99.99, 50), (#""x":1"#, nil, 50),
    ] as [(String, Double?, Double)])
  func anAccuracyComesFromWhatIsKnown(_ errors: String, hdop: Double?, meters: Double) throws {
    let report = try Self.report(
      #"{"class":"TPV","mode":2,"lat":1.0,"lon":2.0,"alt":9,\#(errors)}"#)
    let fix = report.fix(
      at: MonotonicTime(nanoseconds: 0), wallClock: WallClockTime(nanoseconds: 7), hdop: hdop)
    #expect(abs(try #require(fix).horizontalAccuracy - meters) < 1e-3)
    // Without a third dimension the altitude is none, and without a time the receiver's is not known.
    #expect(fix?.altitude == nil)
    #expect(fix?.timestamp == WallClockTime(nanoseconds: 7))
  }

  @Test(arguments: [
    #"{"class":"TPV","mode":1}"#, #"{"class":"TPV"}"#, #"{"class":"TPV","mode":0,"lat":1,"lon":2}"#,
    #"{"class":"TPV","mode":3,"lat":91,"lon":2}"#, #"{"class":"TPV","mode":3,"lat":1e999,"lon":2}"#,
    #"{"class":"TPV","mode":3,"lat":"1","lon":2}"#, #"{"class":"TPV","mode":3,"lat":nan,"lon":2}"#,
    #"{"class":"TPV","mode":1e300,"lat":1}"#,
  ])
  func noFixIsNone(_ text: String) throws {
    let time = MonotonicTime(nanoseconds: 0)
    #expect(try Self.report(text).fix(at: time, wallClock: WallClockTime(nanoseconds: 0)) == nil)
  }

  @Test func otherMessages() throws {
    #expect(
      try Self.read(
        #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#)
        == .version(release: "3.22", major: 3, minor: 14))
    #expect(
      try Self.read(
        #"{"class":"DEVICES","devices":[{"path":"/dev/a","driver":"NMEA0183","#
          + #""activated":"2026-01-01T00:00:00.000Z"},{"class":"DEVICE","path":"/dev/b"},7]}"#
      )
        == .devices([
          .init(path: "/dev/a", isActive: true, driver: "NMEA0183"),
          .init(path: "/dev/b", isActive: false),
        ]))
    #expect(
      try Self.read(#"{"class":"DEVICE","path":"/dev/\u0061\/\"","activated":0}"#)
        == .device(.init(path: #"/dev/a/""#, isActive: false)))
    #expect(
      try Self.read(
        #"{"class":"SKY","device":"d","hdop":1.5,"satellites":[{"PRN":1,"used":true},{"used":false}]}"#
      )
        == .sky(Self.sky))
    #expect(
      try Self.read(#"{"class":"ATT","time":1270938096.5,"heading":-1.0,"mheading":360}"#)
        == .attitude(Self.attitude))
    #expect(try Self.read(#"{"class":"ERROR","message":"Can't"}"#) == .error("Can't"))
    #expect(try Self.read(#" { "class" : "PPS" } "# + "\r\n") == .other("PPS"))
  }

  @Test(arguments: [
    "", "{", "[]", "7", #"{"class":7}"#, #"{"class":"TPV""#, #"{"class":"TPV",}"#, #"{class:1}"#,
    #"{"class":"TPV"}x"#, #"{"class":"\x"}"#, #"{"class":"\u12"}"#, #"{"class":"TPV","mode":0x3}"#,
    #"{"class":"TPV","mode":inf}"#, #"{"class":"TPV","mode":}"#, "!AIVDM,1,1,,A,x,0*00",
    String(repeating: "[", count: 40_000),
    "{\"class\":\"" + String(repeating: "a", count: 66_000) + "\"}",
  ])
  func otherTextIsRefused(_ text: String) {
    #expect(throws: ParseError.self) { try Self.read(text) }
  }

  @Test(arguments: [
    ("2026-11-22T16:30:13Z", "2026-11-22T16:30:13.000000Z"),
    ("1970-01-01T00:00:00.1Z", "1970-01-01T00:00:00.100000Z"),
    ("2199-12-31T23:59:59.123456789012Z", "2199-12-31T23:59:59.123456Z"),
    ("2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000000Z"),
    ("2100-03-01T00:00:00Z", "2100-03-01T00:00:00.000000Z"),
    ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000Z"), ("2100-02-29T00:00:00Z", nil),
    ("2026-13-01T00:00:00Z", nil), ("2026-01-01T00:00:00", "2026-01-01T00:00:00.000000Z"),
    ("2026-01-01T00:00:00.Z", nil),
    ("2026-01-01T00:00:00.1xZ", nil), ("2026-01-01T00:00:00+0", nil), ("1969-12-31T23:59:59Z", nil),
    ("2200-01-01T00:00:00Z", nil), ("2026-00-01T00:00:00Z", nil), ("2026-01-00T24:00:00Z", nil),
  ])
  func times(_ text: String, _ expected: String?) throws {
    guard case .report(let report) = try Self.read(#"{"class":"TPV","time":"\#(text)"}"#) else {
      throw ParseError(.invalid("a report"), at: 0)
    }
    #expect(report.time?.description == expected)
  }

  @Test(arguments: [
    "1.5e300", "-1.5e300", "1e9", "-20001",
  ])
  func numbersOutOfRangeAreNoFields(_ number: String) throws {
    let keys = ["altMSL", "altHAE", "speed", "eph", "epx", "epy", "epv", "eps", "epd", "track"]
    let fields = keys.map { "\"\($0)\":\(number)" }.joined(separator: ",")
    guard
      case .report(let report) = try Self.read(
        #"{"class":"TPV","mode":3,"lat":1,"lon":2,"magvar":1e9,\#(fields)}"#)
    else { throw ParseError(.invalid("a report"), at: 0) }
    let time = MonotonicTime(nanoseconds: 0)
    let place = try #require(Coordinate(latitude: 1, longitude: 2))
    let wallClock = WallClockTime(nanoseconds: 0)
    #expect(
      report.fix(at: time, wallClock: wallClock)
        == Fix(
          time: time, timestamp: wallClock, place: place,
          horizontalAccuracy: 50))
    #expect(report.declination == nil)
  }

  static let recording: [[UInt8]] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Logs/bt451.log.chk")
    let bytes = (try? Data(contentsOf: file)) ?? Data()
    return bytes.split(separator: UInt8(ascii: "\n"))
      .map { Array($0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0) }
      .filter { $0.first == UInt8(ascii: "{") }
  }()

  @Test func aRecordingIsReadWhole() throws {
    var fixes = 0
    for line in Self.recording {
      let message = try GPSDMessage(bytes: line)
      if case .report(let report) = message,
        report.fix(at: MonotonicTime(nanoseconds: 0), wallClock: WallClockTime(nanoseconds: 0))
          != nil
      {
        fixes += 1
      }
      if case .other(let name) = message { Issue.record("\(name) is not known") }
    }
    // grep -c '"class":"TPV".*"lat"'
    #expect(fixes == 40)
  }

  @Test func partsAndRandomChangesNeverTrap() {
    var random = SplitMix64(seed: 13)
    for line in Self.recording.prefix(40) {
      for count in 0..<line.count {
        #expect(throws: ParseError.self) { try GPSDMessage(bytes: Array(line[..<count])) }
      }
      for _ in 0..<50 {
        var changed = line
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          changed[Int.random(in: 0..<line.count, using: &random)] = UInt8.random(
            in: 0...255, using: &random)
        }
        if case .report(let report)? = try? GPSDMessage(bytes: changed) {
          _ = report.fix(
            at: MonotonicTime(nanoseconds: 0), wallClock: WallClockTime(nanoseconds: 0))
        }
      }
    }
  }
}

extension GPSDMessage {
  init(bytes: [UInt8]) throws(ParseError) {
    // The bytes outlive the call.
    try unsafe self.init(parsing: bytes.span.bytes)
  }
}
