import Advertising
import CaptureFiles
import Foundation
import Scanning
import Testing

extension InGuest {
  /// The test environment itself, by tools that are not ours: `btmon` receives what the log has.
  @Suite struct HarnessTests {
    @Test func theKernelTakesTheAddressAndTheFeatures() throws {
      let air = try VirtualController(
        #"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#,
        #"{"plug": "b", "addr": "00:AA:01:00:00:43", "coded": true}"#)
      let list = try Guest.run("hciconfig").output
      #expect(list.contains("hci0:") && list.contains("BD Address: 00:AA:01:00:00:42"))
      #expect(list.contains("hci1:") && list.contains("BD Address: 00:AA:01:00:00:43"))
      try air.stop()
      #expect(try Guest.run("hciconfig").output.isEmpty)
    }

    /// A whole run starts thousands of programs; a process may have 1,024 files open.
    @Test func programsLeaveNoFilesOpen() throws {
      func openFiles() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      }
      try Guest.run("true")
      let before = try openFiles()
      for _ in 1...20 { try Guest.run("true") }
      #expect(try openFiles() < before + 10)
    }

    /// A way of reporting, and the commands that start a scan.
    enum Way: String, CaseIterable {
      case legacy, legacyBatches, extended, extendedBatches, pieces, coded

      var settings: String {
        switch self {
        case .legacy: ""
        case .legacyBatches: #", "batch": 4"#
        case .extended: #", "extended": true"#
        case .extendedBatches: #", "extended": true, "batch": 4"#
        case .pieces: #", "extended": true, "fragment": 12"#
        case .coded: #", "coded": true"#
        }
      }

      var scan: String {
        switch self {
        case .legacy, .legacyBatches:
          "hcitool -i hci0 cmd 8 b 0 10 0 10 0 0 0 && hcitool -i hci0 cmd 8 c 1 0"
        case .extended, .extendedBatches, .pieces:
          "hcitool -i hci0 cmd 8 41 0 0 1 0 10 0 10 0 && hcitool -i hci0 cmd 8 42 1 0 0 0 0 0"
        case .coded:
          "hcitool -i hci0 cmd 8 41 0 0 5 0 10 0 10 0 0 10 0 10 0 && hcitool -i hci0 cmd 8 42 1 0 0 0 0 0"
        }
      }

      /// What the beacons send.
      var pdu: String {
        switch self {
        case .legacy, .legacyBatches, .extended, .extendedBatches: ""
        case .pieces: #", "pdu": "ext""#
        case .coded: #", "pdu": "ext", "phy": "coded""#
        }
      }
    }

