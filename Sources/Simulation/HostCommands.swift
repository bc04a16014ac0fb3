/// What a host says to its controller, each command with its Command Complete event.
enum HostCommands {
  /// An H4 command packet.
  static func command(_ opcode: UInt16, _ parameters: [UInt8]) -> [UInt8] {
    [0x01, UInt8(opcode & 0xFF), UInt8(opcode >> 8), UInt8(parameters.count)] + parameters
  }

  /// The H4 packet of the Command Complete event that says success.
  static func complete(_ opcode: UInt16) -> [UInt8] {
    [0x04, 0x0E, 0x04, 0x01, UInt8(opcode & 0xFF), UInt8(opcode >> 8), 0x00]
  }

  /// What comes before the first report: reset, event masks, a passive scan at full duty without a
  /// duplicate filter.
  static func beginning(isExtended: Bool) -> [(opcode: UInt16, parameters: [UInt8])] {
    let window: [UInt8] = [0x60, 0x00, 0x60, 0x00]  // 60 ms of every 60 ms
    let start: [(opcode: UInt16, parameters: [UInt8])] = [
      (0x0C03, []),  // HCI_Reset
      (0x0C01, [0xFF, 0xFF, 0xFB, 0xFF, 0x07, 0xF8, 0xBF, 0x3D]),  // HCI_Set_Event_Mask
      (0x2001, [0x1F, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00]),  // HCI_LE_Set_Event_Mask
    ]
    // Passive, own address random, all advertisers.
    let scan: (opcode: UInt16, parameters: [UInt8]) =
      isExtended
      ? (0x2041, [0x01, 0x00, 0x01, 0x00] + window)  // HCI_LE_Set_Extended_Scan_Parameters
      : (0x200B, [0x00] + window + [0x01, 0x00])  // HCI_LE_Set_Scan_Parameters
    return start + [scan, enable(true, isExtended: isExtended)]
  }

  /// HCI_LE_Set_Scan_Enable or HCI_LE_Set_Extended_Scan_Enable.
  static func enable(_ isOn: Bool, isExtended: Bool) -> (opcode: UInt16, parameters: [UInt8]) {
    let on: UInt8 = isOn ? 1 : 0
    return isExtended ? (0x2042, [on, 0x00, 0x00, 0x00, 0x00, 0x00]) : (0x200C, [on, 0x00])
  }
}
