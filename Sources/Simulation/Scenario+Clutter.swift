extension Scenario {
  /// Devices or hosts other than the beacons with a known truth. Each one sends independently.
  package struct Clutter: Sendable {
    package let kind: Kind
    package let rate: Double
    package let count: Int
    package let rssi: ClosedRange<Double>
  }
}

extension Scenario.Clutter {
  package enum Kind: String, CaseIterable, Hashable, Sendable {
    /// Apple's Nearby message: manufacturer data of Apple that is not an iBeacon.
    case appleNearby
    case eddystoneUID
    case altBeacon
    case name
    /// LE Set Advertising Data commands of the host, which contain a whole iBeacon.
    case hostCommands
    /// An iBeacon whose AD length exceeds the data.
    case malformedAD
    /// Apple's beacon type, with fewer bytes than an iBeacon.
    case shortIBeacon
    /// An iBeacon with 0x16 in place of 0x15.
    case wrongLengthByte
    /// An AD length of zero, followed by an iBeacon that decoders must ignore.
    case zeroLength
    case empty
    /// iBeacons with a measured power of 0, +4 or −127 dBm. They are sightings.
    case wrongPower
    /// A beacon's identity with another address and signal. They are sightings.
    case spoofed
    /// Vendor-specific events that contain an iBeacon's bytes.
    case vendorEvents
    /// Advertising events that end too soon, or promise more than they contain. Those with one
    /// whole report of two are sightings.
    case truncatedEvents
  }
}

extension Scenario.Clutter: Decodable {
  package init(from decoder: any Decoder) throws {
    let fields = try FieldReader(decoder, keys: ["kind", "rate", "count", "rssi"])
    kind = try fields.choice("kind")
    rate = try fields.number("rate", 0.001...100, "a second")
    count = try fields.integer("count", 1...1000, default: 1)
    rssi = try fields.pair("rssi", -127...20, "dBm", default: -80...(-60))
  }
}
