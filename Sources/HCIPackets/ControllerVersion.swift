package import Bytes

/// A controller's manufacturer and HCI version (Core Specification, Vol 4, Part E, §7.4.1).
///
/// ```
/// HCI_Version | HCI_Subversion (2) | LMP_Version | Company_Identifier (2) | LMP_Subversion (2)
/// ```
package struct ControllerVersion: Hashable, Sendable {
  /// The version of the Core Specification, as an assigned number.
  package var hci: UInt8
  package var company: UInt16

  package init(hci: UInt8, company: UInt16) {
    self.hci = hci
    self.company = company
  }

  /// Reads the return parameters, after the status, of Read Local Version Information.
  package init(_ bytes: RawSpan) throws(ParseError) {
    var cursor = ByteCursor(bytes)
    hci = try cursor.readUInt8()
    try cursor.skip(3)
    company = try cursor.readLittleEndian(UInt16.self)
  }

  /// The name of the version, such as `5.2`; `nil` if it is newer than this list.
  package var bluetooth: String? {
    let names = [
      "1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3",
      "5.4", "6.0", "6.1",
    ]
    return Int(hci) < names.count ? names[Int(hci)] : nil
  }
}

/// A controller's LE_Features (Core Specification, Vol 6, Part B, §4.6).
package struct LEFeatures: OptionSet, Hashable, Sendable {
  package var rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Reads the return parameters, after the status, of LE Read Local Supported Features (§7.8.3).
  package init(_ bytes: RawSpan) throws(ParseError) {
    var cursor = ByteCursor(bytes)
    rawValue = try cursor.readLittleEndian(UInt64.self)
  }

  /// LE Coded PHY, which is slower and has a longer range.
  package static let codedPHY = LEFeatures(rawValue: 1 << 11)
  package static let extendedAdvertising = LEFeatures(rawValue: 1 << 12)

  package var names: [String] {
    let known = [
      (0, "encryption"), (6, "privacy"), (8, "2M PHY"), (11, "Coded PHY"),
      (12, "extended advertising"), (13, "periodic advertising"),
    ]
    return known.filter { rawValue >> $0.0 & 1 == 1 }.map(\.1)
  }
}
