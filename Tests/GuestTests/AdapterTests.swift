import Foundation
import Testing

extension InGuest {
  /// Several adapters: a beacon that two of them receive is present once.
  @Suite struct AdapterTests {
    private func twoAdapters() throws -> VirtualController {
      let air = try VirtualController(
        #"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#,
        #"{"plug": "b", "addr": "00:AA:01:00:00:43", "extended": true}"#)
      try Guest.up("hci0")
      try Guest.up("hci1")
      return air
    }

    @Test func onePresenceWhileAnyReceives() throws {
      let air = try twoAdapters()
      let command = try LiveCommand(
        "monitor", "--adapter", "hci0", "--adapter", "hci1", "--region",
        "desk=\(FaultTests.region)",
        "--exit-after", "4")
      try air.perform(
        #"{"id": "x", "uuid": "\#(FaultTests.region)", "major": 1, "minor": 2, "rssi": {"a": -70, "b": -60}}"#
      )
      try #require(command.line("enter") != nil, "\(command.error)")
      try air.perform(#"{"id": "x", "rssi": {"a": -70}}"#)
      sleep(6)
      try air.perform(#"{"id": "x", "rssi": {"b": -70}}"#)
      sleep(6)
      // While one adapter receives, reception is not lost.
      try Guest.run("hciconfig hci0 down")
      let down = command.line("health") { $0["state"] == "down" && $0["adapter"] == "hci0" }
      #expect(down != nil, "\(command.health())")
      sleep(6)
      #expect(command.lines("exit").isEmpty)
      try air.perform(#"{"id": "x", "off": true}"#)
      #expect(command.line("exit") != nil)
      #expect(command.lines("enter").count == 1)
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// An address stays what it is when the name of its adapter changes.
    @Test func anAdapterIsFoundByItsAddress() throws {
      let air = try twoAdapters()
      try air.perform(#"{"id": "x", "rssi": {"a": -70, "b": -60}}"#)
      let command = try LiveCommand("scan", "--adapter", "00:aa:01:00:00:43")
      #expect(Guest.wait { command.lines("sighting").count > 5 }, "\(command.error)")
      #expect(command.interrupt() == 0)
      let levels = Set(command.lines("sighting").compactMap { $0.fields["rssi"] as? Int })
      #expect(levels == [-60], "\(command.error)")
      #expect(try air.entries("scan", of: "a").isEmpty)
      try air.stop()
    }

    /// An adapter that is named twice is used once: each sighting comes once.
    @Test func anAdapterNamedTwiceIsOne() throws {
      let air = try twoAdapters()
      let command = try LiveCommand(
        "scan", "--adapter", "hci0", "--adapter", "00:AA:01:00:00:42", "--adapter", "hci0")
      #expect(try Guest.wait { try air.scan(of: "a").isOn })
      try air.perform(
        #"{"id": "x", "uuid": "\#(FaultTests.region)", "major": 1, "minor": 2, "count": 20}"#)
      try air.waitForReports(100)
      try air.perform(#"{"id": "x", "count": 20, "off": true}"#)
      let sent = try air.reportCount()
      #expect(Guest.wait { command.lines("sighting").count >= sent }, "\(command.error)")
      #expect(command.interrupt() == 0)
      let switches = try air.entries("scan", of: "a").count
      #expect(switches <= 4, "the scan was switched \(switches) times")
      let sightings = command.lines("sighting").compactMap { line in
        line.fields["time"].map { "\($0) \(line.fields["minor"] as Any)" }
      }
      #expect(sightings.count == sent)
      #expect(Set(sightings).count == sightings.count, "a sighting came twice")
      try air.stop()
    }

    /// Each sighting names the adapter that received it.
    @Test func sightingsCarryTheAdapter() throws {
      let air = try twoAdapters()
      try air.perform(#"{"id": "x", "rssi": {"a": -70, "b": -60}}"#)
      let command = try LiveCommand("scan", "--adapter", "all")
      func pairs() -> Set<String> {
        Set(
          command.lines("sighting").map {
            "\($0["adapter"] ?? "none") \($0.fields["rssi"] as? Int ?? 0)"
          })
      }
      Guest.wait { pairs().count >= 2 }
      #expect(command.interrupt() == 0)
      #expect(pairs() == ["hci0 -70", "hci1 -60"], "\(command.error)")
      try air.stop()
    }

    /// A number means the adapter that has it now: another dongle in its place is used.
    @Test func anotherAdapterInItsPlaceIsUsed() throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      try Guest.up()
      let command = try LiveCommand("scan", "--adapter", "hci0")
      #expect(try Guest.wait { try air.scan(of: "a").isOn })
      try air.perform(#"{"unplug": "a"}"#)
      // The kernel gives the number away again when the last socket on the former adapter is closed.
      var plugs = 1
      let hasItsNumber = try Guest.wait {
        try air.perform(#"{"plug": "b", "addr": "00:AA:01:00:00:43"}"#)
        plugs += 1
        try #require(try Guest.wait { try air.entries("plug").count == plugs })
        if try air.entries("plug").last?["hci"] == "hci0" { return true }
        try air.perform(#"{"unplug": "b"}"#)
        return false
      }
      try #require(hasItsNumber)
      #expect(try Guest.wait { try air.scan(of: "b").isOn }, "\(command.health())")
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// Scans that a killed process left on are taken over, with two adapters as with one.
    @Test func scansOfAKilledProcessAreTakenOver() throws {
      let air = try twoAdapters()
      let first = try LiveCommand("scan", "--adapter", "all")
      let areOn = { try air.scan(of: "a").isOn && air.scan(of: "b").isOn }
      try #require(try Guest.wait(until: areOn), "\(first.error)")
      kill(first.id, SIGKILL)
      first.finish()
      #expect(try Guest.wait(until: areOn), "the kernel switches no scan off")
      let began = Guest.now
      let second = try LiveCommand("scan", "--adapter", "all")
      for adapter in ["hci0", "hci1"] {
        let health = second.line("health", since: began) {
          $0["state"] == "scanning" && $0["adapter"] == adapter
        }
        #expect(health != nil, "\(second.health())")
      }
      #expect(second.interrupt() == 0)
      #expect(try !air.scan(of: "a").isOn && !air.scan(of: "b").isOn, "they were not its own")
      try air.stop()
    }

    /// Too many open files end no scan that runs.
    ///
    /// The Swift runtime's thread pool opens a file in /proc when work waits for a thread for a second, and traps if it
    /// cannot: such a run, which a busy machine makes likelier, shows nothing and is repeated.
    @Test func tooManyOpenFilesEndNoScan() throws {
      for attempt in 1...5 {
        // A run that trapped leaves its scans on: each has adapters of its own, whose scans are its own.
        let air = try twoAdapters()
        // Without a beacon of the region no work waits for a thread.
        let command = try LiveCommand(
          "monitor", "--adapter", "all", "--region", "none=\(FaultTests.region):65535:65535")
        try #require(
          try Guest.wait { try air.scan(of: "a").isOn && air.scan(of: "b").isOn },
          "\(command.error)")
        usleep(500_000)
        let began = Guest.now
        // No descriptor may be opened any more.
        try Guest.run("prlimit --pid \(command.id) --nofile=4:")
        sleep(3)
        let health = command.health(since: began)
        let areOn = try air.scan(of: "a").isOn && air.scan(of: "b").isOn
        let status = command.interrupt()
        try air.stop()
        if status == 128 + SIGILL, attempt < 5 {
          print("the thread pool could not open /proc in attempt \(attempt)")
          continue
        }
        #expect(health.isEmpty && areOn && status == 0, "\(health), \(status)")
        break
      }
    }
  }
}
