import Foundation
import Positioning
import Scanning
import TestDaemons
import TestSupport
import Testing

@testable import LocationSources

/// The source on real gpsds.
@Suite(.blocking, .daemons) struct GPSDSourceTests {
  let scratch: Scratch
  let port: UInt16
  let client: SourceClient

  init() throws {
    scratch = try Scratch()
    port = try freePort()
    client = SourceClient(GPSDSource(.tcp(host: "127.0.0.1", port: port)))
  }

  static func log(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Logs/\(name)").path
  }

  /// The places in a log's GGA, RMC and GLL sentences, which have degrees and minutes in one number.
  static func places(in log: String) throws -> [Coordinate] {
    func degrees(_ text: Substring) -> Double {
      let value = Double(text) ?? .nan
      let whole = (value / 100).rounded(.down)
      return whole + (value - whole * 100) / 60
    }
    let text = try String(contentsOfFile: log, encoding: .isoLatin1)
    var places: [Coordinate] = []
    for line in text.split(whereSeparator: \.isNewline) {
      let fields = line.split(separator: ",", omittingEmptySubsequences: false)
      let first =
        switch fields[0] {
        case "$GPGGA" where fields[6] != "0": 2
        case "$GPRMC" where fields[2] == "A": 3
        case "$GPGLL" where fields[6] == "A": 1
        default: 0
        }
      guard first > 0 else { continue }
      let place = Coordinate(
        latitude: degrees(fields[first]), longitude: degrees(fields[first + 2]))
      places.append(try #require(place))
    }
    return places
  }

  func gpsfake(_ log: String) throws -> Daemon {
    try Daemon.gpsfake(log, on: port, output: scratch["gpsfake.log"])
  }

  /// Writes a log of sentences, whose checksums are added.
  func writeLog(_ sentences: [String]) throws -> String {
    try scratch.write(Array("# log\n\(sentences.map(nmeaLine).joined())".utf8), "own.log")
    return scratch["own.log"]
  }

  /// Sentences of one epoch at a place that is 1/10,000 of an arc minute farther north each.
  static func epoch(_ number: Int, isFix: Bool = true, satellites: Int = 8) -> [String] {
    let minute = String("0\(number / 60 % 60)".suffix(2))
    let second = String("0\(number % 60)".suffix(2))
    let clock = "12\(minute)\(second).00"
    let north = String("0000\(number)".suffix(4))
    let view =
      "GPGSV,1,1,0\(min(satellites, 4)),"
      + (0..<min(satellites, 4)).map { "0\($0 + 1),40,083,4\($0)" }.joined(separator: ",")
    guard isFix else {
      return [
        "GPRMC,\(clock),V,,,,,,,220626,,,N", "GPGGA,\(clock),,,,,,0,00,99.99,,,,,,",
        "GPGSA,A,1,,,,,,,,,,,,,99.99,99.99,99.99", view,
      ]
    }
    return [
      "GPRMC,\(clock),A,3723.\(north),N,12202.2690,W,10.0,030.00,220626,013.0,E,A",
      "GPGGA,\(clock),3723.\(north),N,12202.2690,W,1,08,0.9,30.0,M,-25.0,M,,",
      "GPGSA,A,3,01,02,03,04,,,,,,,,,1.8,0.9,1.5", view,
    ]
  }

  @Test func aDriveIsReceived() throws {
    // Nothing listens yet: that is reported once.
    #expect(try client.receive(until: .notRunning))
    #expect(client.health[0].sentence.contains("start it: sudo systemctl start gpsd.socket"))
    #expect(client.source.availability != .available)
    let fake = try gpsfake(Self.log("bt451.log"))
    let expected = try Self.places(in: Self.log("bt451.log"))
    #expect(
      try client.receive {
        client.fixes.count >= 20 && client.fixes.contains { $0.course != nil && $0.speed != nil }
      })
    #expect(client.conditions.last == .receiving)
    #expect(client.conditions.filter { $0 == .notRunning }.count == 1)
    #expect(client.source.availability == .available)
    for fix in client.fixes {
      #expect(
        expected.contains {
          abs($0.latitude - fix.place.latitude) < 1e-7
            && abs($0.longitude - fix.place.longitude) < 1e-7
        }, "\(fix)")
      // The HDOP is from 1.26 to 2.73, and 99.99 where the receiver does not know it: 19 m each, with 95 %.
      #expect((14...1200).contains(fix.horizontalAccuracy))
    }
    #expect(zip(client.fixes, client.fixes.dropFirst()).allSatisfy { $0.time <= $1.time })
    #expect(client.fixes.contains { $0.altitude != nil && $0.ellipsoidalAltitude != nil })
    #expect(client.fixes.contains { $0.course != nil && $0.speed != nil })
    withExtendedLifetime(fake) {}
  }

  @Test func aGPSDThatIsKilledTwentyTimesIsConnectedAgain() throws {
    let log = try writeLog((0..<600).flatMap { Self.epoch($0) })
    for round in 0..<20 {
      let fake = try gpsfake(log)
      #expect(try client.receive { client.conditions.last == .receiving && !client.fixes.isEmpty })
      client.forget()
      fake.kill()
      #expect(try client.receive(until: .notRunning), "round \(round)")
      #expect(client.conditions == [.notRunning])
    }
  }

  @Test func aReceiverWithoutAFixIsReported() throws {
    let gpsd = try GPSDDaemon(on: port, in: scratch)
    let feed = try freePort()
    try gpsd.add(feed)
    var number = 0
    /// Receives, and lets the receiver send an epoch with each look.
    func receive(isFix: Bool, until condition: () -> Bool) throws -> Bool {
      try client.receive {
        number += 1
        gpsd.send(Self.epoch(number % 600, isFix: isFix, satellites: 3), to: feed)
        return condition()
      }
    }
    for _ in 0..<2 {
      #expect(try receive(isFix: true) { client.conditions.last == .receiving })
      #expect(try receive(isFix: false) { client.conditions.last == .searching })
      #expect(client.health.last?.sentence.contains("3 satellites in view") == true)
      #expect(client.source.availability == .available)
      client.forget()
      let last = number + 20
      #expect(try receive(isFix: false) { number >= last })
      #expect(client.fixes.isEmpty && client.conditions.isEmpty)
    }
    withExtendedLifetime(gpsd) {}
  }

  @Test func aGPSDWithoutAReceiverIsReported() throws {
    let gpsd = try GPSDDaemon(on: port, in: scratch)
    #expect(try client.receive(until: .noReceiver))
    #expect(client.health.last?.sentence.contains("gpsdctl add") == true)
    // A receiver comes, and goes.
    let feed = try freePort()
    try gpsd.add(feed)
    var number = 0
    #expect(
      try client.receive {
        number += 1
        gpsd.send(Self.epoch(number % 600), to: feed)
        return client.conditions.last == .receiving
      })
    try gpsd.remove(feed)
    #expect(try client.receive(until: .noReceiver))
    withExtendedLifetime(gpsd) {}
  }

  @Test func aCompassIsReadWithTheReceiversDeclination() throws {
    let log = try writeLog(
      (0..<600).flatMap { Self.epoch($0) + ["PTNTHTM,00100,N,169,N,-43,N,13641,2454"] })
    let fake = try gpsfake(log)
    client.demand.needsHeading = true
    #expect(try client.receive { !client.readings.isEmpty })
    // 100 degrees from true north where magnetic north is 13 degrees east of it.
    #expect(client.readings.allSatisfy { $0.magneticHeading == 87 })
    client.forget()
    client.demand.needsHeading = false
    #expect(try client.receive { client.fixes.count > 20 })
    #expect(client.readings.isEmpty)
    withExtendedLifetime(fake) {}
  }

  @Test func fewerFixesAreDeliveredThanComeAndNoneAtRest() throws {
    let log = try writeLog((0..<600).flatMap { Self.epoch($0) })
    let fake = try gpsfake(log)
    client.demand = LocationDemand(fixes: .init(accuracy: 0, interval: 1, distance: 0))
    #expect(try client.receive { client.fixes.count >= 3 })
    let times = client.fixes.map(\.time)
    #expect(zip(times, times.dropFirst()).allSatisfy { $1.seconds(since: $0) >= 0.9 })
    client.source.rest()
    withExtendedLifetime(fake) {}
  }
}

