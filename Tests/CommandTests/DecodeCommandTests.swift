import Foundation
import TestSupport
import Testing

/// `beaconscan decode`: one advert from hex.
@Suite(.blocking) struct DecodeCommandTests {
  /// Every published vector, told by its bytes alone.
  @Test(arguments: Vector.all)
  func published(vector: Vector) throws {
    let run = try Command.run("decode", vector.hex, "--format", "json")
    #expect(run.status == 0 && run.error.isEmpty)
    let advert = try #require(try run.json().first)
    #expect(run.lines.count == 1 && advert["type"] as? String == "advert")
    let beacons = try #require(advert["beacons"] as? [[String: Any]])
    let problems = try #require(advert["problems"] as? [[String: Any]])
    let beacon = beacons.first ?? [:]
    let type = beacon["type"] as? String
    if let address = vector.address { #expect(advert["address"] as? String == address) }
    if let rssi = vector.rssi { #expect(advert["rssi"] as? Int == Int(rssi)) }
    switch vector.expected {
    case .iBeacon(let uuid, let major, let minor, let power, let trailing):
      #expect(beacons.count == 1 && type == "ibeacon")
      check(beacon, uuid, major, minor, power)
      #expect(beacon["trailingByte"] as? Bool == trailing)
      #expect(problems.isEmpty == (-100 ... -1).contains(power))
    case .altBeacon(let uuid, let major, let minor, let power):
      #expect(beacons.count == 1 && type == "altbeacon")
      check(beacon, uuid, major, minor, power)
    case .url(let url, let power):
      #expect(type == "eddystone-url" && beacon["url"] as? String == url)
      #expect(beacon["txPower"] as? Int == Int(power))
    case .telemetry(let millivolts, let adverts, let tenths):
      #expect(type == "eddystone-tlm" && beacon["voltage"] as? Int == Int(millivolts))
      #expect(beacon["advertisingCount"] as? Int == Int(adverts))
      #expect(beacon["secondsSinceBoot"] as? Double == Double(tenths) / 10)
      #expect(beacon["tenthsSinceBoot"] as? Int == Int(tenths))
    case .cutTelemetry:
      #expect(type == "eddystone-tlm" && problems.first?["offset"] as? Int == 7)
    case .eid(let identifier, let power):
      #expect(type == "eddystone-eid" && beacon["eid"] as? String == identifier)
      #expect(beacon["txPower"] as? Int == Int(power))
    case .notAnIBeacon:
      #expect(!beacons.contains { $0["type"] as? String == "ibeacon" })
    case .notABeacon:
      #expect(beacons.isEmpty)
    }
  }

  private func check(
    _ beacon: [String: Any], _ uuid: String, _ major: UInt16, _ minor: UInt16, _ power: Int8
  ) {
    #expect(beacon["uuid"] as? String == uuid)
    #expect(beacon["major"] as? Int == Int(major) && beacon["minor"] as? Int == Int(minor))
    #expect(beacon["measuredPower"] as? Int == Int(power))
  }

  private static let frame = "4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5"

  /// The same frame in every dress.
  @Test(arguments: [
    ("1aff\(frame)", "ad"), (frame, "manufacturer"), ("0201061aff\(frame)", "ad"),
    ("043e2a02010301010203040506" + "1e0201061aff\(frame)c0", "h4"),
    ("1e0201061aff\(frame)00", "command"),
  ])
  func everyInput(hex: String, input: String) throws {
    for arguments in [hex, "\(hex) --as \(input)", "0x\(hex)", hex.uppercased()] {
      let run = try Command.shell("beaconscan decode \(arguments) --format json")
      let advert = try #require(try run.json().first)
      #expect(advert["input"] as? String == input)
      let beacons = try #require(advert["beacons"] as? [[String: Any]])
      #expect(beacons.count == 1 && beacons.first?["minor"] as? Int == 2)
    }
  }

  @Test func standardInputAndFormats() throws {
    let table = try Command.shell("echo \(Self.frame) | beaconscan decode - --as manufacturer")
    #expect(table.status == 0 && table.output.contains("  measured power: -59 dBm at 1 m"))
    let csv = try Command.run("decode", "1aff" + Self.frame, "--format", "csv")
    #expect(csv.lines.first == "item,offset,name,value")
    #expect(csv.lines.contains("beacon,,ibeacon minor,2"))
  }

  /// What is wrong is said with its place.
  @Test func problems() throws {
    func problem(_ hex: String) throws -> [String: Any] {
      let advert = try #require(
        try Command.run("decode", hex, "--as", "ad", "--format", "json").json().first)
      return try #require((advert["problems"] as? [[String: Any]])?.first)
    }
    #expect(try problem("0201061bff" + Self.frame)["offset"] as? Int == 3)
    #expect(try problem("02010619ff" + Self.frame.dropLast(2))["offset"] as? Int == 8)
    #expect(try problem("1aff" + Self.frame.dropLast(2) + "05")["offset"] as? Int == 26)
    #expect(try problem("020106000102")["offset"] as? Int == 3)
  }

  /// An event without a report is still answered.
  @Test func noReports() throws {
    let run = try Command.run("decode", "043e020200")
    #expect(run.status == 0 && !run.output.isEmpty)
  }

  /// Bytes of any kind and number are an answer, never a crash.
  @Test(arguments: 1...48)
  func zeros(count: Int) throws {
    let run = try Command.run("decode", String(repeating: "00", count: count))
    #expect(run.status == 0 && run.output.contains("no beacon"))
  }

  @Test(arguments: ["auto", "ad", "manufacturer", "h4", "ll", "command"])
  func randomBytes(input: String) throws {
    for seed in 1...12 as ClosedRange<UInt64> {
      var random = SplitMix64(seed: seed)
      let heads: [[UInt8]] = [
        [], [0x04, 0x3E], [0xD6, 0xBE, 0x89, 0x8E], [0x4C, 0x00, 0x02], [0x1E, 0x02, 0x01],
      ]
      let head = heads[Int(seed % 5)]
      let bytes = head + random.bytes(1 + Int(random.next() % 50))
      let hex = bytes.map { String(format: "%02x", $0) }.joined()
      let run = try Command.run("decode", hex, "--as", input, "--format", "json")
      #expect(run.status == 0, "seed \(seed): \(hex)")
      #expect(try run.json().allSatisfy { $0["type"] as? String == "advert" }, "\(hex)")
    }
  }
}
