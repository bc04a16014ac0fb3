import Advertising
import Foundation
import Scanning
import Testing

/// Values that pass between processes: what is decoded equals what was encoded.
@Suite struct CodingTests {
  private static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  private static let address = BluetoothAddress(rawValue: 0x001B_DC0F_1007)

  private func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private func roundTrip<Value: Codable & Hashable>(_ value: Value) throws {
    #expect(try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value)) == value)
  }

  @Test func textForms() throws {
    #expect(try json([Self.uuid]) == #"["E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"]"#)
    #expect(try json([Self.address]) == #"["00:1B:DC:0F:10:07"]"#)
    #expect(try json([AdapterName.number(3)]) == #"["hci3"]"#)
    for (major, minor, rest) in [
      (nil, nil, ""), (1, nil, ":1"), (1, 2, ":1:2"), (nil, 2, ":*:2"),
    ] as [(UInt16?, UInt16?, String)] {
      let constraint = BeaconConstraint(uuid: Self.uuid, major: major, minor: minor)
      #expect(try json([constraint]) == "[\"\(Self.uuid)\(rest)\"]")
      try roundTrip(constraint)
    }
    try roundTrip([AdapterName.address(Self.address), .number(0)])
    try roundTrip(Self.uuid)
  }

  @Test func otherValues() throws {
    let identity = BeaconIdentity(uuid: Self.uuid, major: 1, minor: 2)
    try roundTrip(identity)
    try roundTrip(
      Sighting(
        time: MonotonicTime(nanoseconds: -1), wallTime: WallClockTime(nanoseconds: .max),
        beacon: identity, measuredPower: -59, rssi: nil, address: Self.address,
        addressType: .random, adapter: 7))
    for condition in ScannerHealth.Condition.allCases {
      try roundTrip(
        ScannerHealth(
          condition, at: MonotonicTime(nanoseconds: 5), adapter: "hci0", address: Self.address,
          isReceptionLost: condition.isFault, sentence: "a sentence"))
    }
    try roundTrip(ScanDemand.allCases)
    try roundTrip([ScannerAvailability.available, .notPermitted("a"), .unavailable("b")])
    try roundTrip([AdapterSelection.all, .firstUsable, .these([.number(0)])])
  }

  @Test(arguments: ["\"\"", "\"hci\"", "7", "{}", "null"])
  func badTexts(text: String) {
    let data = Data("[\(text)]".utf8)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([AdapterName].self, from: data)
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([BeaconConstraint].self, from: data)
    }
  }

  /// An offset that is no number, or infinite, changes no signal strength.
  @Test(
    arguments: [
      (4.0, -64), (-200, 20), (1e300, -127), (.nan, -60), (.infinity, -60), (-.infinity, -60),
    ] as [(Double, Int8)])
  func offsets(offset: Double, expected: Int8) {
    var sighting = Sighting(
      time: MonotonicTime(nanoseconds: 0), wallTime: WallClockTime(nanoseconds: 0),
      beacon: BeaconIdentity(uuid: Self.uuid, major: 1, minor: 2), measuredPower: -59, rssi: -60,
      address: Self.address, addressType: .random)
    sighting.subtract(offset: offset)
    #expect(sighting.rssi == expected)
  }
}
