import Advertising
import Bytes
import TestSupport
import Testing

/// Beacons that are named, and not ranged: Eddystone and AltBeacon.
@Suite struct OtherBeaconTests {
  private static let service: [UInt8] = [0xAA, 0xFE]

  @Test func eddystoneUID() throws {
    let body: [UInt8] = [0x00, 0xEE] + (1...16)
    let frame = try eddystone(Self.service + body + [0, 0])
    #expect(
      frame
        == .uid(txPower: -18, namespace: "0102030405060708090a", instance: "0b0c0d0e0f10"))
  }

  @Test(
    arguments: [
      ([0x00, 0x61, 0x00], "http://www.a.com/"), ([0x01, 0x61, 0x06], "https://www.a.gov/"),
      ([0x02, 0x61, 0x07], "http://a.com"), ([0x03, 0x61, 0x0D], "https://a.gov"),
      ([0x03, 0x21, 0x7E], "https://!~"), ([0x03], "https://"),
    ] as [([UInt8], String)])
  func eddystoneURL(code: [UInt8], url: String) throws {
    let frame = try eddystone(Self.service + [0x10, 0x7F] + code)
    #expect(frame == .url(txPower: 127, url: url))
  }

  @Test(arguments: [0x04, 0xFF] as [UInt8])
  func unknownURLScheme(scheme: UInt8) {
    #expect(
      throws: ParseError(.invalid("the URL scheme is not one of Eddystone's four"), at: 14)
    ) {
      try eddystone(Self.service + [0x10, 0x00, scheme], base: 10)
    }
  }

  @Test(arguments: [0x0E, 0x20, 0x7F, 0x80, 0xFF] as [UInt8])
  func reservedURLBytes(code: UInt8) {
    #expect(
      throws: ParseError(.invalid("the URL holds a byte that Eddystone reserves"), at: 16)
    ) {
      try eddystone(Self.service + [0x10, 0x00, 0x03, 0x61, code], base: 10)
    }
  }

  @Test(
    arguments: [
      ([0x16, 0x80], 22.5), ([0x80, 0x00], nil), ([0xFF, 0x00], -1), ([0x7F, 0xFF], 127.99609375),
      ([0x80, 0x01], -127.99609375), ([0x00, 0x00], 0),
    ] as [([UInt8], Double?)])
  func eddystoneTelemetry(octets: [UInt8], temperature: Double?) throws {
    let body: [UInt8] = [0x20, 0x00, 0xFF, 0xFE] + octets + [255, 255, 255, 255, 0, 0, 0, 15]
    #expect(
      try eddystone(Self.service + body)
        == .telemetry(
          voltage: 0xFFFE, temperature: temperature, adverts: .max, uptime: 1.5))
  }

  @Test func eddystoneEID() throws {
    #expect(
      try eddystone(Self.service + [0x30, 0xE3] + (1...8))
        == .eid(txPower: -29, identifier: "0102030405060708"))
  }

  @Test(arguments: [1, 2, 255] as [UInt8])
  func otherTelemetry(version: UInt8) throws {
    #expect(try eddystone(Self.service + [0x20, version]) == .otherTelemetry(version: version))
  }

  /// Every prefix: too short for a type at all is no frame; too short for its type says so.
  @Test(arguments: [(0x00, 17), (0x20, 13), (0x30, 9), (0x10, 2)] as [(UInt8, Int)])
  func shortFrames(type: UInt8, count: Int) throws {
    let frame = Self.service + [type] + [UInt8](repeating: 0, count: count)
    #expect(try eddystone(frame) != nil)
    for cut in 0..<3 { #expect(try eddystone(Array(frame.prefix(cut))) == nil) }
    for cut in 3..<frame.count {
      do throws(ParseError) {
        let short = try eddystone(Array(frame.prefix(cut)), base: 50)
        Issue.record("\(cut) bytes gave \(short.debugDescription)")
      } catch {
        #expect((53...50 + cut).contains(error.offset))
      }
    }
  }

  @Test(arguments: [
    [0xAA, 0xFE, 0x40, 0], [0xAA, 0xFE, 0x01, 0], [0xFE, 0xAA, 0x00, 0], [0, 0, 0],
  ])
  func notEddystone(bytes: [UInt8]) throws {
    #expect(try eddystone(bytes) == nil)
  }

  @Test func altBeacons() throws {
    let head: [UInt8] = [0x18, 0x01, 0xBE, 0xAC]
    let body: [UInt8] = (1...16) + [0x00, 0x05, 0xFF, 0xFE, 0xBE]
    let identity = BeaconIdentity(
      uuid: ProximityUUID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10), major: 5,
      minor: 0xFFFE)
    let short = try #require(altBeacon(head + body))
    #expect(short.identity == identity)
    #expect(short.measuredPower == -66)
    #expect(short.manufacturerReserved == nil)
    let whole = try #require(altBeacon(head + body + [0x02, 0x77]))
    #expect(whole.identity == identity)
    #expect(whole.manufacturerReserved == 2)
    for cut in 0..<(head.count + body.count) {
      #expect(altBeacon(Array((head + body).prefix(cut))) == nil)
    }
    #expect(altBeacon([0x18, 0x01, 0xBE, 0xAD] + body) == nil)
    #expect(altBeacon([0x18, 0x01, 0xAC, 0xBE] + body) == nil)
  }

  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func randomBytes(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      let bytes = random.bytes(Int.random(in: 0...40, using: &random))
      let types: [UInt8] = [0x00, 0x10, 0x20, 0x30, 0x40]
      let type = types.randomElement(using: &random) ?? 0
      let frame = Self.service + [type] + bytes
      do throws(ParseError) {
        let read = try eddystone(frame)
        #expect((read == nil) == (type == 0x40), "seed \(seed): \(frame)")
      } catch {
        #expect((3...frame.count).contains(error.offset), "seed \(seed): \(frame)")
      }
      let head: [UInt8] = [0, 0, 0xBE, 0xAC]
      let found = altBeacon(head + bytes)
      #expect((found != nil) == (bytes.count >= 21), "seed \(seed): \(bytes)")
    }
  }
}
