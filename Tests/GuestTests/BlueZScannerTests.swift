import Foundation
import TestSupport
import Testing

extension InGuest {
  /// Reception through bluetoothd, by a user without any capability, under the stock policy of the bus.
  @Suite struct BlueZScannerTests {
    static let plug = #"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#

    /// `monitor` through bluetoothd. It is inside when this returns. On a busy machine bluetoothd may process nothing for
    /// some seconds: the exit timeout is longer.
    static func monitor(_ air: VirtualController, exitAfter: Int = 6) throws -> LiveCommand {
      let command = try FaultTests.monitor(air, exitAfter: exitAfter, backend: "bluez", by: .person)
      let status = try String(contentsOfFile: "/proc/\(command.id)/status", encoding: .utf8)
      try #require(
        status.contains("Uid:\t1000\t1000\t1000") && status.contains("CapPrm:\t0000000000000000"))
      return command
    }

    /// The beacon was there all the time, and then leaves: one exit comes, and the command ends well.
    static func expectOnlyTrueExit(_ command: LiveCommand, _ air: VirtualController) throws {
      #expect(command.lines("exit").isEmpty, "an exit though the beacon stayed")
      try air.perform(#"{"id": "x", "off": true}"#)
      #expect(command.line("exit") != nil, "no exit of what has gone")
      #expect(command.lines("enter").count == 1)
      #expect(command.interrupt() == 0)
    }

    /// Nothing of ours is left in bluetoothd, nor in the controller.
    static func expectNothingLeft(_ air: VirtualController, _ before: [String]) throws {
      #expect(try Guest.wait { try !BlueZ.isDiscovering() }, "it discovers for nobody")
      #expect(try Guest.wait { try !air.scan().isOn }, "the controller scans for nobody")
      var left: [String] = []
      try Guest.wait {
        left = try BlueZ.objects()
        return left == before
      }
      #expect(left == before)
    }

    // MARK: Faults

    /// bluetoothd crashes again and again. The loss is reported each time, and then that reception is restored.
    @Test func itIsKilledAndRestarted() throws {
      let air = try VirtualController(Self.plug)
      let service = try BlueZ("-E")
      defer { service.stop() }
      let before = try BlueZ.objects()
      let watch = try BlueZ.Watch()
      let command = try Self.monitor(air)
      var random = SplitMix64(seed: 1)
      var delays: [Double] = []
      for turn in 1...(Guest.isLong ? 20 : 4) {
        let killed = Guest.now
        service.kill()
        let lost = try #require(
          command.health(isReceptionLost: true, since: killed), "turn \(turn): no loss")
        #expect(lost["state"] == "systemError")
        // Once for longer than the exit timeout.
        usleep(turn == 2 ? 8_000_000 : UInt32(random.uniform(0, 1_500_000)))
        let restarted = Guest.now
        try service.restart()
        let restored = try #require(
          command.health(isReceptionLost: false, since: restarted),
          "turn \(turn): \(command.error)")
        #expect(restored["state"] == "scanning")
        try #require(Guest.wait { watch.changes.count == turn * 2 })
        delays.append(try #require(restored.wallTime) - watch.changes[turn * 2 - 1])
        #expect(try Guest.wait { try air.scan().isOn })
        // An exit that is due comes while it is received.
        usleep(UInt32(random.uniform(0, 500_000)))
        #expect(command.lines("exit").isEmpty, "turn \(turn): an exit though the beacon stayed")
      }
      print("restored \(delays) s after bluetoothd took its name")
      watch.stop()
      try Self.expectOnlyTrueExit(command, air)
      try Self.expectNothingLeft(air, before)
      try air.stop()
    }

    /// bluetoothd stands still for longer than the exit timeout: the loss is reported, and no exit.
    @Test func itStandsStill() throws {
      let air = try VirtualController(Self.plug)
      let service = try BlueZ("-E")
      defer { service.stop() }
      let command = try Self.monitor(air)
      let began = Guest.now
      service.setStopped(true)
      let lost = try #require(command.health(isReceptionLost: true, since: began))
      #expect(lost["state"] == "notAnswering")
      sleep(8)
      service.setStopped(false)
      let restored = command.health(isReceptionLost: false, since: lost.arrival)
      #expect(restored?["state"] == "scanning")
      sleep(4)
      try Self.expectOnlyTrueExit(command, air)
      try air.stop()
    }

    /// What is set up in bluetoothd goes with our process, also where that is killed.
    @Test func nothingIsLeftOfAKilledProcess() throws {
      let air = try VirtualController(Self.plug)
      let service = try BlueZ("-E")
      defer { service.stop() }
      let before = try BlueZ.objects()
      try air.perform(FaultTests.beacon)
      for signal in [SIGINT, SIGKILL] {
        let command = try LiveCommand(
          "range", "--backend", "bluez", "--adapter", "hci0", "--region",
          "desk=\(FaultTests.region)", by: .person)
        try #require(command.line("range") != nil, "\(command.error)")
        #expect(try Guest.wait { try BlueZ.isDiscovering() })
        #expect(try air.scan().isOn && !air.scan().isFiltered)
        kill(command.id, signal)
        #expect(command.finish() == (signal == SIGINT ? 0 : 128 + SIGKILL))
        try Self.expectNothingLeft(air, before)
      }
      try air.stop()
    }

