import Foundation
import Testing

extension InGuest {
  /// Beside bluetoothd: what it takes over is noticed and survived, and no harm is done to it.
  @Suite struct BlueZTests {
    @Test func aDiscoveryComesAndGoes() throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      let service = try BlueZ()
      defer { service.stop() }
      let command = try FaultTests.monitor(air, exitAfter: 4)
      let began = Guest.now
      let client = try BlueZ.Discovery()
      let named = command.line("health", since: began) {
        $0["state"] == "takenOver"
      }
      #expect(named != nil, "\(command.health(since: began))")
      // Longer than the exit timeout, with each advert reported once.
      sleep(6)
      let ended = Guest.now
      try client.stop()
      #expect(
        try Guest.wait {
          let scan = try air.scan()
          return scan.isOn && !scan.isFiltered
        })
      #expect(
        command.line("health", since: ended) { $0["state"] == "scanning" } != nil,
        "\(command.health(since: began))")
      #expect(command.lines("exit").isEmpty, "an exit while each advert was reported once")
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// A start during a discovery, whose scan reports each advert once, is lost reception from the beginning.
    @Test func aStartDuringADiscovery() throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      let service = try BlueZ()
      defer { service.stop() }
      let client = try BlueZ.Discovery()
      try air.perform(FaultTests.beacon)
      // A discovery pauses now and then; a start in a pause shows nothing.
      var found: LiveCommand?
      for _ in 0..<20 where found == nil {
        try #require(
          try Guest.wait {
            let scan = try air.scan()
            return scan.isOn && scan.isFiltered
          })
        let command = try LiveCommand(
          "monitor", "--backend", "hci", "--adapter", "hci0", "--region",
          "desk=\(FaultTests.region)", "--exit-after", "3")
        let first = try #require(command.line("health"), "\(command.error)")
        if first["state"] == "shared" {
          #expect(first.isReceptionLost)
          found = command
        } else {
          command.interrupt()
        }
      }
      let command = try #require(found, "no start was during a scan of the discovery")
      try #require(command.line("enter") != nil, "\(command.health())")
      sleep(6)
      #expect(command.lines("exit").isEmpty, "\(command.lines("health").map(\.fields))")
      try client.stop()
      let last = command.line("health") { $0["state"] == "scanning" && !$0.isReceptionLost }
      #expect(last != nil, "\(command.health())")
      #expect(command.lines("exit").isEmpty)
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// To end ours while bluetoothd discovers leaves its discovery whole.
    @Test func ourEndDoesNotHarmADiscovery() throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      let service = try BlueZ()
      defer { service.stop() }
      let command = try FaultTests.monitor(air, exitAfter: 4)
      let client = try BlueZ.Discovery()
      try #require(try Guest.wait { try BlueZ.isDiscovering() })
      try #require(command.line("health") { $0["state"] == "takenOver" } != nil)
      #expect(command.interrupt() == 0)
      #expect(try air.scan().isOn, "bluetoothd's scan was switched off")
      #expect(try BlueZ.isDiscovering())
      try client.stop()
      #expect(try Guest.wait { try !air.scan().isOn })
      try air.stop()
    }
  }
}
