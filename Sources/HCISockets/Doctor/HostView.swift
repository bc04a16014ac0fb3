/// What the doctor looks at: a host as values, so that any host can be made up.
public struct HostView: Hashable, Sendable {
  /// An adapter, and what came of asking it.
  public struct Radio: Hashable, Sendable {
    /// The adapter.
    public var adapter: Adapter
    /// What its controller says.
    public var report: ControllerReport
    /// Whether a program has it for itself, by the user channel.
    public var isHeld: Bool
    /// Its driver, such as `btusb`.
    public var driver: String?
    /// Why it could not be told how to scan; `nil` where it could, or was not.
    public var scanFailure: CommandFailure?

    /// Makes a radio.
    public init(
      _ adapter: Adapter, report: ControllerReport = ControllerReport(), isHeld: Bool = false,
      driver: String? = nil, scanFailure: CommandFailure? = nil
    ) {
      self.adapter = adapter
      self.report = report
      self.isHeld = isHeld
      self.driver = driver
      self.scanFailure = scanFailure
    }
  }

  /// The kernel's release, such as `6.1.0-56-amd64`.
  public var release = ""
  /// The errno of opening a Bluetooth socket; 0 where that works.
  public var socketError: Int32 = 0
  /// Whether the kernel has Bluetooth loaded, for whomever.
  public var hasBluetooth = true
  /// Whether the kernel's module of Bluetooth lies on the disk.
  public var hasModule = true
  /// Whether this process runs in a container.
  public var isContainer = false
  /// Whether it has the host's network; `nil` where that cannot be seen.
  public var hasHostNetwork: Bool?
  /// What the kernel permits this process.
  public var rights: ProcessRights
  /// The file of the program that runs.
  public var program: ProgramFile
  /// The adapters.
  public var radios: [Radio] = []
  /// USB adapters that no driver took, by their names on the bus.
  public var idleDevices: [String] = []
  /// Who else has HCI sockets.
  public var programs = HCIPrograms()
  /// Whether bluetoothd runs; `nil` where that cannot be seen.
  public var hasBluetoothd: Bool?
  /// Those programs of ``toolNames`` that are installed.
  public var tools: Set<String> = []

  /// The programs that mend something.
  public static let toolNames = [
    "apt-get", "bluetoothctl", "bluetoothd", "btmgmt", "hciconfig", "rfkill", "setcap",
  ]

  /// Makes a host of which nothing is known but this.
  public init(rights: ProcessRights, program: ProgramFile) {
    self.rights = rights
    self.program = program
  }

  /// A command as this user gives it.
  func asRoot(_ command: String) -> String {
    rights.isRoot ? command : "sudo \(command)"
  }
}
