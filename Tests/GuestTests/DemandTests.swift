import Foundation
import Testing

extension InGuest {
  /// The radio works as hard as the demand, by the commands that the controller received.
  @Suite struct DemandTests {
    /// How a subcommand scans.
    private func setting(_ arguments: [String], coded: Bool = false) throws -> ScanSetting {
      let air = try VirtualController(#"{"plug": "a", "coded": \#(coded)}"#, #"{"id": "x"}"#)
      try Guest.up()
      let command = try Child(
        Guest.beaconscan, arguments + ["--adapter", "hci0", "--format", "json"], output: .file)
      #expect(try Guest.wait { try air.scan().isOn }, "\(command.error)")
      sleep(1)
      let setting = try air.scan()
      command.send(SIGINT)
      #expect(command.finish() == 0)
      #expect(!(try air.scan().isOn), "the scan goes on after the end")
      try air.stop()
      return setting
    }

    @Test(arguments: ["scan", "range"]) func fullWhileRanging(subcommand: String) throws {
      let setting = try setting([subcommand])
      #expect(setting.duty == 1)
      #expect(!setting.isActive && !setting.isFiltered && !setting.isExtended)
    }

    @Test func slowWhileOnlyMonitoring() throws {
      let setting = try setting(["monitor", "--region", "desk=\(FaultTests.region)"])
      #expect(setting.duty > 0 && setting.duty < 0.6, "duty \(setting.duty)")
      #expect(!setting.isActive && !setting.isFiltered)
    }

    /// A quiet room wakes the process twice a second at most.
    @Test(arguments: ["monitor", "scan"]) func aQuietRoomWakesRarely(subcommand: String) throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let command = try LiveCommand(
        subcommand, "--adapter", "hci0", "--region", "desk=\(FaultTests.region)")
      try #require(command.line("health") { $0["state"] == "scanning" } != nil, "\(command.error)")
      // A region is looked for at the start, and a room is quiet after ten seconds.
      sleep(14)
      // The guest's host may be busy for a while.
      var rate = Double.infinity
      for _ in 0..<3 where rate > 2 {
        rate = min(rate, ProcessUse.wakeUpRate(command.id, over: 20))
      }
      print("\(subcommand) in a quiet room: \(rate) wake-ups a second")
      #expect(rate <= 2)
      // It is awake at once where something happens.
      let spoke = try air.perform(FaultTests.beacon)
      #expect(command.line(subcommand == "scan" ? "sighting" : "enter", since: spoke) != nil)
      let down = Guest.now
      try Guest.run("hciconfig hci0 down")
      let lost = try #require(command.line("health", since: down) { $0["state"] == "down" })
      print("down after \(lost.arrival - down) s")
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    @Test func activeOnRequest() throws {
      #expect(try setting(["scan", "--active"]).isActive)
    }

    @Test func codedOnRequest() throws {
      let plain = try setting(["scan"], coded: true)
      #expect(plain.isExtended && plain.phys == ["1M"])
      let coded = try setting(["scan", "--coded"], coded: true)
      #expect(coded.phys == ["1M", "coded"])
    }

    /// A terminal that is closed leaves no scan on, nor does a reader that goes.
    @Test(arguments: [SIGHUP, SIGTERM, SIGPIPE, SIGQUIT]) func endsWithItsTerminal(signal: Int32)
      throws
    {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try Guest.up()
      let line = "beaconscan scan --adapter hci0 --format json"
      if signal == SIGPIPE {
        let run = try Guest.run("\(line) | head -n 3 >/dev/null")
        #expect(try air.entries("scan").contains { ScanSetting($0.fields).isOn }, "\(run.error)")
      } else {
        let command = try Child("/bin/sh", ["-c", "exec \(line)"], output: .file)
        #expect(try Guest.wait { try air.scan().isOn }, "\(command.error)")
        command.send(signal)
        command.finish()
      }
      #expect(!(try air.scan().isOn))
      try air.stop()
    }

    /// A tool switches the scan off, and on with its filter, and is gone: it is taken back, and ours to end.
    @Test func aScanThatAToolLeftIsTakenBack() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try Guest.up()
      let command = try LiveCommand("scan", "--adapter", "hci0")
      try #require(command.line("sighting") != nil, "\(command.error)")
      let began = Guest.now
      for line in ["0x000C 00 00", "0x000B 00 10 00 10 00 00 00", "0x000C 01 01"] {
        try Guest.run("hcitool -i hci0 cmd 0x08 \(line)")
      }
      #expect(command.line("health", since: began) { $0["state"] == "scanning" } != nil)
      Guest.wait { (try? air.scan().isFiltered) == false }
      #expect(!(try air.scan().isFiltered), "\(command.health(since: began))")
      #expect(command.interrupt() == 0)
      #expect(!(try air.scan().isOn), "\(command.health(since: began))")
      try air.stop()
    }

    /// Two that start at once, after a third switched the scan off, leave none on when both have ended.
    @Test func twoProcessesLeaveNoScan() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try Guest.up()
      let first = try LiveCommand("scan", "--adapter", "hci0")
      let second = try LiveCommand("scan", "--adapter", "hci0")
      for command in [first, second] {
        try #require(command.line("sighting") != nil, "\(command.error)")
      }
      for _ in 0..<3 {
        try Guest.run("hcitool -i hci0 cmd 0x08 0x000C 00 00")
        let off = Guest.now
        for command in [first, second] {
          #expect(command.line("sighting", since: off + 0.5) != nil, "\(command.health())")
        }
      }
      kill(first.id, SIGINT)
      kill(second.id, SIGINT)
      #expect(first.finish() == 0 && second.finish() == 0)
      #expect(!(try air.scan().isOn), "\(first.health()) \(second.health())")
      try air.stop()
    }

    /// A termination ends it as an interrupt does, and the next run ends the scan of one that was killed.
    @Test func nothingIsLeftBehind() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try Guest.up()
      let killed = try Child(
        Guest.beaconscan, ["scan", "--adapter", "hci0", "--format", "json"], output: .file)
      try #require(try Guest.wait { try air.scan().isOn })
      killed.send(SIGKILL)
      killed.finish()
      #expect(try air.scan().isOn, "nobody could switch it off")
      let next = try LiveCommand("scan", "--adapter", "hci0")
      #expect(next.line("sighting") != nil)
      // It takes over the scan that was left on, once it has seen that no process owns it.
      sleep(3)
      Guest.wait { next.health().last ?? "scanning" == "scanning" }
      #expect(next.interrupt() == 0)
      #expect(!(try air.scan().isOn), "\(next.health())")
      try air.stop()
    }
  }
}
