import Foundation
import Testing

extension InGuest {
  /// What `advertise` puts on air by one adapter, another hears; and at its end it is taken down.
  @Suite struct AdvertiseRangedTests {
    enum End: CaseIterable { case duration, interrupt, terminate, hangup }

    private func plug(_ kind: String) throws -> VirtualController {
      let air = try VirtualController(
        #"{"plug": "a", "addr": "00:AA:01:00:00:42", "coded": true}"#,
        #"{"plug": "b", "addr": "00:AA:01:00:00:43", \#(kind)}"#,
        #"{"path": ["b", "a"], "rssi": -53}"#)
      try Guest.up("hci0")
      try Guest.up("hci1")
      return air
    }

    private func advertise(_ arguments: [String]) throws -> Child {
      try Child(
        Guest.beaconscan,
        [
          "advertise", "--uuid", FaultTests.region, "--major", "7", "--minor", "9",
          "--measured-power=-62", "--adapter", "00:AA:01:00:00:43",
        ] + arguments, output: .file)
    }

    @Test(arguments: [
      (#""extended": false"#, ["--interval", "100ms"]),
      (#""extended": true"#, ["--interval", "100ms"]),
      (#""extended": true"#, ["--interval", "100ms", "--extended"]),
      (#""extended": true"#, ["--interval", "100ms", "--random-address"]),
    ])
    func anotherAdapterRangesIt(kind: String, arguments: [String]) throws {
      let air = try plug(kind)
      let command = try LiveCommand(
        "range", "--adapter", "hci0", "--region", "desk=\(FaultTests.region):7:9")
      try #require(try Guest.wait(10) { try air.scan(of: "a").isOn }, "\(command.error)")
      let advertiser = try advertise(arguments)
      let line = command.line("range", within: 10) {
        !(($0.fields["beacons"] as? [Any]) ?? []).isEmpty
      }
      sleep(2)
      let last = command.lines("range").last
      let beacon = try #require(
        (last?.fields["beacons"] as? [[String: Any]])?.first, "\(advertiser.error)")
      #expect(line != nil)
      #expect(beacon["rssi"] as? Int == -53 && beacon["measuredPower"] as? Int == -62)
      #expect((7...11).contains(beacon["sightings"] as? Int ?? 0))
      let distance = try #require(beacon["distance"] as? Double)
      #expect(distance > 0.2 && distance < 0.6, "-53 of -62 dBm is 0.35 m, not \(distance)")
      let told = try #require(try air.entries("advertise", of: "b").last)
      #expect(told.fields["on"] as? Bool == true)
      #expect(told["pdu"] == (arguments.contains("--extended") ? "ext" : "nonconn"))
      #expect((told["addr"] == "00:AA:01:00:00:43") != arguments.contains("--random-address"))
      advertiser.send(SIGINT)
      #expect(advertiser.finish(limit: 10) == 0, "\(advertiser.error)")
      #expect(try air.entries("advertise", of: "b").last?.fields["on"] as? Bool == false)
      command.interrupt()
      try air.stop()
    }

    @Test(arguments: End.allCases, [false, true])
    func isTakenDown(end: End, isExtended: Bool) throws {
      let air = try plug(#""extended": \#(isExtended)"#)
      let advertiser = try advertise(end == .duration ? ["--duration", "2"] : [])
      try #require(
        try Guest.wait(10) {
          try air.entries("advertise", of: "b").last?.fields["on"] as? Bool == true
        }, "\(advertiser.error)")
      switch end {
      case .duration: break
      case .interrupt: advertiser.send(SIGINT)
      case .terminate: advertiser.send(SIGTERM)
      case .hangup: advertiser.send(SIGHUP)
      }
      #expect(advertiser.finish(limit: 10) == 0, "\(advertiser.error)")
      #expect(try air.entries("advertise", of: "b").last?.fields["on"] as? Bool == false)
      try air.stop()
    }
  }
}
