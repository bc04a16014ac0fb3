import Foundation
import Testing

extension InGuest {
  /// The radio works as hard as somebody needs, by what the controller was told.
  @Suite struct DemandTests {
    /// How a subcommand scans.
    private func setting(_ arguments: [String], coded: Bool = false) throws -> ScanSetting {
      let air = try VirtualController(#"{"plug": "a", "coded": \#(coded)}"#, #"{"id": "x"}"#)
      try Guest.up()
      let command = try Child(
        Guest.beaconscan, arguments + ["--adapter", "hci0", "--format", "json"], output: .file)
      #expect(try Guest.wait(10) { try air.scan().isOn }, "\(command.error)")
      sleep(1)
      let setting = try air.scan()
      command.send(SIGINT)
      #expect(command.finish(limit: 10) == 0)
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
    @Test(arguments: [SIGHUP, SIGTERM, SIGPIPE]) func endsWithItsTerminal(signal: Int32) throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try Guest.up()
      let end = signal == SIGPIPE ? "| head -n 3 >/dev/null" : "& sleep 4; kill -\(signal) $!; wait"
      let run = try Guest.run("beaconscan scan --adapter hci0 --format json \(end)")
      #expect(try air.entries("scan").contains { ScanSetting($0.fields).isOn }, "\(run.error)")
      #expect(!(try air.scan().isOn))
      try air.stop()
    }

    /// A termination ends it as an interrupt does, and what was killed is made good by the next.
    @Test func nothingIsLeftBehind() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try Guest.up()
      let killed = try Child(
        Guest.beaconscan, ["scan", "--adapter", "hci0", "--format", "json"], output: .file)
      try #require(try Guest.wait(10) { try air.scan().isOn })
      killed.send(SIGKILL)
      killed.finish(limit: 10)
      #expect(try air.scan().isOn, "nobody could switch it off")
      let next = try LiveCommand("scan", "--adapter", "hci0")
      #expect(next.line("sighting", within: 5) != nil)
      sleep(3)
      #expect(next.interrupt() == 0)
      #expect(!(try air.scan().isOn), "\(next.health())")
      try air.stop()
    }
  }
}
