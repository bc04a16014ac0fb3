/// How a controller is to scan.
package struct ScanParameters: Hashable, Sendable {
  /// Whether it asks advertisers for their scan response.
  package var isActive: Bool
  /// How often it begins to listen, in units of 0.625 ms; 4 to 16,384.  // LE_Scan_Interval
  package var interval: UInt16
  /// For how long it then listens, in the same units; at most ``interval``.  // LE_Scan_Window
  package var window: UInt16
  /// Whether it listens on the LE Coded PHY, too: half of the time, of an extended scan alone.
  package var usesCodedPHY: Bool

  /// Makes parameters.
  package init(isActive: Bool = false, interval: UInt16, window: UInt16, usesCodedPHY: Bool = false)
  {
    self.isActive = isActive
    self.interval = interval
    self.window = window
    self.usesCodedPHY = usesCodedPHY
  }
}

/// The commands of one of the two ways to scan. A controller that was given commands of one refuses those
/// of the other until it is reset (Core Specification, Vol 4, Part E, §3.1.1).
package enum ScanCommandSet: Hashable, Sendable {
  /// Those of Bluetooth 4.
  case legacy
  /// Those of Bluetooth 5, LE Extended Advertising.
  case extended

  /// The command set that the kernel uses for a controller with these Supported_Commands, 64 bytes (§6.27), but for a few
  /// that it knows to be broken, so that both use the same.
  package init(supportedCommands commands: [UInt8]) {
    // Octet 37, bits 5 and 6: LE Set Extended Scan Parameters and Enable.
    let isExtended = commands.count > 37 && commands[37] & 0x60 == 0x60
    self = isExtended ? .extended : .legacy
  }

  /// Which command sets the parameters.
  package var parametersOpcode: Opcode {
    self == .extended ? .setExtendedScanParameters : .setScanParameters
  }

  /// Which command switches the scan.
  package var enableOpcode: Opcode { self == .extended ? .setExtendedScanEnable : .setScanEnable }

  /// Sets how to scan: own address package, every advertiser.
  package func set(_ parameters: ScanParameters) -> HCICommand {
    let timing = [parameters.interval, parameters.window].flatMap { value in
      [UInt8(value & 0xFF), UInt8(value >> 8)]
    }
    let type: UInt8 = parameters.isActive ? 1 : 0
    // Own_Address_Type and Scanning_Filter_Policy are 0.
    guard self == .extended else { return HCICommand(parametersOpcode, [type] + timing + [0, 0]) }
    guard parameters.usesCodedPHY else {
      return HCICommand(parametersOpcode, [0, 0, 0x01, type] + timing)
    }
    // Two PHYs share the time: the window of each must fit beside the other's.
    let half = max(parameters.window / 2, 4)
    let shared = [parameters.interval, half].flatMap { value in
      [UInt8(value & 0xFF), UInt8(value >> 8)]
    }
    return HCICommand(parametersOpcode, [0, 0, 0x05] + [type] + shared + [type] + shared)
  }

  /// Switches the scan on or off, without the filter that passes over what was received before.
  package func enable(_ isOn: Bool) -> HCICommand {
    let on: UInt8 = isOn ? 1 : 0
    // Extended: Filter_Duplicates, Duration (2) and Period (2) are 0: until it is switched off.
    return HCICommand(enableOpcode, [on, 0] + (self == .extended ? [0, 0, 0, 0] : []))
  }
}