/// The source on a server that does what no gpsd should.
@Suite(.blocking) struct GPSDFaultTests {
  let scratch: Scratch
  let server: FakeServer
  let client: SourceClient

  init() throws {
    scratch = try Scratch()
    server = try FakeServer(at: scratch["gpsd"])
    client = SourceClient(GPSDSource(.unix(path: scratch["gpsd"])))
  }

  static let version =
    #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"# + "\n"
  static func fix(_ latitude: Int) -> String {
    #"{"class":"TPV","device":"d","mode":3,"lat":\#(latitude),"lon":2,"eph":10}"# + "\n"
  }

  /// Lets the source connect.
  func connect() throws {
    #expect(try client.receive { true })
    server.accept()
    #expect(try client.receive { server.receive()?.hasPrefix("?WATCH={") == true })
  }

  @Test func linesThatComeInPartsAreJoined() throws {
    try connect()
    for byte in (Self.version + Self.fix(1)).unicodeScalars {
      server.send(String(byte))
      #expect(try client.receive { true })
    }
    server.send(Self.fix(2) + Self.fix(3) + "{\"class\":")
    #expect(try client.receive { client.fixes.count == 3 })
    #expect(client.fixes.map(\.place.latitude) == [1, 2, 3])
  }

  /// A receiver whose cable came off: gpsd answers, and has nothing from it, or the same epoch again and again.
  @Test(.timeLimit(.minutes(10)), arguments: [true, false])
  func aReceiverWithoutNewsIsReported(repeats: Bool) throws {
    try connect()
    let epoch =
      #"{"class":"TPV","device":"d","mode":3,"time":"2026-01-01T00:00:00.000Z","lat":1,"lon":2}"#
      + "\n"
    server.send(Self.version + epoch)
    #expect(try client.receive(until: .receiving))
    #expect(
      try client.receive {
        if server.receive()?.contains("?DEVICES") == true {
          server.send(#"{"class":"DEVICES","devices":[{"path":"d"}]}"# + "\n")
        }
        if repeats { server.send(epoch) }
        return client.conditions.last == .searching
      })
    #expect(client.conditions == [.receiving, .searching] && client.fixes.count == 1)
    #expect(client.health.last?.sentence.contains("no new fix") == true)
    server.send(Self.fix(3))
    #expect(try client.receive(until: .receiving))
  }

