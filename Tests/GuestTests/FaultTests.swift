import Foundation
import Testing

extension InGuest {
  /// Each thing that can go wrong while `monitor` runs: it is named, survived, and no exit comes of it.
  @Suite struct FaultTests {
    /// A fault, how it is made and mended, and what must be said of it.
    enum Fault: String, CaseIterable {
      case down, blocked, removed, hardwareError, mute, takenOver, stopped

      /// What is told: one of these.
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
      func mend(_ air: VirtualController) throws {
        switch self {
        case .down: try Guest.up()
        case .blocked: try Guest.run("rfkill unblock bluetooth; hciconfig hci0 up")
        case .removed:
          try air.perform(#"{"plug": "a"}"#)
          try #require(try Guest.wait(10) { try air.entries("plug").count == 2 })
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
      try air.perform(beacon)
      let command = try LiveCommand(
        "monitor", "--adapter", "00:AA:01:00:00:42", "--region", "desk=\(region)", "--exit-after",
        "\(exitAfter)", by: .scanner)
      try #require(
        command.line("enter", within: 10) != nil, "it heard nothing: \(command.error)")
      return command
    }

    @Test(arguments: Fault.allCases)
    func isNamedAndSurvived(fault: Fault) throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      let command = try Self.monitor(air, exitAfter: 12)
      let began = Guest.now
      try fault.make(air)
      let named = command.line("health", since: began, within: 6) {
        fault.states.contains($0["state"] ?? "")
      }
      #expect(named != nil, "heard \(command.health(since: began)) of \(fault)")
      let delay = (named?.arrival ?? .infinity) - began
      #expect(delay < 3, "named after \(delay) s")
      #expect((named?["message"] ?? "").isEmpty == false)
      if fault == .down || fault == .blocked || fault == .removed { usleep(1_500_000) }

      try fault.mend(air)
      let mended = Guest.now
      let isBack = try Guest.wait(4) {
        let setting = try air.scan()
        return setting.isOn && !setting.isFiltered
      }
      let scanned = Guest.now - mended
      #expect(isBack && scanned < 2, "scanning again after \(scanned) s")
      let well = command.line("health", since: began, within: 4) { $0["state"] == "scanning" }
      #expect(well != nil, "heard \(command.health(since: began)) of the mend")
      print(
        "\(fault): named after \(delay) s, scanning \(scanned) s after the mend;",
        "\(command.health(since: began))")

      // It still works: what leaves now, leaves.
      sleep(1)
      #expect(command.lines("exit").isEmpty, "an exit though the beacon stayed")
      try air.perform(#"{"id": "x", "off": true}"#)
      #expect(command.line("exit", within: 16) != nil, "no exit of what has gone")
      #expect(command.lines("enter").count == 1)
      #expect(command.interrupt() == 0)
      #expect(!(try air.scan().isOn))
      try air.stop()
    }

    /// Deaf for longer than the exit limit: health, and no exit. What left meanwhile is noticed afterwards.
    @Test func deafnessIsNoExit() throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      let command = try Self.monitor(air, exitAfter: 3)
      try Guest.run("hciconfig hci0 down")
      let down = Guest.now
      sleep(7)
      #expect(command.lines("exit").isEmpty)
      #expect(command.health(since: down - 1).contains("down"))
      try air.perform(#"{"id": "x", "off": true}"#)
      try Guest.up()
      let up = Guest.now
      let exit = command.line("exit", within: 8)
      #expect((exit?.arrival ?? 0) > up + 2, "it listened for less than the limit before the exit")
      #expect(exit != nil)
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// A scan that was there first is used and left alone; when it ends, ours begins.
    @Test func anotherScannerWasFirst() throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      try Guest.up()
      let other = try Child(
        "/usr/bin/hcitool", ["-i", "hci0", "lescan", "--duplicates", "--passive"], output: .file)
      try #require(try Guest.wait(10) { try air.scan().isOn })
      let began = Guest.now
      let command = try Self.monitor(air, exitAfter: 6)
      #expect(command.line("health", since: began, within: 3) { $0["state"] == "shared" } != nil)
      other.send(SIGINT)
      other.finish(limit: 10)
      let ended = Guest.now
      #expect(
        command.line("health", since: ended - 0.5, within: 3) { $0["state"] == "scanning" } != nil)
      #expect(try Guest.wait(2) { try air.scan().isOn })
      #expect(command.lines("exit").isEmpty)
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// One that comes later is refused by the controller, and ours goes on.
    @Test func anotherScannerComesLater() throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      let command = try Self.monitor(air, exitAfter: 4)
      let before = Guest.now
      let other = try Guest.run("timeout -s INT 3 hcitool -i hci0 lescan --duplicates")
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
