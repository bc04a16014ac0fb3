import HCIPackets

extension ScanCommandSet {
  /// The commands before the first report: reset, event masks, and a passive scan at full duty.
  var beginning: [HCICommand] {
    let window: [UInt8] = [0x60, 0x00, 0x60, 0x00]  // 60 ms of every 60 ms
    // Passive, own address random, all advertisers.
    let scan =
      self == .extended ? [0x01, 0x00, 0x01, 0x00] + window : [0x00] + window + [0x01, 0x00]
    return [
      HCICommand(.reset),
      // HCI_Set_Event_Mask and HCI_LE_Set_Event_Mask.
      HCICommand(Opcode(rawValue: 0x0C01), [0xFF, 0xFF, 0xFB, 0xFF, 0x07, 0xF8, 0xBF, 0x3D]),
      HCICommand(Opcode(rawValue: 0x2001), [0x1F, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00]),
      HCICommand(parametersOpcode, scan), enable(true),
    ]
  }
}

extension HCICommand {
  /// The H4 packet of the Command Complete event that reports success.
  var completion: [UInt8] { [0x04, 0x0E, 0x04, 0x01] + packet[1...2] + [0x00] }
}
