import Advertising
import HCIPackets
import Scanning

@testable import LiveScanning

/// Hosts that are made up.
extension HostView {
  /// One on which scanning works, with one adapter.
  static var well: HostView {
    var host = HostView(rights: .scanner, program: ProgramFile(path: "/usr/local/bin/beaconscan"))
    host.release = "6.1.0-56-amd64"
    host.hasHostNetwork = true
    host.bluez = .well
    host.radios = [.well()]
    host.tools = Set(toolNames)
    return host
  }

  /// It, changed.
  static func with(_ change: (inout HostView) -> Void) -> HostView {
    var host = well
    change(&host)
    return host
  }
}

extension HostView.Radio {
  /// An adapter that works.
  static func well(_ index: UInt16 = 0) -> HostView.Radio {
    var radio = HostView.Radio(adapter: .well(index), driver: "btusb")
    radio.report = .well
    return radio
  }

  /// It, changed.
  static func with(_ index: UInt16 = 0, _ change: (inout HostView.Radio) -> Void) -> HostView.Radio
  {
    var radio = well(index)
    change(&radio)
    return radio
  }
}

extension Adapter {
  /// An adapter of USB with Bluetooth Low Energy, switched on.
  static func well(_ index: UInt16 = 0) -> Adapter {
    Adapter(
      index: index, address: BluetoothAddress(rawValue: 0x00_AA_01_00_00_42 + UInt64(index)),
      isUp: true, block: nil, bus: "USB", features: [0, 0, 0, 0, 0x60, 0, 0, 0])
  }
}

extension ControllerReport {
  /// What one of Bluetooth 5 says.
  static var well: ControllerReport {
    var commands = [UInt8](repeating: 0, count: 64)
    commands[36] = 0xFE
    commands[37] = 0x7F
    return ControllerReport(
      version: ControllerVersion(hci: 9, company: 2), commands: commands,
      features: [.extendedAdvertising, .codedPHY])
  }
}

extension ProcessRights {
  /// A user's process whose file has the capability.
  static var scanner: ProcessRights { ProcessRights(effective: netRaw) }
  /// A user's process without it.
  static var nobody: ProcessRights { ProcessRights(effective: 0) }
  /// Root's.
  static var root: ProcessRights { ProcessRights(effective: .max, isRoot: true) }
}

extension BlueZView {
  /// A bluetoothd that runs, with one adapter.
  static var well: BlueZView {
    BlueZView(adapters: [
      BlueZAdapterView(
        path: "/org/bluez/hci0", adapter: .well(), isDiscovering: false, hasMonitors: true)
    ])
  }
}
