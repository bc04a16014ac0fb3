extension Scenario {
  /// Devices and hosts that are no beacon whose truth is known: each device sends by itself.
  package struct Clutter: Sendable {
    package let kind: Kind
    /// How often each device does, a second; the gaps vary by half.
    package let rate: Double
    package let count: Int
    /// The mean signal strength of the first device and of the last, in dBm; the others lie between.
    package let rssi: ClosedRange<Double>
  }
}

extension Scenario.Clutter {
  /// What a generator sends.
  package enum Kind: String, CaseIterable, Hashable, Sendable {
    /// Apple's Nearby message: manufacturer data of Apple that is no iBeacon.
    case appleNearby
    case eddystoneUID
    case altBeacon
    /// Flags and a name.
    case name
    /// The host's LE Set Advertising Data commands, which hold a whole iBeacon.
    case hostCommands
    /// An iBeacon whose AD length runs past the data.
    case malformedAD
    /// Apple's beacon type with fewer bytes than an iBeacon has.
    case shortIBeacon
    /// An iBeacon with 0x16 where 0x15 belongs.
    case wrongLengthByte
    /// An AD length of zero, with an iBeacon behind it that is not significant.
    case zeroLength
    case empty
    /// iBeacons with a measured power of 0, +4 and −127 dBm. They are sightings.
    case wrongPower
    /// A beacon's identity from another address, with another signal. They are sightings.
    case spoofed
    /// Vendor-specific events that hold an iBeacon's bytes.
    case vendorEvents
    /// Advertising events that end too soon or promise what they do not hold. Those that hold one whole report of
    /// two are a sighting.
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
