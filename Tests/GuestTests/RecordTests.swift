import Foundation
import Testing

extension InGuest {
  /// `record` saves what was received, for `scan --replay` and for btmon.
  @Suite struct RecordTests {
    static let crowd = #"{"count": 20, "interval": 100, "rssi": -60, "noise": 4"#

    /// Records until 20 beacons have sent 600 adverts.
    private func record(_ file: String, _ arguments: [String] = [], to air: VirtualController)
      throws
      -> Child
    {
      try Guest.up()
      let command = try Child(
        Guest.beaconscan, ["record", file, "--adapter", "hci0"] + arguments, output: .file)
      try #require(try Guest.wait { try air.scan().isOn }, "no scan: \(command.error)")
      try air.perform(Self.crowd + "}")
      try air.waitForReports(600)
      return command
    }

    private func replayed(_ file: String) throws -> Tally {
      let run = try Guest.run(
        "beaconscan scan --replay \(file) --format json >/tmp/replayed.jsonl")
      #expect(run.status == 0 || run.status == 65, "\(run.error)")
      return try Tally.received(in: "/tmp/replayed.jsonl")
    }

    /// Expects that no packet stands behind a later one.
    private func expectOrder(in file: String) throws {
      let run = try Guest.run("beaconscan inspect \(file) --format json | grep '^{.type.:.capture'")
      #expect(
        run.output.contains(#""disordered":0,"clockStepsBack":0"#), "\(run.output) \(run.error)")
    }

    @Test(arguments: ["btsnoop", "btmon", "pcapng"], [false, true])
    func aRecordingHasWhatWasReceived(format: String, isExtended: Bool) throws {
      let air = try VirtualController(#"{"plug": "a", "extended": \#(isExtended), "batch": 3}"#)
      let file = "/tmp/record.\(format == "pcapng" ? format : "btsnoop")"
      let command = try record(file, ["--format", format, "--force"], to: air)
      try air.perform(#"{"count": 20, "off": true}"#)
      let truth = try Tally.reported(by: air)
      try Guest.wait { try replayed(file).total >= truth.total }
      command.send(SIGINT)
      #expect(command.finish() == 0, "\(command.error)")
      let received = try replayed(file)
      #expect(received == truth, "\(received.difference(from: truth))")
      try expectOrder(in: file)
      if format != "pcapng" {
        let lines = try Guest.run("btmon -r \(file) | grep -c '  *RSSI: -'").output
        #expect(Int(lines.dropLast()) == truth.total, "btmon reads \(lines)")
      }
      try air.stop()
    }

    /// What two adapters received stands in the order of time, too.
    @Test func twoAdaptersAreRecordedInOrder() throws {
      let air = try VirtualController(
        #"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#,
        #"{"plug": "b", "addr": "00:AA:01:00:00:43", "extended": true}"#)
      try Guest.up("hci1")
      let file = "/tmp/two.btsnoop"
      let command = try record(file, ["--adapter", "hci1", "--force"], to: air)
      command.send(SIGINT)
      #expect(command.finish() == 0, "\(command.error)")
      #expect(try replayed(file).total > 0)
      try expectOrder(in: file)
      try air.stop()
    }

    /// The wall clock is set forward by an hour, twice, and back: the file has no such step, and a replay no exit.
    @Test func aStepOfTheWallClockIsNoAbsence() throws {
      let air = try VirtualController(#"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#)
      try air.perform(FaultTests.beacon)
      let file = "/tmp/stepped.btsnoop"
      let command = try record(file, ["--force"], to: air)
      for hours in [1, 1, -2] {
        try Guest.setWallClock(forward: hours * 3600)
        // Recorded within a second also where the clock was set back.
        let size = Guest.size(of: file)
        #expect(Guest.wait { Guest.size(of: file) > size }, "\(command.error)")
        try air.waitForReports(600)
      }
      command.send(SIGINT)
      #expect(command.finish() == 0, "\(command.error)")
      try expectOrder(in: file)
      let replay = try Guest.run(
        "beaconscan monitor --replay \(file) --region desk=\(FaultTests.region) --exit-after 30"
          + " --format json")
      #expect(replay.lines.count { $0.contains(#""type":"enter""#) } == 1, "\(replay.output)")
      #expect(!replay.output.contains(#""type":"exit""#), "\(replay.output)")
      try air.stop()
    }

    /// The file of a recorder that was killed has what was received more than a second before: it is written
    /// twice a second, or as seldom as the test sees it grow on a busy machine.
    @Test func aKilledRecorderLosesASecond() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      let file = "/tmp/killed.btsnoop"
      let command = try record(file, to: air)
      let began = Guest.now
      var (size, grown, longest) = (0, began, 0.0)
      while Guest.now < began + 4 {
        usleep(20_000)
        longest = max(longest, Guest.now - grown)
        let now = Guest.size(of: file)
        if now != size { (size, grown) = (now, Guest.now) }
      }
      command.send(SIGKILL)
      let end = Guest.now
      command.finish()
      try air.sync()
      let old = try Guest.run(
        #"awk -F'[:,]' '/"report"/ && $4 < \#(end - longest - 0.7)' \#(air.path) | wc -l"#)
      let received = try replayed(file).total
      print("the file stood still for \(longest) s at most; \(received) are in it")
      #expect(received >= Int(old.output.dropLast()) ?? .max, "\(received) of \(old.output)")
      try air.stop()
    }

    /// A full disk is reported, and does not end the recording; with room again, it goes on.
    @Test func aFullDisk() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.run(
        "mkdir -p /tmp/small && mount -t tmpfs -o size=128k small /tmp/small"
          + " && head -c 90000 /dev/zero >/tmp/small/other")
      defer { _ = try? Guest.run("umount /tmp/small") }
      let command = try record("/tmp/small/x.btsnoop", to: air)
      #expect(Guest.wait { command.error.contains("space") }, "\(command.error)")
      #expect(command.isRunning)
      #expect(try air.scan().isOn)
      try Guest.run("rm /tmp/small/other")
      let size = try Guest.run("stat -c %s /tmp/small/*.btsnoop").output
      let goesOn = try Guest.wait {
        try Guest.run("stat -c %s /tmp/small/*.btsnoop").output != size
      }
      #expect(goesOn, "it does not go on: \(command.error)")
      command.send(SIGINT)
      #expect(command.finish() == 74, "what was lost is no success: \(command.error)")
      try air.stop()
    }
  }
}
