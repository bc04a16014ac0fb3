import Foundation
import Testing

extension InGuest {
  /// Beside bluetoothd: what it takes over is noticed and survived, and no harm is done to it.
  @Suite struct BlueZTests {
    private func isDiscovering() throws -> Bool {
      try Guest.run(
        "busctl get-property org.bluez /org/bluez/hci0 org.bluez.Adapter1 Discovering"
      ).output.contains("true")
    }

    /// A client of bluetoothd that discovers for some seconds, and then ends it.
    private func discover(_ seconds: Int) throws -> Child {
      try Child(
        "/bin/sh",
        ["-c", "{ echo scan on; sleep \(seconds); echo scan off; sleep 1; } | bluetoothctl"],
        output: .file)
    }

    @Test func aDiscoveryComesAndGoes() throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      let service = try BlueZ()
      defer { service.stop() }
      let command = try FaultTests.monitor(air, exitAfter: 4)
      let began = Guest.now
      let client = try discover(6)
      let named = command.line("health", since: began, within: 6) {
        $0["state"] == "takenOver"
      }
      #expect(named != nil, "\(command.health(since: began))")
      // Longer than the exit limit, with each advert reported once.
      client.finish(limit: 20)
      let ended = Guest.now
      #expect(try !isDiscovering(), "the discovery does not end")
      #expect(
        try Guest.wait(2) {
          let scan = try air.scan()
          return scan.isOn && !scan.isFiltered
        })
      #expect(
        command.line("health", since: ended - 2, within: 3) { $0["state"] == "scanning" } != nil,
        "\(command.health(since: began))")
      #expect(command.lines("exit").isEmpty, "an exit while each advert was reported once")
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// To end ours while bluetoothd discovers leaves its discovery whole.
    @Test func ourEndDoesNotHarmADiscovery() throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      let service = try BlueZ()
      defer { service.stop() }
      let command = try FaultTests.monitor(air, exitAfter: 4)
      let client = try discover(6)
      try #require(try Guest.wait(5) { try isDiscovering() })
      sleep(1)
      #expect(command.interrupt() == 0)
      #expect(try air.scan().isOn, "bluetoothd's scan was switched off")
      #expect(try isDiscovering())
      client.finish(limit: 20)
      #expect(try !isDiscovering(), "the discovery does not end")
      #expect(try !air.scan().isOn)
      try air.stop()
    }
  }
}
