import Foundation
import Testing

/// The system bus with its stock policy, and bluetoothd.
final class BlueZ {
  private let bus: Child
  private let options: [String]
  private var daemon: Child

  /// Starts them with options of bluetoothd's, and waits until it has switched the adapters on.
  ///
  /// `-E` gives it advertisement monitors, which 5.66 has as an experiment.
  init(_ options: String...) throws {
    self.options = options
    try FileManager.default.createDirectory(
      atPath: "/run/dbus", withIntermediateDirectories: true)
    bus = try Child(
      "/usr/bin/dbus-daemon", ["--system", "--nofork", "--nopidfile"], output: .file)
    let isThere = Guest.wait {
      FileManager.default.fileExists(atPath: "/run/dbus/system_bus_socket")
    }
    try #require(isThere, "no bus: \(bus.error)")
    daemon = try Self.start(options)
    try waitUntilOn()
  }

  private static func start(_ options: [String]) throws -> Child {
    try Child("/usr/libexec/bluetooth/bluetoothd", ["-n"] + options, output: .file)
  }

  private func waitUntilOn() throws {
    let isOn = try Guest.wait {
      let adapters = try Self.adapters()
      return try !adapters.isEmpty && adapters.allSatisfy { try Self.setPower(true, of: $0) }
    }
    try #require(isOn, "no bluetoothd: \(daemon.error)")
  }

  /// bluetoothd's process.
  var id: Int32 { daemon.id }
  /// The bus's process.
  var busID: Int32 { bus.id }

  /// Kills bluetoothd, as a crash does.
  func kill() {
    daemon.send(SIGKILL)
    daemon.finish()
  }

  /// Starts bluetoothd again.
  func restart() throws { daemon = try Self.start(options) }

  /// Lets bluetoothd stand still, or go on.
  func setStopped(_ isStopped: Bool) { daemon.send(isStopped ? SIGSTOP : SIGCONT) }

  func stop() {
    daemon.send(SIGTERM)
    daemon.finish()
    bus.send(SIGTERM)
    bus.finish()
    try? FileManager.default.removeItem(atPath: "/run/dbus/system_bus_socket")
  }

  // MARK: What it shows

  /// The names of the adapters that the kernel has.
  private static func adapters() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/sys/class/bluetooth")
      .filter { $0.hasPrefix("hci") && !$0.contains(":") }
  }

  /// Switches an adapter on or off, as any client may.
  @discardableResult
  static func setPower(_ isOn: Bool, of adapter: String = "hci0") throws -> Bool {
    try Guest.run(
      "busctl set-property org.bluez /org/bluez/\(adapter) org.bluez.Adapter1 Powered b \(isOn)"
    ).status == 0
  }

  /// Whether the first adapter discovers, for any client.
  static func isDiscovering() throws -> Bool {
    try Guest.run(
      "busctl get-property org.bluez /org/bluez/hci0 org.bluez.Adapter1 Discovering"
    ).output.contains("true")
  }

  /// All objects and their properties as text, but for devices, which it forgets 30 s after their last advert.
  static func objects(withDevices: Bool = Guest.isLong) throws -> [String] {
    let run = try Guest.run(
      "dbus-send --system --print-reply --dest=org.bluez /"
        + " org.freedesktop.DBus.ObjectManager.GetManagedObjects")
    try #require(run.status == 0, "\(run.error)")
    // Only the array of all objects ends at this depth.
    return run.output.replacing("\n   ]\n", with: "").split(separator: "\n      dict entry(")
      .dropFirst().map(String.init)
      .filter { withDevices || !$0.contains("/dev_") }.sorted()
  }

  /// Records when bluetoothd takes its name on the bus and loses it.
  final class Watch {
    private let child: Child

    init() throws {
      child = try Child(
        "/usr/bin/dbus-monitor",
        ["--system", "--profile", "type='signal',member='NameOwnerChanged',arg0='org.bluez'"],
        output: .file)
      try #require(Guest.wait { child.output.contains("NameAcquired") }, "\(child.error)")
    }

    /// The moments of the changes, in seconds since 1970.
    var changes: [Double] {
      child.output.split(separator: "\n").filter { $0.hasSuffix("NameOwnerChanged") }
        .compactMap { line in
          line.split(separator: "\t").dropFirst().first.flatMap { Double($0) }
        }
    }

    func stop() {
      child.send(SIGTERM)
      child.finish()
    }
  }

  /// A client of bluetoothd that discovers until it is stopped.
  final class Discovery {
    private let orders = Pipe()
    private let child: Child

    init() throws {
      child = try Child("/usr/bin/bluetoothctl", [], input: orders, output: .file)
      try order("scan on")
    }

    /// Gives an order, as a person types it.
    func order(_ line: String) throws {
      try orders.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Ends the discovery, and then the client.
    func stop() throws {
      try order("scan off")
      #expect(
        try Guest.wait { try !BlueZ.isDiscovering() },
        "the discovery does not end: \(child.output)")
      try order("quit")
      child.finish()
    }

    /// Kills the client, which ends its discovery.
    func kill() {
      child.send(SIGKILL)
      child.finish()
    }
  }
}
