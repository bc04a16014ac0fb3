/// The state of a host as values, so that tests can invent any host for the doctor.
package struct HostView: Hashable, Sendable {
  package struct Radio: Hashable, Sendable {
    package var adapter: Adapter
    package var report = ControllerReport()
    /// Whether a program uses it exclusively, by the user channel.
    package var isHeld = false
    /// The kernel's driver, such as `btusb`; `nil` for an adapter without a device.
    package var driver: String?
    /// The error for scan parameters; `nil` if it took them or was not asked.
    package var scanFailure: CommandFailure?
  }

  /// The kernel's release, such as `6.1.0-56-amd64`.
  package var release = ""
  /// The errno of opening a Bluetooth socket; 0 if that works.
  package var socketError: Int32 = 0
  /// Whether the kernel has loaded Bluetooth, even if this process cannot use it.
  package var hasBluetooth = true
  /// Whether the kernel's Bluetooth module is on the disk.
  package var hasModule = true
  package var isContainer = false
  /// Whether this process has the host's network; `nil` if that is unknown.
  package var hasHostNetwork: Bool?
  package var rights: ProcessRights
  package var program: ProgramFile
  package var radios: [Radio] = []
  /// The USB adapters without a driver, by their names on the bus.
  package var idleDevices: [String] = []
  package var programs = HCIPrograms()
  /// bluetoothd as seen over the bus; `nil` if it was not asked.
  package var bluez: BlueZView?
  /// The default backend, with its reason and its cost: a sentence without a full stop.
  package var backend: String?
  package var hasSystemd = true
  /// The program that runs the container.
  package var engine = "docker"
  /// The identifier of this process's Flatpak app; `nil` outside of one.
  package var flatpak: String?
  package var user = "USER"
  /// The installed programs of ``toolNames``.
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

  /// Returns the command that installs one of Debian's packages; `nil` on other systems.
  func installing(_ package: String) -> String? {
    tools.contains("apt-get") ? asRoot("apt-get install \(package)") : nil
  }
}
