import Foundation
import Testing

/// `beaconscan advertise`: what is sent, by the controller's own log and as another adapter receives it.
extension InGuest {
  @Suite struct AdvertiseTests {
    private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    private static let frame =
      "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5"

    /// Two controllers, of which `b` receives `a`.
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

    /// It is sent as it was asked for, received by `range` on the other adapter, and ends with the command.
    @Test(
      arguments: [
        ("", [String](), "nonconn", 100.0), (#", "extended": true"#, [], "nonconn", 100),
        (#", "extended": true"#, ["--extended", "--tx-power", "--interval", "250ms"], "ext", 250),
        ("", ["--random-address", "--interval", "1s"], "nonconn", 1000),
      ])
    func isReceived(kind: String, options: [String], pdu: String, interval: Double) throws {
      let air = try controllers(kind)
      let ranging = try LiveCommand("range", "--adapter", "hci1")
      try #require(try Guest.wait { try air.scan(of: "b").isOn }, "\(ranging.error)")
      let line = ["advertise", "--uuid", Self.uuid, "--major", "1", "--minor", "2"]
      let child = try Child(
        Guest.beaconscan, line + ["--adapter", "hci0", "--duration", "5"] + options, output: .file)
      #expect(child.finish() == 0, "\(child.error)")
      func beacons() -> [[String: Any]] {
        ranging.lines("range").compactMap { $0.fields["beacons"] as? [[String: Any]] }
          .flatMap { $0 }.filter { $0["rssi"] as? Int == -50 }
      }
      Guest.wait { !beacons().isEmpty }
      #expect(ranging.interrupt() == 0)
      let log = try air.entries("advertise", of: "a")
      let on = try #require(log.first { $0.fields["on"] as? Bool == true })
      #expect(on["data"] == Self.frame && on["pdu"] == pdu)
      #expect(on.fields["interval"] as? Double == interval)
      #expect(on.fields["random"] as? Bool == options.contains("--random-address"))
      #expect(try Guest.wait { try !isOnAir(air) })
      let beacon = beacons().first
      #expect(beacon?["uuid"] as? String == Self.uuid)
      #expect(beacon?["major"] as? Int == 1 && beacon?["minor"] as? Int == 2)
      #expect(beacon?["measuredPower"] as? Int == -59)
      try air.stop()
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func endsAtASignal(signal: Int32) throws {
      let air = try controllers(#", "extended": true"#)
      let child = try start("--adapter", "00:AA:01:00:00:01")
      #expect(try Guest.wait { try isOnAir(air) })
      child.send(signal)
      #expect(child.finish() == 0)
      // The controller's log may be written after its answer.
      #expect(try Guest.wait { try !isOnAir(air) })
      try air.stop()
    }

    /// Whatever ends the advert, it is sent again, and each end is reported.
    @Test(arguments: ["", #", "extended": true"#])
    func comesBack(kind: String) throws {
      let air = try controllers(kind)
      let child = try start("--adapter", "hci0")
      #expect(try Guest.wait { try isOnAir(air) })
      /// Does something, and waits until the advert was begun again after it.
      func expectReturn(_ words: String..., body: () throws -> Void) throws {
        let count = try air.entries("advertise", of: "a").count { $0.fields["on"] as? Bool == true }
        let reported = child.error.components(separatedBy: "off air").count
        try body()
        let isBack = try Guest.wait {
          try air.entries("advertise", of: "a").count { $0.fields["on"] as? Bool == true } > count
        }
        #expect(isBack, "\(words): \(child.error)")
        #expect(child.error.components(separatedBy: "off air").count == reported + 1)
        let sentence = child.error.components(separatedBy: "off air").last ?? ""
        #expect(words.contains { sentence.contains($0) }, "\(words): \(child.error)")
        usleep(600_000)
      }
      try expectReturn("fault of its own") { try air.perform(#"{"hw_error": 1}"#) }
      try expectReturn("was reset") { try Guest.run("hcitool -i hci0 cmd 0x03 0x0003") }
      // hciconfig resets an adapter by switching it off and on: either of the two may be seen first.
      try expectReturn("was reset", "hci0 is switched off") {
        try Guest.run("hciconfig hci0 reset")
      }
      try expectReturn("hci0 is switched off") {
        try Guest.run("hciconfig hci0 down; sleep 1; hciconfig hci0 up")
      }
      try expectReturn("another program ended") {
        let off = kind.isEmpty ? "0x0A 00" : "0x39 00 00"
        try Guest.run("hcitool -i hci0 cmd 0x08 \(off)")
      }
      try expectReturn("plug it in") {
        try air.perform(#"{"unplug": "a"}"#)
        sleep(1)
        try air.perform(#"{"plug": "a"}"#)
      }
      child.send(SIGINT)
      #expect(child.finish() == 0)
      #expect(try Guest.wait { try !isOnAir(air) })
      try air.stop()
    }

    /// An adapter of Bluetooth 4 has one advert; one of Bluetooth 5 has several.
    @Test func besideAnother() throws {
      let air = try controllers()
      let first = try start("--adapter", "hci0")
      #expect(try Guest.wait { try isOnAir(air) })
      let second = try start("--adapter", "hci0", "--duration", "1")
      #expect(second.finish() == 69)
      #expect(second.error.contains("another program advertises with hci0"))
      #expect(try isOnAir(air))
      let third = try start("--adapter", "hci0", "--duration", "1", "--extended")
      #expect(third.finish() == 69)
      #expect(third.error.contains("no extended advertising"))
      first.send(SIGINT)
      #expect(first.finish() == 0)
      func sets() throws -> Set<Int> {
        Set(try air.entries("advertise", of: "b").compactMap { $0.fields["set"] as? Int })
      }
      var both: [Child] = []
      for count in 1...2 {
        both.append(try start("--adapter", "hci1"))
        #expect(try Guest.wait { try sets().count == count }, "\(both.map(\.error))")
      }
      for child in both { child.send(SIGINT) }
      #expect(both.map { $0.finish() } == [0, 0])
      #expect(try sets() == [0xEF, 0xEE])
      try air.stop()
    }

    /// What a killed process left on air is taken down by the next one, which takes no second set of adverts.
    @Test func afterAKill() throws {
      let air = try controllers()
      for adapter in ["hci0", "hci1"] {
        let killed = try start("--adapter", adapter)
        let controller = adapter == "hci0" ? "a" : "b"
        try #require(
          try Guest.wait { try !air.entries("advertise", of: controller).isEmpty },
          "\(killed.error)")
        try #require(Guest.wait { killed.error.contains("advertises") }, "\(killed.error)")
        killed.send(SIGKILL)
        killed.finish()
        let next = try start("--adapter", adapter, "--duration", "1")
        #expect(next.finish() == 0, "\(next.error)")
      }
      #expect(
        try Set(air.entries("advertise", of: "b").compactMap { $0.fields["set"] as? Int }) == [0xEF]
      )
      #expect(try Guest.wait { try !isOnAir(air) })
      try air.stop()
    }

    /// CAP_NET_RAW is enough; without it the refusal names the command that fixes it.
    @Test func permission() throws {
      let air = try controllers()
      for (user, status) in [(LiveCommand.User.nobody, Int32(77)), (.scanner, 0)] {
        let line =
          user.prefix + [
            Guest.beaconscan, "advertise", "--uuid", Self.uuid, "--adapter", "hci0", "--duration",
            "1",
          ]
        let child = try Child(line[0], Array(line.dropFirst()), output: .file)
        #expect(child.finish() == status, "\(child.error)")
        #expect(child.error.split(separator: "\n").count == 1)
        #expect(child.error.contains("setcap cap_net_raw") == (status == 77) || status == 77)
      }
      try Guest.run("hciconfig hci0 down")
      let line = LiveCommand.User.scanner.prefix + [Guest.beaconscan]
      let down = try Child(
        line[0], Array(line.dropFirst()) + ["advertise", "--uuid", Self.uuid, "--adapter", "hci0"],
        output: .file)
      #expect(down.finish() == 69)
      #expect(down.error.contains("hci0 is switched off"))
      try air.stop()
    }

    /// A controller that does not answer keeps the command for some seconds, not forever.
    @Test func mute() throws {
      let air = try controllers()
      try air.perform(#"{"mute": true, "controller": "a"}"#)
      let began = Guest.now
      let child = try start("--adapter", "hci0")
      #expect(child.finish() == 69)
      #expect(child.error.contains("does not answer"))
      print("advertise gave up after \(Guest.now - began) s")
      try air.stop()
    }
  }
}
