import Advertising
import Clocks
import TestSupport
import Testing

@testable import FleetReports

@Suite struct ReceiverReportTests {
  private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
  private static let text =
    #"{"version":1,"site":"museum","receiver":"hall-2","boot":"00c0ffee00000001","number":7,"#
    + #""time":"2026-11-27T11:59:59.250Z","seconds":1.001,"receptionLost":null,"beacons":["#
    + #"{"beacon":"\#(uuid):1:65535","sightings":9,"rssi":-61.33,"variance":4.5,"#
    + #""maximum":-58,"power":-59},"#
    + #"{"beacon":"\#(uuid):2:0","sightings":1,"rssi":null,"variance":null,"#
    + #""maximum":null,"power":127}]}"#

  private static var report: ReceiverReport {
    ReceiverReport(
      site: "museum", receiver: "hall-2", boot: 0x00C0_FFEE_0000_0001, number: 7,
      // date -u -d '2026-11-27 11:59:59' +%s
      time: WallClockTime(nanoseconds: 1_795_780_799_250_000_000), seconds: 1.001,
      beacons: [
        .init(
          beacon(1, 65535), sightings: 9,
          signal: .init(mean: -61.33, variance: 4.5, maximum: -58), measuredPower: -59),
        .init(beacon(2, 0), sightings: 1, signal: nil, measuredPower: 127),
      ])
  }

