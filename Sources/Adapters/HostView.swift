/// A host as values, for the doctor: tests invent any host.
package struct HostView: Hashable, Sendable {
  /// An adapter, and what came of asking it.
  package struct Radio: Hashable, Sendable {
    package var adapter: Adapter
    package var report = ControllerReport()
    /// Whether a program has it for itself, by the user channel.
    package var isHeld: Bool
    /// Its driver, such as `btusb`.
    package var driver: String?
    /// Why it took no scan parameters; `nil` where it took them, or was not asked.
    package var scanFailure: CommandFailure?

    /// Creates the description of an adapter whose controller was not asked.
    package init(_ adapter: Adapter, isHeld: Bool = false, driver: String? = nil) {
      (self.adapter, self.isHeld, self.driver) = (adapter, isHeld, driver)
    }
  }

  /// The kernel's release, such as `6.1.0-56-amd64`.
  package var release = ""
  /// The errno of opening a Bluetooth socket; 0 where that works.
  package var socketError: Int32 = 0
  /// Whether the kernel has Bluetooth loaded, for whomever.
  package var hasBluetooth = true
  /// Whether the kernel's module of Bluetooth lies on the disk.
  package var hasModule = true
  package var isContainer = false
  /// Whether it has the host's network; `nil` where that cannot be seen.
  package var hasHostNetwork: Bool?
  /// What the kernel permits this process.
  package var rights: ProcessRights
  /// The file of the program that runs.
  package var program: ProgramFile
  package var radios: [Radio] = []
  /// USB adapters that no driver took, by their names on the bus.
  package var idleDevices: [String] = []
  /// The other programs that have HCI sockets.
  package var programs = HCIPrograms()
  /// Whether bluetoothd runs; `nil` where that cannot be seen.
  package var hasBluetoothd: Bool?
  /// Those programs of ``toolNames`` that are installed.
  package var tools: Set<String> = []

  /// The programs that fix something.
  package static let toolNames = [
    "apt-get", "bluetoothctl", "bluetoothd", "btmgmt", "hciconfig", "rfkill", "setcap",
  ]

  func asRoot(_ command: String) -> String { rights.asRoot(command) }
}
