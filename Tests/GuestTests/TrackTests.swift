import Foundation
import Testing

extension InGuest {
  /// What `range` and `monitor` report of scripted walks, whose truth the controller's log has.
  @Suite struct TrackTests {
    /// A visitor who is received for 4 s and then leaves, three times; the wall's beacon stays.
    @Test(arguments: ["4", "adaptive"])
    func comingAndGoing(exitAfter: String) throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      try air.perform(
        #"{"id": "wall", "uuid": "\#(FaultTests.region)", "major": 1, "minor": 1, "rssi": -75}"#)
      let command = try LiveCommand(
        "monitor", "--adapter", "hci0", "--region", "wall=\(FaultTests.region):1:1", "--region",
        "visitor=\(FaultTests.region):1:100", "--exit-after", exitAfter)
      try #require(command.line("enter") != nil, "\(command.error)")
      let shift = try air.wallClockShift
      for turn in 1...3 {
        let track = "[[0, null], [1, null], [1, -80], [3, -60], [5, -80], [5, null]]"
        let began = try air.perform(
          #"{"id": "x", "uuid": "\#(FaultTests.region)", "major": 1, "minor": 100, "rssi": \#(track)}"#
        )
        let exit = try #require(
          command.line("exit", since: began) { $0["region"] == "visitor" }, "turn \(turn): no exit")
        let enter = try #require(command.lines("enter", since: began).first)
        #expect(enter["region"] == "visitor")

        let reports = try Self.reports(of: "x", in: air, since: began)
        let first = try #require(reports.first)
        let last = try #require(reports.last)
        let entered = try #require(enter.wallTime) - shift
        #expect(entered > began - 0.05 && entered < first + 0.05, "\(entered - first)")
        let reason = try #require(exit.fields["reason"] as? [String: Any])
        let timeout = try #require(reason["exitTimeout"] as? Double)
        if exitAfter == "4" { #expect(timeout == 4) }
        let latest = try #require(reason["lastSighting"] as? [String: Any])
        let stamp = try #require(latest["time"] as? String)
        let sighting = try #require(LiveCommand.seconds(stamp)) - shift
        #expect(sighting < last + 0.05 && sighting > (reports.dropLast().last ?? began) - 0.05)
        let left = try #require(exit.wallTime) - shift
        #expect(abs(left - sighting - timeout) < 0.01)
        #expect(exit.arrival > left - 0.01, "it exits before the timeout")
        let dwell = try #require(exit.fields["dwell"] as? Double)
        #expect(abs(dwell - (left - entered)) < 0.01)
        print(
          "enter reported \(enter.arrival - entered) s after its sighting,",
          "exit \(exit.arrival - left) s after its timeout")
      }
      // The wall's beacon may leave only where the emulated air was silent itself.
      let wall = try Self.reports(of: "wall", in: air, since: 0)
      let longest = zip(wall, wall.dropFirst()).map { $1 - $0 }.max() ?? 0
      let exits = command.lines("exit").count { $0["region"] == "wall" }
      #expect(exits == 0 || longest > 1.5, "\(exits) exits of a beacon that stays")
      #expect(command.lines("exit").count == 3 + exits)
      #expect(command.lines("enter").count == 4 + exits)
      #expect(command.interrupt() == 0)
      try air.stop()
    }

    /// A beacon that stands, steps away and comes back: distance and zone follow.
    @Test func distancesFollowASignal() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let command = try LiveCommand(
        "range", "--adapter", "hci0", "--region", "desk=\(FaultTests.region)", "--measured-power",
        "-59", "--environment", "2")
      try #require(try Guest.wait { try air.scan().isOn })
      // With the exponent 2: 1 m, 0.1 m and 10 m.
      let began = try air.perform(
        #"{"id": "x", "uuid": "\#(FaultTests.region)", "major": 1, "minor": 2, "power": -59,"#
          + #" "rssi": [[0, -59], [8, -59], [8, -39], [16, -39], [16, -79], [24, -79]], "noise": 2}"#
      )
      sleep(25)
      #expect(command.interrupt() == 0)
      let shift = try air.wallClockShift
      let reports = try Self.reports(of: "x", in: air, since: began)
      var compared = 0
      for line in command.lines("range", since: began) {
        let time = try #require(line.wallTime) - shift
        // Reports at the edges of a second may count for either.
        let sent = reports.count { $0 > time - 1 && $0 <= time }
        for (from, to, distance, zone) in [
          (5.0, 8.0, 1.0, "near"), (13, 16, 0.1, "immediate"), (21, 24, 10, "far"),
        ] where (began + from...began + to).contains(time) && sent >= 5 {
          let beacon = try #require((line.fields["beacons"] as? [[String: Any]])?.first)
          let reported = try #require(beacon["distance"] as? Double)
          // The prior of an estimate draws 0.1 m to 0.16 m.
          #expect(
            reported > distance / 2 && reported < distance * 2,
            "\(reported) m, true \(distance) m")
          #expect(beacon["proximity"] as? String == zone)
          let sightings = try #require(beacon["sightings"] as? Int)
          #expect(abs(sightings - sent) <= 2, "\(sightings) sightings of \(sent) reports")
          compared += 1
        }
      }
      print("compared \(compared) reports of distance")
      #expect(compared >= 3)
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
