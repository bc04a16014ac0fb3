import Foundation
import Testing

/// `beaconscan adapters`: what can be known of each adapter, by whom.
extension InGuest {
  @Suite struct AdaptersTests {
    private func adapters(_ user: LiveCommand.User = .root) throws -> [LiveCommand.Line] {
      let command = try LiveCommand("adapters", by: user)
      #expect(command.finish() == 0, "\(command.error)")
      return command.lines("adapter")
    }

    @Test func whatTheyCan() throws {
      let air = try VirtualController(
        #"{"plug": "a", "addr": "00:AA:01:00:00:01"}"#,
        #"{"plug": "b", "addr": "00:AA:01:00:00:02", "extended": true, "coded": true}"#)
      try Guest.up("hci0")
      try Guest.up("hci1")
      let found = try adapters()
      #expect(found.map { $0["name"] } == ["hci0", "hci1"])
      #expect(found.map { $0["address"] } == ["00:AA:01:00:00:01", "00:AA:01:00:00:02"])
      #expect(found.allSatisfy { $0["state"] == "up" && $0["bus"] == "Virtual" })
      #expect(found.map { $0["bluetooth"] } == ["4.2", "5.0"])
      for key in ["extendedScan", "extendedAdvertising", "codedPHY"] {
        #expect(found.map { $0.fields[key] as? Bool } == [false, true], "\(key)")
      }
      #expect(found.allSatisfy { $0.fields["manufacturer"] as? Int == 1521 })
      #expect(found.allSatisfy { $0.fields["lowEnergy"] as? Bool == true })
      // Tests/Checks/outputs.sh checks that file by the schema, on machines that have no adapter.
      let sample = try String(
        contentsOf: Guest.root.appending(path: "Tests/Outputs/adapters.jsonl"), encoding: .utf8)
      let line = try #require(sample.split(separator: "\n").first)
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      #expect(found.allSatisfy { Set($0.fields.keys) == object.map { Set($0.keys) } })
      try air.stop()
    }

    /// What nobody may ask is missing, and said to be.
    @Test func withoutPermission() throws {
      let air = try VirtualController(#"{"plug": "a", "extended": true}"#)
      try Guest.up()
      let found = try #require(try adapters(.nobody).first)
      #expect(found["bluetooth"] == "5.0" && found.fields["extendedScan"] as? Bool == true)
      #expect(found.fields["codedPHY"] is NSNull)
      #expect(found["unknown"]?.contains("no permission") == true)
      try air.stop()
    }

    @Test func states() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try air.waitUntilSwitchedOff()
      #expect(try adapters().first?["state"] == "down")
      try Guest.run("rfkill block bluetooth")
      #expect(try adapters().first?["state"] == "soft-blocked")
      try Guest.run("rfkill unblock bluetooth")
      try Guest.up()
      try air.perform(#"{"mute": true}"#)
      let mute = try #require(try adapters().first)
      #expect(mute["state"] == "not-answering" && mute.fields["bluetooth"] is NSNull)
      try air.stop()
    }

    /// Asking works beside a scan and does not disturb it.
    @Test func besideAScan() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let scan = try LiveCommand("scan", "--adapter", "hci0")
      #expect(try Guest.wait { try air.scan().isOn })
      try air.perform(#"{"count": 50, "interval": 100}"#)
      for _ in 0..<5 {
        // A busy machine's virtual controller may answer later than a question waits.
        var found = try #require(try adapters().first)
        #expect(
          try Guest.wait {
            found = try #require(try adapters().first)
            return found["state"] == "up"
          })
        #expect(found.fields["hciVersion"] as? Int == 8)
        let programs = found.fields["programs"] as? [[String: Any]] ?? []
        #expect(programs.contains { $0["process"] as? Int == Int(scan.id) })
      }
      // On a busy machine the scan may just begin anew, as a question was answered late.
      #expect(try Guest.wait { try air.scan().isOn })
      try air.perform(#"{"count": 50, "off": true}"#)
      let sent = try air.reportCount()
      #expect(sent > 0)
      #expect(Guest.wait { scan.lines("sighting").count >= sent }, "\(scan.health())")
      #expect(scan.interrupt() == 0)
      try air.stop()
    }

    @Test func none() throws {
      let run = try Guest.run("beaconscan adapters")
      #expect(run.status == 69 && run.output.isEmpty)
      #expect(run.error.contains("there is no adapter"))
    }
  }
}