    /// The adapter is removed and returns, and another client switches it off and on.
    @Test(arguments: ["removed", "down"])
    func theAdapterGoesAndReturns(state: String) throws {
      let air = try VirtualController(Self.plug)
      let service = try BlueZ("-E")
      defer { service.stop() }
      let before = try BlueZ.objects()
      let command = try Self.monitor(air)
      for _ in 1...(Guest.isLong ? 10 : 1) {
        let began = Guest.now
        if state == "removed" {
          try air.perform(#"{"unplug": "a"}"#)
        } else {
          try #require(try BlueZ.setPower(false))
        }
        // Before it is removed, bluetoothd shows it switched off.
        let lost = try #require(command.line("health", since: began) { $0["state"] == state })
        #expect(lost.isReceptionLost)
        sleep(8)
        let returned = Guest.now
        if state == "removed" {
          try air.perform(Self.plug)
        } else {
          try #require(try BlueZ.setPower(true))
        }
        let restored = try #require(command.health(isReceptionLost: false, since: returned))
        #expect(restored["state"] == "scanning")
        #expect(try Guest.wait { try air.scan().isOn })
        print("\(state): restored \(restored.arrival - returned) s after it returned")
        sleep(1)
      }
      try Self.expectOnlyTrueExit(command, air)
      try Self.expectNothingLeft(air, before)
      try air.stop()
    }

    /// Another client starts and stops discoveries at random, with and without a filter of its own, and is killed.
    @Test func anotherClientDiscoversAtRandom() throws {
      let air = try VirtualController(Self.plug)
      let service = try BlueZ("-E")
      defer { service.stop() }
      let before = try BlueZ.objects()
      let command = try Self.monitor(air, exitAfter: 8)
      let ranging = try LiveCommand(
        "range", "--backend", "bluez", "--adapter", "hci0", "--region",
        "desk=\(FaultTests.region)", by: .person)
      try #require(ranging.line("range") != nil, "\(ranging.error)")
      let began = Guest.now
      var random = SplitMix64(seed: 11)
      while Guest.now - began < (Guest.isLong ? 300 : 20) {
        let client = try BlueZ.Discovery()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          usleep(UInt32(random.uniform(100_000, 3_000_000)))
          try client.order("scan off")
          usleep(UInt32(random.uniform(0, 1_000_000)))
          if Bool.random(using: &random) {
            try client.order("menu scan")
            try client.order("transport le")
            try client.order(Bool.random(using: &random) ? "duplicate-data on" : "clear")
            try client.order("back")
          }
          try client.order("scan on")
        }
        client.kill()
      }
      // On a busy machine a process may not run for a while, and reports that.
      for states in [command.health(since: began), ranging.health(since: began)] {
        #expect(Set(states).isSubset(of: ["lossy", "scanning"]), "\(states)")
      }
      let ranged = ranging.lines("range", since: began).map { line in
        (line.fields["beacons"] as? [[String: Any]])?.first?["sightings"] as? Int ?? 0
      }
      print("sightings in each second of ranging: \(ranged)")
      #expect(ranging.interrupt() == 0)
      try Self.expectOnlyTrueExit(command, air)
      try Self.expectNothingLeft(air, before)
      try air.stop()
    }

    /// Our process stands still for longer than the exit timeout while 100 adverts a second come. At more than
    /// bluetoothd can process on an emulated CPU, it loses most of the beacon's, and a fixed timeout of a few
    /// seconds is too short.
    @Test func aStoppedProcessReportsNoExit() throws {
      let air = try VirtualController(Self.plug)
      let service = try BlueZ("-E")
      defer { service.stop() }
      let command = try Self.monitor(air, exitAfter: 12)
      try air.perform(#"{"id": "n", "count": 100, "interval": 1000, "rssi": -70}"#)
      sleep(1)
      let began = Guest.now
      kill(command.id, SIGSTOP)
      sleep(20)
      kill(command.id, SIGCONT)
      let lost = try #require(command.health(isReceptionLost: true, since: began))
      #expect(lost["state"] == "lossy")
      #expect(command.health(isReceptionLost: false, since: lost.arrival) != nil)
      try air.perform(#"{"id": "n", "count": 100, "off": true}"#)
      sleep(4)
      try Self.expectOnlyTrueExit(command, air)
      try air.stop()
    }

    /// A bluetoothd without monitors reports each beacon about once in 10 s. That is said, and no beacon leaves for it.
    @Test func withoutMonitors() throws {
      let air = try VirtualController(
        Self.plug, FaultTests.beacon, #"{"id": "x", "interval": 1000}"#)
      let service = try BlueZ()
      defer { service.stop() }
      let command = try LiveCommand(
        "monitor", "--backend", "bluez", "--adapter", "hci0", "--region",
        "desk=\(FaultTests.region)", by: .person)
      let shared = try #require(
        command.line("health") { $0["state"] == "shared" },
        "reported \(command.health()): \(command.error)")
      #expect(shared["message"]?.contains("--experimental") == true)
      #expect(!shared.isReceptionLost)
      try #require(command.line("enter") != nil, "\(command.error)")
      let scan = try LiveCommand("scan", "--backend", "bluez", "--adapter", "hci0", by: .person)
      try #require(scan.line("sighting") != nil, "\(scan.error)")
      sleep(Guest.isLong ? 120 : 25)
      #expect(command.lines("exit").isEmpty)
      #expect(
        Guest.wait { scan.lines("sighting").count >= 2 }, "\(scan.health()): \(scan.error)")
      let times = scan.lines("sighting").map(\.arrival)
      print("seconds between sightings: \(zip(times, times.dropFirst()).map { $1 - $0 })")
      #expect(scan.interrupt() == 0)
      #expect(command.interrupt() == 0)
      try air.stop()
    }
  }
}
