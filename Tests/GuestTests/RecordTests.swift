import Foundation
import Testing

extension InGuest {
  /// What `record` saves is what was heard, for `scan --replay` and for btmon.
  @Suite struct RecordTests {
    static let crowd = #"{"count": 20, "interval": 100, "rssi": -60, "noise": 4"#

    /// Records while 20 beacons speak for 4 s.
    private func record(_ file: String, _ arguments: [String] = [], to air: VirtualController)
      throws
      -> Child
    {
      try Guest.up()
      let command = try Child(
        Guest.beaconscan, ["record", file, "--adapter", "hci0"] + arguments, output: .file)
      try #require(try Guest.wait(10) { try air.scan().isOn }, "no scan: \(command.error)")
      try air.perform(Self.crowd + "}")
      sleep(4)
      return command
    }

    private func replayed(_ file: String) throws -> Tally {
      let run = try Guest.run(
        "beaconscan scan --replay \(file) --format json >/tmp/replayed.jsonl", limit: 120)
      #expect(run.status == 0 || run.status == 65, "\(run.error)")
      return try Tally.heard(in: "/tmp/replayed.jsonl")
    }

    @Test(arguments: ["btsnoop", "btmon", "pcapng"], [false, true])
    func aRecordingHasWhatWasHeard(format: String, isExtended: Bool) throws {
      let air = try VirtualController(#"{"plug": "a", "extended": \#(isExtended), "batch": 3}"#)
      let file = "/tmp/record.\(format == "pcapng" ? format : "btsnoop")"
      let command = try record(file, ["--format", format, "--force"], to: air)
      try air.perform(#"{"count": 20, "off": true}"#)
      usleep(300_000)
      command.send(SIGINT)
      #expect(command.finish(limit: 20) == 0, "\(command.error)")
      let truth = try Tally.reported(by: air)
      #expect(truth.total > 500)
      let heard = try replayed(file)
      #expect(heard == truth, "\(heard.difference(from: truth))")
      if format != "pcapng" {
        let lines = try Guest.run("btmon -r \(file) | grep -c '  *RSSI: -'").output
        #expect(Int(lines.dropLast()) == truth.total, "btmon reads \(lines)")
      }
      try air.stop()
    }

    /// What was heard more than a second ago is in the file of a recorder that was killed.
    @Test func aKilledRecorderLosesASecond() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      let command = try record("/tmp/killed.btsnoop", to: air)
      command.send(SIGKILL)
      let end = Guest.now
      command.finish(limit: 10)
      try air.sync()
      let old = try Guest.run(
        #"awk -F'[:,]' '/"report"/ && $4 < \#(end - 1.2)' \#(air.path) | wc -l"#)
      let heard = try replayed("/tmp/killed.btsnoop").total
      #expect(heard >= Int(old.output.dropLast()) ?? .max, "\(heard) of \(old.output)")
      try air.stop()
    }

    /// A disk that is full is said, and does not end it; with room again, it goes on.
    @Test func aFullDisk() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.run(
        "mkdir -p /tmp/small && mount -t tmpfs -o size=128k small /tmp/small"
          + " && head -c 90000 /dev/zero >/tmp/small/other")
      defer { _ = try? Guest.run("umount /tmp/small") }
      let command = try record("/tmp/small/x.btsnoop", to: air)
      #expect(Guest.wait(10) { command.error.contains("space") }, "\(command.error)")
      #expect(command.isRunning)
      #expect(try air.scan().isOn)
      try Guest.run("rm /tmp/small/other")
      let size = try Guest.run("stat -c %s /tmp/small/*.btsnoop").output
      sleep(2)
      let later = try Guest.run("stat -c %s /tmp/small/*.btsnoop").output
      #expect(later != size, "it does not go on: \(command.error)")
      command.send(SIGINT)
      #expect(command.finish(limit: 20) == 74, "what was lost is no success: \(command.error)")
      try air.stop()
    }
  }
}
