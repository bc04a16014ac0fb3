import Foundation
import Testing

extension InGuest {
  /// Which way `auto` chooses, and what happens to regions when it changes.
  @Suite struct LiveScannerTests {
    /// The sentence of the first health line by which something is received.
    private func choice(_ command: LiveCommand) throws -> String {
      try #require(command.health(isReceptionLost: false, since: 0)?["message"], "\(command.error)")
    }

    @Test func whoMayUseRawSocketsDoes() throws {
      let air = try VirtualController(BlueZScannerTests.plug)
      let service = try BlueZ("-E")
      defer { service.stop() }
      for (user, start, reason) in [
        (LiveCommand.User.root, "hci0 scans", "this process may use raw HCI sockets"),
        (.scanner, "hci0 scans", "this process may use raw HCI sockets"),
        (.person, "bluetoothd scans with hci0", "this process may not use raw HCI sockets"),
      ] {
        let command = try FaultTests.monitor(air, exitAfter: 4, backend: "auto", by: user)
        #expect(try choice(command).hasPrefix("\(start); chosen because \(reason)"))
        #expect(command.interrupt() == 0)
        #expect(try Guest.wait { try !air.scan().isOn })
      }
      try air.stop()
    }

    /// Where bluetoothd discovers already, it is used. When it dies, raw HCI follows, and the region stays entered.
    @Test func bluetoothdDiscoversAndDies() throws {
      let air = try VirtualController(BlueZScannerTests.plug)
      let service = try BlueZ("-E")
      defer { service.stop() }
      let client = try BlueZ.Discovery()
      try #require(try Guest.wait { try BlueZ.isDiscovering() })
      let command = try FaultTests.monitor(air, exitAfter: 4, backend: "auto", by: .root)
      let choice = try choice(command)
      #expect(choice.hasPrefix("bluetoothd scans with hci0; chosen because"), "\(choice)")
      let killed = Guest.now
      service.kill()
      let lost = try #require(command.health(isReceptionLost: true, since: killed))
      #expect(lost["state"] == "systemError")
      let restored = try #require(command.health(isReceptionLost: false, since: lost.arrival))
      #expect(
        restored["message"]?.hasSuffix("chosen because bluetoothd reported nothing") == true,
        "\(restored.fields)")
      #expect(
        command.line("health", since: killed) { $0["state"] == "scanning" } != nil,
        "\(command.health())")
      sleep(5)
      try BlueZScannerTests.expectOnlyTrueExit(command, air)
      #expect(try Guest.wait { try !air.scan().isOn })
      client.kill()
      try air.stop()
    }
  }
}
