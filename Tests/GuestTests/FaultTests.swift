import Foundation
import Testing

extension InGuest {
  /// Each fault of the radio while `monitor` runs: it is named, survived, and no exit comes of it.
  @Suite struct FaultTests {
    /// A fault, how it is made and fixed, and the state that must be reported.
    enum Fault: String, CaseIterable {
      case down, blocked, removed, hardwareError, mute, takenOver, stopped

      /// The states of which one must be reported.
      var states: Set<String> { self == .mute ? ["notAnswering"] : [rawValue] }

      /// Shell or an order that makes it.
      func make(_ air: VirtualController) throws {
        switch self {
        case .down: try Guest.run("hciconfig hci0 down")
        case .blocked: try Guest.run("rfkill block bluetooth")
        case .removed: try air.perform(#"{"unplug": "a"}"#)
        case .hardwareError: try air.perform(#"{"hw_error": 66}"#)
        case .mute: try air.perform(#"{"mute": "all"}"#)
        case .takenOver:
          // A scan with the duplicate filter on, as bluetoothd's discovery makes it.
          try Guest.run(
            "hcitool -i hci0 cmd 8 c 0 0; hcitool -i hci0 cmd 8 b 1 24 0 12 0 0 0;"
              + " hcitool -i hci0 cmd 8 c 1 1")
        case .stopped: try Guest.run("hcitool -i hci0 cmd 8 c 0 0")
        }
      }

      /// What a person or the kernel does about it.
      func fix(_ air: VirtualController) throws {
        switch self {
        case .down: try Guest.up()
        case .blocked: try Guest.run("rfkill unblock bluetooth; hciconfig hci0 up")
        case .removed:
          try air.perform(#"{"plug": "a"}"#)
          try #require(try Guest.wait { try air.entries("plug").count == 2 })
          usleep(200_000)
          try Guest.up(try #require(try air.entries("plug").last?["hci"]))
        case .hardwareError, .stopped: break
        case .mute: try air.perform(#"{"mute": false}"#)
        case .takenOver: try Guest.run("hcitool -i hci0 cmd 8 c 0 0")
        }
      }
    }

    static let region = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    static let beacon =
      #"{"id": "x", "uuid": "\#(region)", "major": 1, "minor": 2, "interval": 100, "rssi": -60}"#

    /// `monitor` as a service runs it: with CAP_NET_RAW alone. It is inside when this returns.
    static func monitor(_ air: VirtualController, exitAfter: Int) throws -> LiveCommand {
      try Guest.up()
      return try monitor(air, exitAfter: exitAfter, backend: "hci", by: .scanner)
    }

    /// `monitor` of a region whose beacon is there. It is inside when this returns.
    static func monitor(
      _ air: VirtualController, exitAfter: Int, backend: String, by user: LiveCommand.User
    ) throws -> LiveCommand {
      try air.perform(beacon)
      let command = try LiveCommand(
        "monitor", "--adapter", "00:AA:01:00:00:42", "--region", "desk=\(region)", "--exit-after",
        "\(exitAfter)", "--backend", backend, by: user)
      try #require(
        command.line("enter") != nil, "it received nothing: \(command.error)")
      return command
    }

    @Test(arguments: Fault.allCases)
    func isNamedAndSurvived(fault: Fault) throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      let command = try Self.monitor(air, exitAfter: 12)
      let began = Guest.now
      try fault.make(air)
      let named = command.line("health", since: began) {
        fault.states.contains($0["state"] ?? "")
      }
      #expect(named != nil, "reported \(command.health()) before and after \(fault)")
      let delay = (named?.arrival ?? .infinity) - began
      #expect((named?["message"] ?? "").isEmpty == false)
      if fault == .down || fault == .blocked || fault == .removed { usleep(1_500_000) }

      try fault.fix(air)
      let fixed = Guest.now
      let isBack = try Guest.wait {
        let setting = try air.scan()
        return setting.isOn && !setting.isFiltered
      }
      let scanned = Guest.now - fixed
      #expect(isBack, "not scanning after \(scanned) s")
      let well = command.line("health", since: began) { $0["state"] == "scanning" }
      #expect(well != nil, "reported \(command.health(since: began)) after the fix")
      print(
        "\(fault): named after \(delay) s, scanning \(scanned) s after the fix;",
        "\(command.health(since: began))")

      // It still works: what leaves now, leaves.
      sleep(1)
      #expect(command.lines("exit").isEmpty, "an exit though the beacon stayed")
      try air.perform(#"{"id": "x", "off": true}"#)
      #expect(command.line("exit") != nil, "no exit of what has gone")
      #expect(command.lines("enter").count == 1)
      #expect(command.interrupt() == 0)
      #expect(!(try air.scan().isOn))
      try air.stop()
    }

    /// Reception is lost for longer than the exit timeout: health, and no exit. A beacon that left meanwhile exits
    /// afterwards.
    @Test func lostReceptionIsNoExit() throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      let command = try Self.monitor(air, exitAfter: 3)
      let down = Guest.now
      try Guest.run("hciconfig hci0 down")
      sleep(7)
      #expect(command.lines("exit").isEmpty)
      let lost = try #require(command.line("health", since: down) { $0["state"] == "down" })
      try air.perform(#"{"id": "x", "off": true}"#)
      let scans = try air.entries("scan").count
      try Guest.up()
      let exit = try #require(command.line("exit"))
      let scan = try air.entries("scan").dropFirst(scans).first { ScanSetting($0.fields).isOn }
      let began = try #require(scan?.time)
      // The kernel stops the scan some time before it reports the adapter down. That time, and the interval of the
      // beacon before it, are silence while it scanned as far as anyone can know.
      let listened = exit.arrival - began + (lost.arrival - down) + 0.1
      #expect(listened > 3, "it listened for less than the timeout before the exit")
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// A scan that was there first is used and left alone; when it ends, ours begins.
    @Test func anotherScannerWasFirst() throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      try Guest.up()
      let other = try Child(
        "/usr/bin/hcitool", ["-i", "hci0", "lescan", "--duplicates", "--passive"], output: .file)
      try #require(try Guest.wait { try air.scan().isOn })
      let began = Guest.now
      let command = try Self.monitor(air, exitAfter: 6)
      let shared = try #require(
        command.line("health", since: began) { $0["state"] == "shared" }, "\(command.health())")
      other.send(SIGINT)
      other.finish()
      #expect(
        command.line("health", since: shared.arrival) { $0["state"] == "scanning" } != nil)
      #expect(try Guest.wait { try air.scan().isOn })
      #expect(command.lines("exit").isEmpty)
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// One that comes later is refused by the controller, and ours goes on.
    @Test func anotherScannerComesLater() throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      let command = try Self.monitor(air, exitAfter: 4)
      let before = Guest.now
      let other = try Guest.run("timeout -s INT 60 hcitool -i hci0 lescan --duplicates")
      #expect(other.status != 0)
      sleep(1)
      #expect(command.lines("exit").isEmpty)
      #expect(command.health(since: before).isEmpty)
      #expect(try air.scan().isOn)
      #expect(command.interrupt() == 0)
      try air.stop()
    }
  }
}
