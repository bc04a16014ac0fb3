/// An HCI opcode (Core Specification, Vol 4, Part E, §5.4.1): OGF in the upper 6 bits, OCF in the
/// lower 10.
package struct Opcode: RawRepresentable, Hashable, Sendable {
  package var rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package static let reset = Opcode(rawValue: 0x0C03)  // §7.3.2
  package static let readLocalVersion = Opcode(rawValue: 0x1001)  // §7.4.1
  package static let readLocalSupportedCommands = Opcode(rawValue: 0x1002)  // §7.4.2
  package static let readLocalLEFeatures = Opcode(rawValue: 0x2003)  // §7.8.3
  package static let setRandomAddress = Opcode(rawValue: 0x2005)  // §7.8.4
  package static let setAdvertisingParameters = Opcode(rawValue: 0x2006)  // §7.8.5
  package static let setAdvertisingData = Opcode(rawValue: 0x2008)  // §7.8.7
  package static let setAdvertisingEnable = Opcode(rawValue: 0x200A)  // §7.8.9
  package static let setScanParameters = Opcode(rawValue: 0x200B)  // §7.8.10
  package static let setScanEnable = Opcode(rawValue: 0x200C)  // §7.8.11
  package static let setAdvertisingSetRandomAddress = Opcode(rawValue: 0x2035)  // §7.8.52
  package static let setExtendedAdvertisingParameters = Opcode(rawValue: 0x2036)  // §7.8.53
  package static let setExtendedAdvertisingData = Opcode(rawValue: 0x2037)  // §7.8.54
  package static let setExtendedAdvertisingEnable = Opcode(rawValue: 0x2039)  // §7.8.56
  package static let removeAdvertisingSet = Opcode(rawValue: 0x203C)  // §7.8.59
  package static let clearAdvertisingSets = Opcode(rawValue: 0x203D)  // §7.8.60
  package static let setExtendedScanParameters = Opcode(rawValue: 0x2041)  // §7.8.64
  package static let setExtendedScanEnable = Opcode(rawValue: 0x2042)  // §7.8.65
}
