package import Advertising

extension Scenario {
  package struct Beacon: Sendable {
    package let id: String
    package let identity: BeaconIdentity
    /// The power in the frame, in dBm at 1 m.
    package let measuredPower: Int8
    package let txOffset: Double
    package let interval: Double
    package let course: Course
    package let address: BluetoothAddress?
    package let addressType: AddressType
    package let loss: Double?
    package let noise: Double?
    package let pdu: PDU
    package let count: Int
    package let extraBytes: Int
    package let hasSignal: Bool
  }

  package enum Course: Sendable {
    case track([Point])
    case rssi([Point])
    case spread(ClosedRange<Double>)
  }

  package enum PDU: String, CaseIterable, Hashable, Sendable {
    case nonconn, ind, scan
    /// ADV_EXT_IND and AUX_ADV_IND, neither connectable nor scannable.
    case extended
  }
}

extension Scenario.Beacon {
  var points: [Scenario.Point] {
    switch course {
    case .track(let points), .rssi(let points): points
    case .spread: []
    }
  }

  func identity(_ number: Int) -> BeaconIdentity {
    BeaconIdentity(
      uuid: identity.uuid, major: identity.major,
      minor: UInt16(truncatingIfNeeded: Int(identity.minor) + number))
  }
}

extension Scenario.Beacon: Decodable {
  package init(from decoder: any Decoder) throws {
    let fields = try FieldReader(
      decoder,
      keys: [
        "id", "uuid", "major", "minor", "measuredPower", "txOffset", "interval", "track", "rssi",
        "spread", "address", "addressType", "loss", "noise", "pdu", "count", "extraBytes", "signal",
      ])
    id = try fields.text("id")
    count = try fields.integer("count", 1...1000, default: 1)
    guard let uuid = ProximityUUID(try fields.text("uuid")) else {
      throw fields.fail("uuid", "must be a UUID of 32 hexadecimal digits")
    }
    identity = BeaconIdentity(
      uuid: uuid, major: UInt16(try fields.integer("major", 0...65535)),
      minor: UInt16(try fields.integer("minor", 0...65535)))
    guard Int(identity.minor) + count <= 65536 else {
      throw fields.fail("count", "must not count minor up past 65535")
    }
    measuredPower = Int8(try fields.integer("measuredPower", -127...20, "dBm", default: -59))
    txOffset = try fields.number("txOffset", -40...40, "dB", default: 0)
    interval = try fields.number("interval", 20...10240, "ms")
    course = try Self.course(fields)
    address = try Self.address(fields)
    addressType = try fields.choice("addressType", default: AddressKind.random).type
    loss = fields.has("loss") ? try fields.number("loss", 0...1) : nil
    noise = fields.has("noise") ? try fields.number("noise", 0...20, "dB") : nil
    pdu = try fields.choice("pdu", default: .nonconn)
    extraBytes = try fields.integer("extraBytes", 0...1600, default: 0)
    guard extraBytes == 0 || extraBytes >= 4 else {
      throw fields.fail("extraBytes", "must be 0 or at least 4")
    }
    guard extraBytes == 0 || pdu == .extended else {
      throw fields.fail("extraBytes", "needs pdu to be extended")
    }
    hasSignal = try fields.value("signal", "true or false", default: true)
  }

  private static func course(_ fields: FieldReader) throws -> Scenario.Course {
    let given = ["track", "rssi", "spread"].filter(fields.has)
    guard given.count == 1 else {
      let place = fields.path.isEmpty ? "a beacon" : fields.path
      throw ScenarioError("\(place) must have one of track, rssi and spread, not \(given.count)")
    }
    switch given[0] {
    case "track": return .track(try fields.points("track", 0.05...1000, "m"))
    case "rssi": return .rssi(try fields.points("rssi", -127...20, "dBm"))
    default: return .spread(try fields.pair("spread", 0.05...1000, "m"))
    }
  }

  private static func address(_ fields: FieldReader) throws -> BluetoothAddress? {
    guard fields.has("address") else { return nil }
    guard let address = BluetoothAddress(try fields.text("address")) else {
      throw fields.fail("address", "must be an address such as C0:00:00:00:00:01")
    }
    return address
  }

  private enum AddressKind: String, CaseIterable {
    case `public`, random
    var type: AddressType { self == .public ? .public : .random }
  }
}
