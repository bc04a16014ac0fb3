import Foundation
import Testing

/// `beaconscan advertise`: what is on air, by the controller's own log and as another adapter hears it.
extension InGuest {
  @Suite struct AdvertiseTests {
    private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    private static let frame =
      "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5"

    /// Two controllers, of which `b` hears `a`.
    private func controllers(_ kind: String = "") throws -> VirtualController {
      let air = try VirtualController(
        #"{"plug": "a", "addr": "00:AA:01:00:00:01"\#(kind)}"#,
        #"{"plug": "b", "addr": "00:AA:01:00:00:02", "extended": true}"#,
        #"{"path": ["a", "b"], "rssi": -50}"#)
      try Guest.up("hci0")
      try Guest.up("hci1")
      return air
    }

    private func start(_ arguments: String...) throws -> Child {
      try Child(
        Guest.beaconscan,
        ["advertise", "--uuid", Self.uuid, "--major", "1", "--minor", "2"] + arguments,
        output: .file)
    }

    /// Whether controller `a` advertises, as its log says.
    private func isOnAir(_ air: VirtualController) throws -> Bool {
      try air.entries("advertise", of: "a").last?.fields["on"] as? Bool ?? false
    }

    /// On air as it was asked for, heard by `range` on the other adapter, and off air at the end.
    @Test(
      arguments: [
        ("", [String](), "nonconn", 100.0), (#", "extended": true"#, [], "nonconn", 100),
        (#", "extended": true"#, ["--extended", "--tx-power", "--interval", "250ms"], "ext", 250),
        ("", ["--random-address", "--interval", "1s"], "nonconn", 1000),
      ])
    func isHeard(kind: String, options: [String], pdu: String, interval: Double) throws {
      let air = try controllers(kind)
      let ranging = try LiveCommand("range", "--adapter", "hci1", "--duration", "8")
      usleep(500_000)
      let line = ["advertise", "--uuid", Self.uuid, "--major", "1", "--minor", "2"]
      let child = try Child(
        Guest.beaconscan, line + ["--adapter", "hci0", "--duration", "5"] + options, output: .file)
      #expect(child.finish(limit: 15) == 0, "\(child.error)")
      _ = ranging.finish()
      let log = try air.entries("advertise", of: "a")
      let on = try #require(log.first { $0.fields["on"] as? Bool == true })
      #expect(on["data"] == Self.frame && on["pdu"] == pdu)
      #expect(on.fields["interval"] as? Double == interval)
      #expect(on.fields["random"] as? Bool == options.contains("--random-address"))
      #expect(try !isOnAir(air))
      let heard = ranging.lines("range").compactMap { $0.fields["beacons"] as? [[String: Any]] }
        .flatMap { $0 }.first { $0["rssi"] as? Int == -50 }
      #expect(heard?["uuid"] as? String == Self.uuid)
      #expect(heard?["major"] as? Int == 1 && heard?["minor"] as? Int == 2)
      #expect(heard?["measuredPower"] as? Int == -59)
      try air.stop()
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func endsAtASignal(signal: Int32) throws {
      let air = try controllers(#", "extended": true"#)
      let child = try start("--adapter", "00:AA:01:00:00:01")
      #expect(try Guest.wait(5) { try isOnAir(air) })
      child.send(signal)
      #expect(child.finish(limit: 5) == 0)
      #expect(try !isOnAir(air))
      try air.stop()
    }

    /// Whatever ends the advert, it is on air again, and each end is said.
    @Test(arguments: ["", #", "extended": true"#])
    func comesBack(kind: String) throws {
      let air = try controllers(kind)
      let child = try start("--adapter", "hci0")
      #expect(try Guest.wait(5) { try isOnAir(air) })
      /// Does something, and waits until the advert was begun again after it.
      func expectReturn(_ words: String, within limit: Double, _ body: () throws -> Void) throws {
        let count = try air.entries("advertise", of: "a").count { $0.fields["on"] as? Bool == true }
        let said = child.error.components(separatedBy: "off air").count
        try body()
        let isBack = try Guest.wait(limit) {
          try air.entries("advertise", of: "a").count { $0.fields["on"] as? Bool == true } > count
        }
        #expect(isBack, "\(words): \(child.error)")
        #expect(child.error.components(separatedBy: "off air").count == said + 1)
        #expect(child.error.contains(words), "\(child.error)")
        usleep(600_000)
      }
      try expectReturn("fault of its own", within: 5) { try air.perform(#"{"hw_error": 1}"#) }
      try expectReturn("was reset", within: 5) { try Guest.run("hciconfig hci0 reset") }
      try expectReturn("hci0 is switched off", within: 8) {
        try Guest.run("hciconfig hci0 down; sleep 1; hciconfig hci0 up")
      }
      try expectReturn("another program ended", within: 5) {
        let off = kind.isEmpty ? "0x0A 00" : "0x39 00 00"
        try Guest.run("hcitool -i hci0 cmd 0x08 \(off)")
      }
      try expectReturn("plug it in", within: 12) {
        try air.perform(#"{"unplug": "a"}"#)
        sleep(1)
        try air.perform(#"{"plug": "a"}"#)
      }
      child.send(SIGINT)
      #expect(child.finish(limit: 5) == 0)
      #expect(try !isOnAir(air))
      try air.stop()
    }

    /// An adapter of Bluetooth 4 has one advert; one of Bluetooth 5 has several.
    @Test func besideAnother() throws {
      let air = try controllers()
      let first = try start("--adapter", "hci0")
      #expect(try Guest.wait(5) { try isOnAir(air) })
      let second = try start("--adapter", "hci0", "--duration", "1")
      #expect(second.finish(limit: 10) == 69)
      #expect(second.error.contains("another program advertises with hci0"))
      #expect(try isOnAir(air))
      let third = try start("--adapter", "hci0", "--duration", "1", "--extended")
      #expect(third.finish(limit: 10) == 69)
      #expect(third.error.contains("no extended advertising"))
      first.send(SIGINT)
      #expect(first.finish(limit: 5) == 0)
      let extended = try ["3", "2"].map { try start("--adapter", "hci1", "--duration", $0) }
      #expect(extended.map { $0.finish(limit: 10) } == [0, 0])
      let sets = try air.entries("advertise", of: "b").compactMap { $0.fields["set"] as? Int }
      #expect(Set(sets) == [0xEF, 0xEE])
      try air.stop()
    }

    /// CAP_NET_RAW is enough; without it the refusal says what mends it.
    @Test func permission() throws {
      let air = try controllers()
      for (user, status) in [(LiveCommand.User.nobody, Int32(77)), (.scanner, 0)] {
        let line =
          user.prefix + [
            Guest.beaconscan, "advertise", "--uuid", Self.uuid, "--adapter", "hci0", "--duration",
            "1",
          ]
        let child = try Child(line[0], Array(line.dropFirst()), output: .file)
        #expect(child.finish(limit: 10) == status, "\(child.error)")
        #expect(child.error.split(separator: "\n").count == 1)
        #expect(child.error.contains("setcap cap_net_raw") == (status == 77) || status == 77)
      }
      try Guest.run("hciconfig hci0 down")
      let line = LiveCommand.User.scanner.prefix + [Guest.beaconscan]
      let down = try Child(
        line[0], Array(line.dropFirst()) + ["advertise", "--uuid", Self.uuid, "--adapter", "hci0"],
        output: .file)
      #expect(down.finish(limit: 10) == 69)
      #expect(down.error.contains("hci0 is switched off"))
      try air.stop()
    }

    /// A controller that does not answer keeps the command for some seconds, not for ever.
    @Test func mute() throws {
      let air = try controllers()
      try air.perform(#"{"mute": true, "controller": "a"}"#)
      let began = Guest.now
      let child = try start("--adapter", "hci0")
      #expect(child.finish(limit: 15) == 69)
      #expect(child.error.contains("does not answer"))
      #expect(Guest.now - began < 8)
      try air.stop()
    }
  }
}
