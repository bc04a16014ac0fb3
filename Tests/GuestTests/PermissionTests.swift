import Foundation
import Testing

extension InGuest {
  /// CAP_NET_RAW is enough, and without it the refusal says what mends it.
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
      let command = try LiveCommand("scan", "--adapter", "hci0", "--duration", "4", by: .scanner)
      #expect(command.finish() == 0)
      #expect(command.lines("sighting").count > 10)
      try air.stop()
    }

    /// As the sentence says: a file with the capability, run by anybody.
    @Test func aFileWithTheCapability() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try Guest.up()
      let run = try Guest.run(
        """
        cp \(Guest.beaconscan) /dev/shm/beaconscan && setcap cap_net_raw+ep /dev/shm/beaconscan &&
        setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
          /dev/shm/beaconscan scan --adapter hci0 --duration 4 --format json
        """)
      #expect(run.status == 0, "\(run.error)")
      #expect(run.lines.count > 10)
      try air.stop()
    }

    /// An adapter that is off stays off for who may not switch it on.
    @Test func switchedOffAndNotPermittedToSwitchOn() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      // The kernel switches a new adapter off again after 2 s.
      sleep(3)
      let command = try LiveCommand("scan", "--adapter", "hci0", by: .scanner)
      #expect(command.finish() == 69)
      #expect(command.error.contains("hciconfig hci0 up"), "\(command.error)")
      try air.stop()
    }

    /// Who may, switches it on.
    @Test func rootSwitchesItOn() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      sleep(3)
      let command = try LiveCommand("scan", "--adapter", "hci0")
      #expect(command.line("sighting", within: 5) != nil, "\(command.health()) \(command.error)")
      #expect(command.interrupt() == 0)
      try air.stop()
    }
  }
}
