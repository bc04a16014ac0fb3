/// An HCI opcode (Core Specification, Vol 4, Part E, §5.4.1): OGF in the upper 6 bits, OCF in the
/// lower 10.
package struct Opcode: RawRepresentable, Hashable, Sendable {
  package var rawValue: UInt16

  /// Keeps any value, known or unknown.
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// HCI_Reset (§7.3.2).
  package static let reset = Opcode(rawValue: 0x0C03)
  /// HCI_Read_Local_Version_Information (§7.4.1).
  package static let readLocalVersion = Opcode(rawValue: 0x1001)
  /// HCI_Read_Local_Supported_Commands (§7.4.2).
  package static let readLocalSupportedCommands = Opcode(rawValue: 0x1002)
  /// HCI_LE_Read_Local_Supported_Features (§7.8.3).
  package static let readLocalLEFeatures = Opcode(rawValue: 0x2003)
  /// HCI_LE_Set_Random_Address (§7.8.4).
  package static let setRandomAddress = Opcode(rawValue: 0x2005)
  /// HCI_LE_Set_Advertising_Parameters (§7.8.5).
  package static let setAdvertisingParameters = Opcode(rawValue: 0x2006)
  /// HCI_LE_Set_Advertising_Data (§7.8.7).
  package static let setAdvertisingData = Opcode(rawValue: 0x2008)
  /// HCI_LE_Set_Advertising_Enable (§7.8.9).
  package static let setAdvertisingEnable = Opcode(rawValue: 0x200A)
  /// HCI_LE_Set_Scan_Parameters (§7.8.10).
  package static let setScanParameters = Opcode(rawValue: 0x200B)
  /// HCI_LE_Set_Scan_Enable (§7.8.11).
  package static let setScanEnable = Opcode(rawValue: 0x200C)
  /// HCI_LE_Set_Advertising_Set_Random_Address (§7.8.52).
  package static let setAdvertisingSetRandomAddress = Opcode(rawValue: 0x2035)
  /// HCI_LE_Set_Extended_Advertising_Parameters (§7.8.53).
  package static let setExtendedAdvertisingParameters = Opcode(rawValue: 0x2036)
  /// HCI_LE_Set_Extended_Advertising_Data (§7.8.54).
  package static let setExtendedAdvertisingData = Opcode(rawValue: 0x2037)
  /// HCI_LE_Set_Extended_Advertising_Enable (§7.8.56).
  package static let setExtendedAdvertisingEnable = Opcode(rawValue: 0x2039)
  /// HCI_LE_Remove_Advertising_Set (§7.8.59).
  package static let removeAdvertisingSet = Opcode(rawValue: 0x203C)
  /// HCI_LE_Clear_Advertising_Sets (§7.8.60).
  package static let clearAdvertisingSets = Opcode(rawValue: 0x203D)
  /// HCI_LE_Set_Extended_Scan_Parameters (§7.8.64).
  package static let setExtendedScanParameters = Opcode(rawValue: 0x2041)
  /// HCI_LE_Set_Extended_Scan_Enable (§7.8.65).
  package static let setExtendedScanEnable = Opcode(rawValue: 0x2042)
}
