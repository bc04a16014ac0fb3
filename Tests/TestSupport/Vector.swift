/// An advert that another project publishes as a test, and what is in it. The bytes and values are
/// facts; each group names the repository and file that they come from.
package struct Vector: Sendable, CustomStringConvertible {
  /// What the bytes are.
  package enum Kind {
    case advertisingData, manufacturerData, h4, commandParameters
  }

  /// What must be found.
  package enum Expected {
    case iBeacon(String, UInt16, UInt16, power: Int8, trailing: Bool = false)
    case altBeacon(String, UInt16, UInt16, power: Int8)
    case url(String, power: Int8)
    case telemetry(millivolts: UInt16, adverts: UInt32, tenths: UInt32)
    /// Telemetry in a structure whose length runs past the advert: a walk gives nothing of it.
    case cutTelemetry
    case eid(String, power: Int8)
    /// Some other beacon, or none.
    case notAnIBeacon
    case notABeacon
  }

  package var description: String { name }
  package var name: String
  package var kind: Kind
  package var hex: String
  package var expected: Expected
  package var address: String?
  package var rssi: Int8?

  package init(
    _ name: String, _ kind: Kind, _ hex: String, _ expected: Expected, from address: String? = nil,
    rssi: Int8? = nil
  ) {
    self.name = name
    self.kind = kind
    self.hex = hex
    self.expected = expected
    self.address = address
    self.rssi = rssi
  }
}