  /// A server that closes at once is asked less and less often, as one that is not there.
  @Test(.timeLimit(.minutes(10))) func aServerThatClosesAtOnceIsNotAskedFourTimesASecond() throws {
    var count = 0
    let end = ContinuousClock.now.advanced(by: .seconds(5))
    while ContinuousClock.now < end {
      #expect(try client.receive { true })
      guard server.acceptIfAny() else { continue }
      count += 1
      server.send(Self.version)
      #expect(try client.receive { true })
      server.hangUp()
    }
    // After 0.25, 0.5, 1 and then every 1.5 s.
    #expect((1...7).contains(count), "\(count) connections")
  }

  /// What accepts a connection and sends something else for seconds is no gpsd, also without the end of a line.
  @Test(.timeLimit(.minutes(10))) func bytesWithoutLinesAreNoGPSD() throws {
    try connect()
    #expect(
      try client.receive {
        server.send("x")
        return client.conditions.contains(.refused)
      })
    #expect(client.health.last?.sentence.contains("is no gpsd") == true)
  }

  @Test func garbageAndLongLinesAreLeftOut() throws {
    try connect()
    server.send(Self.version)
    for _ in 0..<20 { server.send("\u{0}\u{1}!AIVDM,x\n{\"class\":\"TPV\",\n\n") }
    let sender = server
    let long = "{\"class\":\"" + String(repeating: "a", count: 20_000)
    for _ in 0..<8 {
      sender.send(long)
      #expect(try client.receive { true })
    }
    server.send("\"}\n" + Self.fix(5))
    #expect(try client.receive { client.fixes.count == 1 })
    #expect(client.conditions == [.receiving])
  }

  @Test func anotherProtocolIsRefused() throws {
    try connect()
    server.send(Self.version.replacing(#""proto_major":3"#, with: #""proto_major":4"#))
    #expect(try client.receive(until: .refused))
    #expect(client.health.last?.sentence.contains("protocol 4") == true)
  }

  @Test func anotherServerIsRefused() throws {
    try connect()
    server.send(String(repeating: "220 mail.example ESMTP\r\n", count: 30))
    #expect(try client.receive(until: .refused))
  }

  @Test func theConnectionEndsAtRestAndBetweenRareFixes() throws {
    try connect()
    server.send(Self.version + Self.fix(1))
    #expect(try client.receive { client.fixes.count == 1 })
    client.source.rest()
    #expect(eventually { server.receive() == "" })
    server.hangUp()
    client.demand.fixes?.interval = 60
    try connect()
    server.send(Self.version + Self.fix(2))
    #expect(try client.receive { client.fixes.count == 2 && server.receive() == "" })
    // A shorter interval ends the pause, and a pause is no change of the state.
    server.hangUp()
    client.demand.fixes?.interval = 1
    try connect()
    server.send(Self.version + Self.fix(3))
    #expect(try client.receive { client.fixes.count == 3 })
    // After a rest the state is reported again.
    #expect(client.conditions == [.receiving, .receiving])
  }

  @Test func aRequestForOneFixEndsThePauseBetweenRareFixes() throws {
    client.demand.fixes?.interval = 180
    try connect()
    server.send(Self.version + Self.fix(1))
    #expect(try client.receive { client.fixes.count == 1 && server.receive() == "" })
    server.hangUp()
    client.demand.fixes?.requests = 1
    try connect()
    server.send(Self.version + Self.fix(2) + Self.fix(3))
    // It is answered once.
    #expect(try client.receive { client.fixes.count == 2 && server.receive() == "" })
    #expect(client.fixes.map(\.place.latitude) == [1, 2])
  }

  @Test func aReceiverThatNeverHadAFixIsReportedWithItsSatellites() throws {
    try connect()
    server.send(
      Self.version + #"{"class":"SKY","device":"d","nSat":3}"# + "\n"
        + #"{"class":"TPV","device":"d","mode":1}"# + "\n")
    #expect(try client.receive(until: .searching))
    #expect(client.health.last?.sentence.contains("3 satellites in view") == true)
  }

  @Test func anotherReceiverIsFollowedWhereTheFirstIsGone() throws {
    try connect()
    let other = Self.fix(9).replacing(#""d""#, with: #""e""#)
    server.send(Self.version + Self.fix(1) + other)
    #expect(try client.receive { client.fixes.count == 1 })
    server.send(#"{"class":"DEVICE","path":"d","activated":0}"# + "\n" + other)
    #expect(try client.receive { client.fixes.count == 2 })
    #expect(client.fixes.map(\.place.latitude) == [1, 9])
  }

  @Test(arguments: [
    ("localhost", "localhost:2947"), ("host:99", "host:99"), ("[::1]:3", "[::1]:3"),
    ("::1", "[::1]:2947"), ("[fe80::1]", "[fe80::1]:2947"), ("/run/gpsd", "/run/gpsd"),
    ("gpsd://h:1", "h:1"), ("", nil), ("h:", nil), ("h:0", nil), ("h:65536", nil), ("[::1", nil),
    ("[::1]3", nil), (":3", nil), ("a\0b", nil),
  ])
  func addresses(_ text: String, _ expected: String?) {
    #expect(GPSDAddress(text)?.description == expected)
  }
}
