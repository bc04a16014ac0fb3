import Foundation
import Testing

/// The system bus and bluetoothd.
final class BlueZ {
  private let bus: Child
  private let daemon: Child

  /// Starts them, and waits until bluetoothd has switched the adapter on.
  init() throws {
    try FileManager.default.createDirectory(
      atPath: "/run/dbus", withIntermediateDirectories: true)
    bus = try Child(
      "/usr/bin/dbus-daemon", ["--system", "--nofork", "--nopidfile"], output: .file)
    let isThere = Guest.wait {
      FileManager.default.fileExists(atPath: "/run/dbus/system_bus_socket")
    }
    try #require(isThere, "no bus: \(bus.error)")
    daemon = try Child("/usr/libexec/bluetooth/bluetoothd", ["-n"], output: .file)
    let isOn = try Guest.wait {
      try Guest.run(
        "busctl set-property org.bluez /org/bluez/hci0 org.bluez.Adapter1 Powered b true"
      ).status == 0
    }
    try #require(isOn, "no bluetoothd: \(daemon.error)")
  }

  func stop() {
    daemon.send(SIGTERM)
    daemon.finish()
    bus.send(SIGTERM)
    bus.finish()
    try? FileManager.default.removeItem(atPath: "/run/dbus/system_bus_socket")
  }
}