    @Test(arguments: Way.allCases)
    func btmonReceivesWhatTheLogHas(way: Way) throws {
      let air = try VirtualController(#"{"plug": "a"\#(way.settings)}"#)
      try Guest.up()
      let capture = "/tmp/\(way.rawValue).btsnoop"
      let monitor = try Child("/usr/bin/btmon", ["-w", capture], output: .file)
      try #require(Guest.wait { Guest.size(of: capture) > 16 }, "it records no adapter")
      let scan = try Guest.run(way.scan)
      try #require(scan.status == 0, "\(scan.error)")
      try air.order(
        #"{"count": 20, "interval": 100, "rssi": -60, "noise": 4, "minor": 1\#(way.pdu)}"#)
      try air.waitForReports(400)
      try Guest.run("hciconfig hci0 down")
      try air.sync()
      let truth = try Tally.reported(by: air)
      // btmon may be behind, and does not read the rest when it is ended.
      Guest.wait { (try? sightings(of: capture).total) ?? 0 >= truth.total }
      monitor.send(SIGTERM)
      monitor.finish()
      let received = try sightings(of: capture)
      #expect(received == truth, "\(received.difference(from: truth))")
      try air.stop()
    }

    /// The sightings of a recording.
    private func sightings(of capture: String) throws -> Tally {
      var tally = Tally()
      let replay = try ReplayScanner(paths: [capture])
      var sightings: [Sighting] = []
      var isOver = false
      while !isOver {
        isOver = try replay.receive(for: .ranging, until: nil, into: &sightings).isOver
        for sighting in sightings {
          tally.add("\(sighting.address)", "\(sighting.rssi ?? 127)")
        }
      }
      return tally
    }

    /// A scan of the 1M PHY alone receives no beacon of the coded PHY.
    @Test func theCodedPHYIsNotReceivedOnTheOther() throws {
      let air = try VirtualController(#"{"plug": "a", "coded": true}"#)
      try Guest.up()
      try air.order(#"{"id": "long", "interval": 50, "pdu": "ext", "phy": "coded", "sid": 3}"#)
      try Guest.run(Way.extended.scan)
      sleep(1)
      #expect(try Tally.reported(by: air).total == 0)
      try Guest.run("hcitool -i hci0 cmd 8 42 0 0 0 0 0 0")
      try Guest.run(Way.coded.scan)
      try air.waitForReports(6)
      #expect(try air.scan().phys == ["1M", "coded"])
      try air.stop()
    }

    /// As a controller of Bluetooth 5 does, and as one that scans does.
    @Test func commandsThatAreOutOfPlaceAreRefused() throws {
      let air = try VirtualController(#"{"plug": "a", "extended": true}"#)
      try Guest.up()
      try Guest.run(Way.extended.scan)
      #expect(try Guest.run("hcitool -i hci0 cmd 8 b 0 10 0 10 0 0 0").output.contains("0C"))
      let last = try #require(try air.entries("command").last)
      #expect(last["opcode"] == "200b" && last.fields["status"] as? Int == 0x0C)
      try Guest.run("hcitool -i hci0 cmd 8 41 0 0 1 0 10 0 10 0")
      let next = try #require(try air.entries("command").last)
      #expect(next["opcode"] == "2041" && next.fields["status"] as? Int == 0x0C)
      #expect(try air.scan().isOn)
      try air.stop()
    }

    /// One controller receives what the other's host advertises; and the log has the end of it.
    @Test(arguments: [false, true])
    func controllersReceiveEachOther(isExtended: Bool) throws {
      let extended = isExtended ? #", "extended": true"# : ""
      let air = try VirtualController(
        #"{"plug": "a"\#(extended)}"#, #"{"plug": "b", "addr": "00:AA:01:00:00:43"\#(extended)}"#,
        #"{"path": ["b", "a"], "rssi": -71}"#)
      try Guest.up("hci0")
      try Guest.up("hci1")
      #expect(try Guest.run((isExtended ? Way.extended : Way.legacy).scan).status == 0)
      let advertise =
        isExtended
        ? """
        hcitool -i hci1 cmd 8 36 1 10 0 a0 0 0 a0 0 0 7 0 0 0 0 0 0 0 0 0 7f 1 0 1 0 0
        hcitool -i hci1 cmd 8 37 1 3 1 4 3 ff 4c 0
        hcitool -i hci1 cmd 8 39 1 1 1 0 0 0
        """
        : """
        hcitool -i hci1 cmd 8 6 a0 0 a0 0 3 0 0 0 0 0 0 0 0 7 0
        hcitool -i hci1 cmd 8 8 4 3 ff 4c 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
        hcitool -i hci1 cmd 8 a 1
        """
      #expect(try Guest.run(advertise).status == 0)
      try air.waitForReports(3)
      let on = try #require(try air.entries("advertise", of: "b").last)
      #expect(on.fields["on"] as? Bool == true && on["data"] == "03ff4c00")
      #expect(on["pdu"] == "nonconn" && on["addr"] == "00:AA:01:00:00:43")
      // Switching the adapter off would not do it: a controller goes on until it is ordered to stop, or reset.
      try Guest.run(
        isExtended ? "hcitool -i hci1 cmd 8 39 0 1 1 0 0 0" : "hcitool -i hci1 cmd 8 a 0")
      let off = try #require(try air.entries("advertise", of: "b").last)
      #expect(off.fields["on"] as? Bool == false)
      try air.sync()
      let sent = try air.reportCount()
      #expect(sent <= Int((off.time - on.time) * 10) + 2, "an interval of 100 ms")
      sleep(1)
      let received = try Tally.reported(by: air)
      #expect(received.counts.keys.sorted() == ["00:AA:01:00:00:43 -71"])
      #expect(received.total == sent, "it goes on after its end")
      try air.stop()
    }
  }
}
