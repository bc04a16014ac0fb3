package struct ScanParameters: Hashable, Sendable {
  package var isActive: Bool
  /// LE_Scan_Interval, between the starts of two windows: 4 to 16,384 units of 0.625 ms.
  package var interval: UInt16
  /// LE_Scan_Window, the time of listening, in the same units; at most ``interval``.
  package var window: UInt16
  /// Whether an extended scan also uses the LE Coded PHY, for half of the time.
  package var usesCodedPHY: Bool

  package init(isActive: Bool = false, interval: UInt16, window: UInt16, usesCodedPHY: Bool = false)
  {
    self.isActive = isActive
    self.interval = interval
    self.window = window
    self.usesCodedPHY = usesCodedPHY
  }
}

/// A set of scan commands. A controller that was given commands of one set refuses those of the
/// other until it is reset (Core Specification, Vol 4, Part E, §3.1.1).
package enum ScanCommandSet: Hashable, Sendable {
  /// The commands of Bluetooth 4.
  case legacy
  /// LE Extended Advertising (Bluetooth 5).
  case extended

  /// Selects the set that the kernel uses for a controller with these 64 bytes of
  /// Supported_Commands (§6.27), except for a few controllers that the kernel knows to be broken.
  package init(supportedCommands commands: [UInt8]) {
    // Octet 37, bits 5 and 6: LE Set Extended Scan Parameters and Enable.
    let isExtended = commands.count > 37 && commands[37] & 0x60 == 0x60
    self = isExtended ? .extended : .legacy
  }

  package var parametersOpcode: Opcode {
    self == .extended ? .setExtendedScanParameters : .setScanParameters
  }

  package var enableOpcode: Opcode { self == .extended ? .setExtendedScanEnable : .setScanEnable }

  package func set(_ parameters: ScanParameters) -> HCICommand {
    func timing(_ window: UInt16) -> [UInt8] {
      [parameters.interval, window].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }
    let whole = timing(parameters.window)
    let type: UInt8 = parameters.isActive ? 1 : 0
    // Own_Address_Type and Scanning_Filter_Policy are 0.
    guard self == .extended else { return HCICommand(parametersOpcode, [type] + whole + [0, 0]) }
    guard parameters.usesCodedPHY else {
      return HCICommand(parametersOpcode, [0, 0, 0x01, type] + whole)
    }
    // The PHYs share the time, so the windows of both must fit into one interval.
    let half = timing(max(parameters.window / 2, 4))
    return HCICommand(parametersOpcode, [0, 0, 0x05, type] + half + [type] + half)
  }

  /// Returns the command that switches the scan on or off, without the duplicate filter.
  package func enable(_ isOn: Bool) -> HCICommand {
    let on: UInt8 = isOn ? 1 : 0
    // Extended: Filter_Duplicates, Duration (2) and Period (2) are 0: scan until switched off.
    return HCICommand(enableOpcode, [on, 0] + (self == .extended ? [0, 0, 0, 0] : []))
  }
}
