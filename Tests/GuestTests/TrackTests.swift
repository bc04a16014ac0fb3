import Foundation
import Testing

extension InGuest {
  /// What `range` and `monitor` tell of scripted walks, whose truth the controller's log has.
  @Suite struct TrackTests {
    /// A visitor who comes after 2 s and goes 6 s later, three times; the wall's beacon stays.
    @Test(arguments: ["2", "adaptive"])
    func comingAndGoing(exitAfter: String) throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      try air.perform(
        #"{"id": "wall", "uuid": "\#(FaultTests.region)", "major": 1, "minor": 1, "rssi": -75}"#)
      let command = try LiveCommand(
        "monitor", "--adapter", "hci0", "--region", "wall=\(FaultTests.region):1:1", "--region",
        "visitor=\(FaultTests.region):1:100", "--exit-after", exitAfter)
      try #require(command.line("enter", within: 10) != nil, "\(command.error)")
      for turn in 1...3 {
        let track = "[[0, null], [1, null], [1, -80], [3, -60], [5, -80], [5, null]]"
        try air.perform(
          #"{"id": "x", "uuid": "\#(FaultTests.region)", "major": 1, "minor": 100, "rssi": \#(track)}"#
        )
        let began = Guest.now
        let limit = exitAfter == "adaptive" ? 15.0 : 2
        let exit = try #require(
          command.line("exit", since: began, within: 5 + limit + 2), "turn \(turn): no exit")
        let enter = try #require(command.line("enter", since: began, within: 0))
        #expect(enter["region"] == "visitor" && exit["region"] == "visitor")

        let heard = try Self.reports(of: "x", in: air, since: began)
        let (first, last) = try (#require(heard.first), #require(heard.last))
        #expect((first - 0.01...first + 0.5).contains(enter.arrival), "\(enter.arrival - first)")
        let reason = try #require(exit.fields["reason"] as? [String: Any])
        let silence = try #require(reason["silenceLimit"] as? Double)
        if exitAfter == "2" { #expect(silence == 2) }
        #expect(
          (last + silence - 0.01...last + silence + 0.6).contains(exit.arrival),
          "exit \(exit.arrival - last) s after the last advert, limit \(silence)")
        let dwell = try #require(exit.fields["dwell"] as? Double)
        #expect(abs(dwell - (last + silence - first)) < 0.3 || abs(dwell - (last - first)) < 0.3)
      }
      #expect(command.lines("exit").count == 3 && command.lines("enter").count == 4)
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// A beacon that stands, steps away and comes back: distance and zone follow.
    @Test func distancesFollowASignal() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let command = try LiveCommand(
        "range", "--adapter", "hci0", "--region", "desk=\(FaultTests.region)")
      try #require(try Guest.wait(10) { try air.scan().isOn })
      // With the default exponent 2: 1 m, 0.1 m and 10 m.
      let began = try air.perform(
        #"{"id": "x", "uuid": "\#(FaultTests.region)", "major": 1, "minor": 2, "power": -59,"#
          + #" "rssi": [[0, -59], [8, -59], [8, -39], [16, -39], [16, -79], [24, -79]], "noise": 2}"#
      )
      sleep(25)
      #expect(command.interrupt() == 0)
      let lines = command.lines("range", since: began)
      #expect((23...27).contains(lines.count), "\(lines.count) lines in 25 s")
      for (from, to, distance, zone) in [
        (5.0, 8.0, 1.0, "near"), (13, 16, 0.1, "immediate"), (21, 24, 10, "far"),
      ] {
        let some = lines.filter { (began + from...began + to).contains($0.arrival) }
        #expect(some.count >= 2)
        for line in some {
          let beacon = try #require((line.fields["beacons"] as? [[String: Any]])?.first)
          let told = try #require(beacon["distance"] as? Double)
          #expect(told > distance / 1.5 && told < distance * 1.5, "\(told) m, true \(distance) m")
          #expect(beacon["proximity"] as? String == zone)
          #expect((8...11).contains(beacon["sightings"] as? Int ?? 0))
        }
      }
      try air.stop()
    }

    /// When a sender was reported, in seconds on the monotonic clock.
    static func reports(of name: String, in air: VirtualController, since moment: Double) throws
      -> [Double]
    {
      try air.sync()
      let run = try Guest.run(
        #"grep '"type":"report"' \#(air.path) | grep '"id":"\#(name)"' | cut -d: -f3 | cut -d, -f1"#
      )
      return run.lines.compactMap { Double($0) }.filter { $0 >= moment }
    }
  }
}
