import Foundation
import Testing

extension InGuest {
  /// CAP_NET_RAW is enough, and without it the refusal names the command that fixes it.
  @Suite struct PermissionTests {
    @Test(arguments: ["scan", "range", "monitor"])
    func withoutCapability(subcommand: String) throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try Guest.up()
      let command = try LiveCommand(
        subcommand, "--adapter", "hci0", "--duration", "5", "--uuid", FaultTests.region, by: .nobody
      )
      #expect(command.finish() == 77)
      #expect(command.error.contains("setcap cap_net_raw"))
      #expect(command.error.split(separator: "\n").count == 1, "\(command.error)")
      #expect(command.lines("sighting").isEmpty)
      try air.stop()
    }

    @Test func netRawAloneIsEnough() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try Guest.up()
      let command = try LiveCommand("scan", "--adapter", "hci0", by: .scanner)
      #expect(Guest.wait { command.lines("sighting").count > 10 }, "\(command.error)")
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// As the error says: a file with the capability, run by any user.
    @Test func aFileWithTheCapability() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try Guest.up()
      let run = try Guest.run(
        """
        cp \(Guest.beaconscan) /dev/shm/beaconscan && setcap cap_net_raw+ep /dev/shm/beaconscan &&
        setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
          /dev/shm/beaconscan scan --adapter hci0 --count 12 --duration 120 --format json
        """)
      #expect(run.status == 0, "\(run.error)")
      #expect(run.lines.count > 10)
      try air.stop()
    }

    /// An adapter that is off stays off without the right to switch it on.
    @Test func switchedOffAndNotPermittedToSwitchOn() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try air.waitUntilSwitchedOff()
      let command = try LiveCommand("scan", "--adapter", "hci0", by: .scanner)
      #expect(command.finish() == 69)
      #expect(command.error.contains("hciconfig hci0 up"), "\(command.error)")
      try air.stop()
    }

    /// With the right to do so, the command switches it on.
    @Test func rootSwitchesItOn() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try air.waitUntilSwitchedOff()
      let command = try LiveCommand("scan", "--adapter", "hci0")
      #expect(command.line("sighting") != nil, "\(command.health()) \(command.error)")
      #expect(command.interrupt() == 0)
      try air.stop()
    }
  }
}
