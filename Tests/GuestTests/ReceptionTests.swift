import Foundation
import Testing

extension InGuest {
  /// Too few adverts, and too many.
  @Suite struct ReceptionTests {
    /// A radio that receives nothing reports so, and again when it receives.
    @Test func aQuietPlace() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let command = try LiveCommand("scan", "--adapter", "hci0")
      let began = Guest.now
      let quiet = try #require(
        command.line("health") { $0["state"] == "quiet" }, "\(command.health())")
      #expect(quiet.arrival - began > 10)
      // An advert of any kind is enough.
      let spoke = try air.perform(
        #"{"id": "phone", "data": "02011a020a0c", "addr": "C0:00:00:00:00:99"}"#)
      #expect(
        command.line("health", since: spoke) { $0["state"] == "scanning" } != nil)
      #expect(command.lines("sighting").isEmpty)
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// More at once than the socket holds while the reader is stopped is reported.
    @Test func aFloodIsReported() throws {
      let air = try VirtualController(
        #"{"plug": "a"}"#, #"{"id": "x", "interval": 200, "rssi": -60}"#)
      try Guest.up()
      let command = try LiveCommand("scan", "--adapter", "hci0")
      try #require(command.line("sighting") != nil, "\(command.error)")
      let began = Guest.now
      kill(command.id, SIGSTOP)
      try air.perform(#"{"id": "x", "burst": 30000}"#)
      kill(command.id, SIGCONT)
      #expect(
        command.line("health", since: began) { $0["state"] == "lossy" } != nil,
        "\(command.health())")
      #expect(
        command.line("health", since: began) { $0["state"] == "scanning" } != nil,
        "\(command.health(since: began))")
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// A process that is stopped for longer than the exit timeout, while more comes than the socket holds, or while the
    /// adapter goes and comes back, reports lost reception and no exit.
    @Test(arguments: [FaultTests.Fault?.none, .removed])
    func aStoppedProcessReportsNoExit(fault: FaultTests.Fault?) throws {
      let air = try VirtualController(
        #"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#,
        #"{"id": "noise", "data": "02011a020a0c", "interval": 200, "rssi": -60}"#)
      let command = try FaultTests.monitor(air, exitAfter: 3)
      let began = Guest.now
      kill(command.id, SIGSTOP)
      if let fault {
        try fault.make(air)
        sleep(5)
        try fault.fix(air)
      } else {
        try air.perform(#"{"id": "noise", "burst": 30000}"#)
        sleep(5)
      }
      kill(command.id, SIGCONT)
      let state = fault == nil ? "lossy" : "removed"
      #expect(command.line("health", since: began) { $0["state"] == state } != nil)
      #expect(command.line("health", since: began) { $0["state"] == "scanning" } != nil)
      #expect(command.lines("exit").isEmpty, "\(command.health(since: began))")
      // What leaves now, leaves.
      try air.perform(#"{"id": "x", "off": true}"#)
      #expect(command.line("exit") != nil)
      #expect(command.lines("enter").count == 1)
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// Bytes that no controller should send end nothing.
    @Test func damagedEvents() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try Guest.up()
      let command = try LiveCommand("scan", "--adapter", "hci0")
      try #require(command.line("sighting") != nil, "\(command.error)")
      for packet in [
        "043e0102", "043e0202ff", "043e03020103", "043e0d0201030101000000000cff0201", "043e020d05",
        "043e1a0d01000000", "040e0100", "04ff0411223344",
      ] {
        try air.perform(#"{"raw": "\#(packet)"}"#)
      }
      let after = Guest.now
      #expect(command.line("sighting", since: after + 0.5) != nil)
      #expect(command.interrupt() == 0)
      try air.stop()
    }
  }
}