  private static func beacon(_ major: UInt16, _ minor: UInt16) -> BeaconIdentity {
    BeaconIdentity(
      uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0), major: major,
      minor: minor)
  }

  private func parse(_ bytes: [UInt8]) throws(ReportError) -> ReceiverReport {
    // The array outlives the call.
    unsafe try ReceiverReport(parsing: bytes.span.bytes)
  }

  private func parse(_ text: String) throws(ReportError) -> ReceiverReport {
    try parse(Array(text.utf8))
  }

  @Test func text() throws {
    #expect(String(decoding: Self.report.json, as: UTF8.self) == Self.text)
    #expect(try parse(Self.text) == Self.report)
  }

  @Test(
    arguments: [
      (0.0, ""), (1.999, ""), (-60, ""), (2, #","delay":2"#), (61.25, #","delay":61.25"#),
      (1e9, #","delay":10000000"#),
    ])
  func `a report that is sent later states the delay`(seconds: Double, member: String) throws {
    var bytes = Self.report.json
    ReceiverReport.addDelay(
      to: &bytes, sentAt: Self.report.time.advanced(by: Int64(seconds * 1e9)))
    #expect(String(decoding: bytes, as: UTF8.self) == Self.text.dropLast() + member + "}")
    let delay = try parse(bytes).delay
    #expect(delay == (seconds < 2 ? 0 : min(seconds, 1e7)))
  }

  @Test func `what is not a report gets no delay`() {
    for text in ["", "{}", #"{"a":1,"time":"}"#, #"{"a":1,"time":"x"}"#] {
      var bytes = Array(text.utf8)
      ReceiverReport.addDelay(to: &bytes, sentAt: .now)
      #expect(bytes == Array(text.utf8))
    }
  }

  @Test func topic() {
    #expect(Self.report.topic == "fleet/\(digits("museum"))/museum/hall-2/seen")
  }

  // The vectors of the hash are those of its authors (draft-eastlake-fnv): "" and "a", "foobar".
  @Test(arguments: [("", 0x811C_9DC5), ("a", 0xE40C_292C), ("foobar", 0xBF9C_F968)])
  func shards(name: String, hash: Int) {
    #expect(FleetTopic.shard(ofSite: name) == hash % 64)
  }

  private func digits(_ site: String) -> String {
    let shard = FleetTopic.shard(ofSite: site)
    return "\(shard / 10)\(shard % 10)"
  }

  @Test(
    arguments: [
      ("a", true), ("Z_-9", true), (String(repeating: "x", count: 64), true), ("", false),
      (String(repeating: "x", count: 65), false), ("a.b", false), ("a/b", false), ("é", false),
      ("+", false), ("a\n", false),
    ])
  func names(name: String, isName: Bool) { #expect(FleetTopic.isName(name) == isName) }

  @Test func `a report states the configuration`() throws {
    var report = Self.report
    let version = ConfigurationVersion(of: Array("foobar".utf8))
    // The vector of the hash's authors (draft-eastlake-fnv).
    #expect("\(version)" == "85944171f73967e8")
    report.configuration = .init(
      version: ConfigurationVersion(of: []), trial: version, refusal: .init(version, "no \"a\""))
    let text = Self.text.replacing(
      #""beacons""#,
      with: #""configuration":{"version":"cbf29ce484222325","trial":"85944171f73967e8","#
        + #""refused":"85944171f73967e8","reason":"no \"a\""},"beacons""#)
    #expect(String(decoding: report.json, as: UTF8.self) == text)
    #expect(try parse(text) == report)
    #expect(try parse(text.replacing(#""trial":"85944171f73967e8","#, with: "")) != report)
  }

  @Test func roundTrips() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var generator = SplitMix64(seed: seed)
    for _ in 0..<500 {
      let report = Self.drawn(&generator)
      #expect(try parse(report.json) == report)
    }
  }

  private static func drawn(_ generator: inout SplitMix64) -> ReceiverReport {
    let reasons: [ReceiverReport.Reception] = [
      .receiving, .receiving, .lost("hci0 is down; \"beaconscan\" \\ \u{1} \t ü 𝄞"), .lost(""),
      .lost(String(repeating: "𝄞", count: ReceiverReport.maximumReasonLength)),
    ]
    var report = ReceiverReport(
      site: "s\(generator.next() % 1000)", receiver: "R_-\(generator.next())",
      boot: generator.next(),
      number: .random(in: 1...ReceiverReport.maximumNumber, using: &generator),
      time: WallClockTime(
        nanoseconds: .random(in: 0..<7_258_118_400_000, using: &generator) * 1_000_000),
      seconds: Double(Int.random(in: 1...3_600_000, using: &generator)) / 1000,
      reception: reasons[Int(generator.next() % 5)])
    report.delay = Double(Int.random(in: 0...100_000, using: &generator)) / 1000
    let version = ConfigurationVersion(of: generator.bytes(3))
    report.configuration =
      [
        .init(), .init(version: version), .init(trial: version),
        .init(version: version, refusal: .init(version, "hall: \"exit\" \u{1} ü")),
      ][Int(generator.next() % 4)]
    for minor in 0..<UInt16.random(in: 0...40, using: &generator) {
      let maximum = Int8.random(in: -127...20, using: &generator)
      let mean = Int.random(in: -12700...100 * Int(maximum), using: &generator)
      let signal = ReceiverReport.Signal(
        mean: Double(mean) / 100,
        variance: Double(Int.random(in: 0...540_300, using: &generator)) / 100, maximum: maximum)
      report.beacons.append(
        .init(
          BeaconIdentity(
            uuid: ProximityUUID(high: generator.next(), low: generator.next()),
            major: .random(in: 0...UInt16.max, using: &generator), minor: minor),
          sightings: .random(in: 1...1_000_000, using: &generator),
          signal: generator.next() % 4 == 0 ? nil : signal,
          measuredPower: .random(in: -128...127, using: &generator)))
    }
    return report
  }

  @Test func roundsAsItIsStated() throws {
    var report = Self.report
    report.time = report.time.advanced(by: 999_999)
    report.seconds = 1.00149
    report.beacons[0].signal?.mean = -61.334
    report.beacons[0].signal?.variance = .pi
    let parsed = try parse(report.json)
    #expect(parsed.time == Self.report.time)
    #expect(parsed.seconds == 1.001)
    #expect(parsed.beacons[0].signal == .init(mean: -61.33, variance: 3.14, maximum: -58))
  }

  @Test func cutsALongReason() throws {
    var report = Self.report
    report.reception = .lost(String(repeating: "x", count: 1000))
    #expect(
      try parse(report.json).reception
        == .lost(String(repeating: "x", count: ReceiverReport.maximumReasonLength)))
  }

  @Test func ignoresUnknownMembers() throws {
    let text = Self.text.replacing(#""number""#, with: #""later":[{}],"number""#)
    #expect(try parse(text) == Self.report)
  }

  @Test func everyPrefixIsRefused() {
    let bytes = Array(Self.text.utf8)
    for count in 0..<bytes.count {
      #expect(throws: ReportError.self) { try parse(Array(bytes.prefix(count))) }
    }
  }

  /// Random bytes, and reports with some random bytes: what is read is written and read as the
  /// same.
  @Test func randomBytesNeverTrap() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var generator = SplitMix64(seed: seed)
    var read = 0
    for _ in 0..<20_000 {
      var bytes = Array(Self.text.utf8)
      if generator.next() % 4 == 0 {
        bytes = generator.bytes(Int(generator.next() % 200))
      } else {
        for _ in 0..<1 + generator.next() % 3 {
          let index = Int(generator.next() % UInt64(bytes.count))
          bytes[index] = UInt8(truncatingIfNeeded: generator.next())
        }
      }
      guard let report = try? parse(bytes) else { continue }
      read += 1
      #expect(try parse(report.json) == report)
    }
    print("\(read) of 20000 were reports")
  }

  @Test(
    arguments: [
      (#""version":1"#, #""version":2"#, "version of the report must be 1"),
      (#""version":1"#, #""version":"1""#, "version of the report must be an integer from 1"),
      (#""museum""#, #""mu.seum""#, "site of the report must be 1 to 64 ASCII letters"),
      (#""hall-2""#, "null", "receiver of the report must be 1 to 64 ASCII letters"),
      (
        #""beacons":["#, #""configuration":[],"beacons":["#,
        "configuration of the report must be a JSON object"
      ),
      (
        #""beacons":["#, #""configuration":{"trial":"1"},"beacons":["#,
        "configuration.trial of the report must be 16 hexadecimal"
      ),
      (
        #""beacons":["#, #""configuration":{"refused":"00c0ffee00000001"},"beacons":["#,
        "configuration.reason of the report must be a text of 256 characters"
      ),
      ("00c0ffee00000001", "+0c0ffee00000001", "boot of the report must be 16 hexadecimal"),
      ("00c0ffee00000001", "c0ffee00000001", "boot of the report must be 16 hexadecimal"),
      (#""number":7"#, #""number":0"#, "number of the report must be an integer from 1 to"),
      (#""number":7"#, #""number":1e300"#, "number of the report must be an integer from 1 to"),
      (#""number":7"#, #""number":7.5"#, "number of the report must be an integer from 1 to"),
      ("2026-11-27", "2026-02-30", "time of the report must be a time from 1970 to 2199"),
      ("59.250Z", "59.250", "time of the report must be a time"),
      ("59.250Z", "59.Z", "time of the report must be a time"),
      ("59.250Z", "59.1234567890Z", "time of the report must be a time"),
      ("T11:", " 11:", "time of the report must be a time"),
      ("1.001", "0", "seconds of the report must be a number from 0.001 to 3600.0"),
      ("1.001", "1e999", "seconds of the report must be a number from 0.001 to 3600.0"),
      (
        #""receptionLost":null"#, #""receptionLost":true"#,
        "receptionLost of the report must be null, or a text of 256 characters"
      ),
      (":1:65535", ":1:65536", "beacons[0].beacon of the report must be a beacon such as"),
      (":1:65535", ":1", "beacons[0].beacon of the report must be a beacon such as"),
      (":2:0", ":1:65535", "beacons[1].beacon of the report must be another one"),
      (#""sightings":1,"#, "", "beacons[1].sightings of the report must be an integer from 1 to"),
      ("-61.33", "-57.99", "beacons[0].rssi of the report must be a number from -127.0 to -58.0"),
      ("-61.33", "null", "beacons[0].rssi of the report must be a number"),
      ("4.5", "-1", "beacons[0].variance of the report must be a number from 0.0 to 5403.0"),
      ("-58", "21", "beacons[0].maximum of the report must be an integer from -127 to 20"),
      ("127}", "128}", "beacons[1].power of the report must be an integer from -128 to 127"),
      ("[{", "[1,{", "beacons[0] of the report must be a JSON object"),
      (#""beacons":["#, #""seen":["#, "beacons of the report must be a list of at most 4096"),
      ("}]}", #"}],"delay":-1}"#, "delay of the report must be a number from 0.0 to 10000000.0"),
      ("}]}", #"}],"delay":null}"#, "delay of the report must be a number from 0.0 to"),
      ("}]}", #"}],"delay":1e8}"#, "delay of the report must be a number from 0.0 to"),
      (#"{"version""#, #"[{"version""#, "the report is not JSON: byte"),
    ])
  func refusals(old: String, new: String, sentence: String) {
    let error = #expect(throws: ReportError.self) {
      try parse(Self.text.replacing(old, with: new, maxReplacements: 1))
    }
    #expect(error?.description.hasPrefix(sentence) == true, "\(error?.description ?? "none")")
  }

  @Test func limits() throws {
    var report = Self.report
    report.beacons = (0...ReceiverReport.maximumBeacons).map { index in
      .init(
        Self.beacon(UInt16(index), 65535), sightings: 1_000_000,
        signal: .init(mean: -100.25, variance: 5402.25, maximum: -100), measuredPower: -100)
    }
    // One beacon too many is not written, and the longest report is within the limit of bytes.
    let bytes = report.json
    #expect(try parse(bytes).beacons.count == ReceiverReport.maximumBeacons)
    #expect(bytes.count < ReceiverReport.maximumLength)
    let tooMany = String(decoding: bytes, as: UTF8.self).replacing(
      "]}", with: #",{"beacon":"\#(Self.uuid):5000:0"}]}"#)
    #expect(throws: ReportError("beacons of the report must be a list of at most 4096 beacons")) {
      try parse(tooMany)
    }
    let long = Self.text + String(repeating: " ", count: ReceiverReport.maximumLength)
    #expect(
      throws: ReportError(
        "the report has \(long.utf8.count) bytes, and at most 1048576 are read")
    ) { try parse(long) }
  }
}
