package import Bytes

/// The maker of a controller, and its version of HCI (Core Specification, Vol 4, Part E, §7.4.1).
///
/// ```
/// HCI_Version | HCI_Subversion (2) | LMP_Version | Company_Identifier (2) | LMP_Subversion (2)
/// ```
package struct ControllerVersion: Hashable, Sendable {
  /// The version of the specification, as a number that is assigned to it.
  package var hci: UInt8
  /// The company that made it, as a number that is assigned to it.
  package var company: UInt16

  package init(hci: UInt8, company: UInt16) {
    self.hci = hci
    self.company = company
  }

  /// Reads what follows the status of Read Local Version Information's answer; throws where it is cut short.
  package init(_ bytes: RawSpan) throws(ParseError) {
    var cursor = ByteCursor(bytes)
    hci = try cursor.readUInt8()
    try cursor.skip(3)
    company = try cursor.readLittleEndian(UInt16.self)
  }

  /// The version's name, such as `5.2`; `nil` for one that is newer than this list.
  package var bluetooth: String? {
    let names = [
      "1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3",
      "5.4", "6.0", "6.1",
    ]
    return Int(hci) < names.count ? names[Int(hci)] : nil
  }
}

/// What a controller's Low Energy part can do: LE_Features (Core Specification, Vol 6, Part B, §4.6).
package struct LEFeatures: OptionSet, Hashable, Sendable {
  /// One bit each.
  package var rawValue: UInt64

  /// Keeps any bits, known or not.
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Reads what follows the status of LE Read Local Supported Features' answer (§7.8.3); throws where it is cut short.
  package init(_ bytes: RawSpan) throws(ParseError) {
    var cursor = ByteCursor(bytes)
    rawValue = try cursor.readLittleEndian(UInt64.self)
  }

  /// LE Encryption.
  package static let encryption = LEFeatures(rawValue: 1 << 0)
  /// LL Privacy: private addresses are resolved by the controller.
  package static let privacy = LEFeatures(rawValue: 1 << 6)
  /// LE 2M PHY.
  package static let phy2M = LEFeatures(rawValue: 1 << 8)
  /// LE Coded PHY: slower, and received from farther.
  package static let codedPHY = LEFeatures(rawValue: 1 << 11)
  /// LE Extended Advertising.
  package static let extendedAdvertising = LEFeatures(rawValue: 1 << 12)
  /// LE Periodic Advertising.
  package static let periodicAdvertising = LEFeatures(rawValue: 1 << 13)

  /// The names of those bits that this module knows, in their order.
  package var names: [String] {
    let known: [(LEFeatures, String)] = [
      (.encryption, "encryption"), (.privacy, "privacy"), (.phy2M, "2M PHY"),
      (.codedPHY, "Coded PHY"), (.extendedAdvertising, "extended advertising"),
      (.periodicAdvertising, "periodic advertising"),
    ]
    return known.filter { contains($0.0) }.map(\.1)
  }
}
