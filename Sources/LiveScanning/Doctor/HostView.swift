package import HCIPackets

/// The state of a host as values, so that tests can invent any host for the doctor.
package struct HostView: Hashable, Sendable {
  package struct Radio: Hashable, Sendable {
    package var adapter: Adapter
    package var report = ControllerReport()
    package var isHeld = false
    package var driver: String?
    /// The error for scan parameters; `nil` if it took them or was not asked.
    package var scanFailure: CommandFailure?
  }

  package var release = ""
  /// The errno of opening a Bluetooth socket; 0 if that works.
  package var socketError: Int32 = 0
  package var hasBluetooth = true
  package var hasModule = true
  package var isContainer = false
  /// Whether this process has the host's network; `nil` if that is unknown.
  package var hasHostNetwork: Bool?
  package var rights: ProcessRights
  package var program: ProgramFile
  package var radios: [Radio] = []
  package var idleDevices: [String] = []
  package var programs = HCIPrograms()
  /// bluetoothd as seen over the bus; `nil` if it was not asked.
  package var bluez: BlueZView?
  /// The default backend, with its reason and its cost: a sentence without a full stop.
  package var backend: String?
  package var hasSystemd = true
  package var engine = "docker"
  package var flatpak: String?
  package var user = "USER"
  package var tools: Set<String> = []

  package static let toolNames = [
    "apt-get", "bluetoothctl", "bluetoothd", "btmgmt", "dbus-broker", "dbus-daemon", "hciconfig",
    "rfkill", "setcap",
  ]

  var hasRawHCI: Bool { socketError != HCISocketError.notBuiltIn.errno }

  /// The kernel's adapters, or those of bluetoothd if the kernel shows none to this process.
  var adapters: [Adapter] {
    socketError == 0 ? radios.map(\.adapter) : bluez?.adapters.map(\.adapter) ?? []
  }

  var usableRadios: [Radio] { radios.filter { $0.adapter.isUp && !$0.isHeld } }

  func asRoot(_ command: String) -> String { rights.isRoot ? command : "sudo \(command)" }

  func installing(_ package: String) -> String? {
    tools.contains("apt-get") ? asRoot("apt-get install \(package)") : nil
  }
}

/// The information of a controller about itself. The kernel lets every process query the version
/// and commands of an adapter that is on, but its Low Energy features only with `CAP_NET_RAW`.
package struct ControllerReport: Hashable, Sendable {
  package var version: ControllerVersion?
  /// The 64 bytes of Supported_Commands; `nil` if unknown.
  package var commands: [UInt8]?
  package var features: LEFeatures?
  package var failure: CommandFailure?

  /// Whether it scans with the commands of Bluetooth 5; `nil` if unknown.
  package var hasExtendedScan: Bool? {
    commands.map { ScanCommandSet(supportedCommands: $0) == .extended }
  }

  package var hasExtendedAdvertising: Bool? {
    commands.map { AdvertisingCommandSet(supportedCommands: $0) != .legacy }
  }

  package var isMute: Bool { if case .unanswered = failure { true } else { false } }
}
