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
  /// bluetoothd, as it is seen over the bus; `nil` where that was not asked.
  package var bluez: BlueZView?
  /// The way to receive that is chosen if none is named, with the reason and the cost: a sentence without a full stop.
  package var backend: String?
  /// Whether systemd manages the services.
  package var hasSystemd = true
  /// The program that runs the container.
  package var engine = "docker"
  /// The identifier of the Flatpak app that this process is part of.
  package var flatpak: String?
  /// The name of the user.
  package var user = "USER"
  /// Those programs of ``toolNames`` that are installed.
  package var tools: Set<String> = []

  /// The programs that fix something.
  package static let toolNames = [
    "apt-get", "bluetoothctl", "bluetoothd", "btmgmt", "dbus-broker", "dbus-daemon", "hciconfig",
    "rfkill", "setcap",
  ]

  /// Whether this program was built with raw HCI sockets.
  var hasRawHCI: Bool { socketError != HCISocketError.notBuiltIn.errno }

  /// The adapters: the kernel's, or bluetoothd's where the kernel shows none to this process.
  var adapters: [Adapter] {
    socketError == 0 ? radios.map(\.adapter) : bluez?.adapters.map(\.adapter) ?? []
  }

  func asRoot(_ command: String) -> String { rights.asRoot(command) }
}
