import CaptureFiles
import Simulation
import Testing

/// What the truth says besides sightings, and that it is always the same.
@Suite struct TruthTests {
  /// The changes of one beacon without noise: kind, time after the hour, zone and distance.
  private func truth(course: String, hearing: Int = -100, _ more: String = "") throws -> [String] {
    let scenario = try Scenes.parse(
      Scenes.scenario(
        environment: #"{"hearing": \#(hearing), "noise": 0}"#,
        beacons: "[\(Scenes.beacon(more, course: course))]"))
    let truth = Simulator.run(scenario, format: .btsnoop).truth
    return ["enter", "exit", "zone"].flatMap { Scenes.lines($0, of: truth) }
      .map { line in
        let second = line.split(separator: "T00:")[1].prefix(12)
        let zone = line.split(separator: #""proximity":"#)
        return line.split(separator: "\"")[3] + " \(second)"
          + (zone.count > 1 ? " " + zone[1].filter { $0 != "\"" && $0 != "}" } : "")
      }
  }

  @Test func zonesHaveHysteresis() throws {
    #expect(
      try truth(course: #""track": [[0, 8], [7.7, 0.3], [15.4, 8]]"#) == [
        "enter 00:00.000000", "exit 00:15.400000", "zone 00:00.000000 far,distance:8",
        "zone 00:04.000000 near,distance:4", "zone 00:07.500000 immediate,distance:0.5",
        "zone 00:08.100000 near,distance:0.7", "zone 00:12.400000 far,distance:5",
      ])
  }

  @Test func betweenTheLimitsNothingChanges() throws {
    #expect(
      try truth(course: #""track": [[0, 4.5], [5, 4.1], [10, 4.9], [20, 4.5]]"#) == [
        "enter 00:00.000000", "zone 00:00.000000 far,distance:4.5",
      ])
    #expect(
      try truth(course: #""track": [[0, 0.6], [5, 0.51], [10, 4.9], [20, 0.6]]"#) == [
        "enter 00:00.000000", "zone 00:00.000000 near,distance:0.6",
      ])
  }

  @Test func aBeaconEntersWhereItsMeanIsHeard() throws {
    // −59 dBm at 1 m with exponent 2 is −79 dBm at 10 m.
    #expect(
      try truth(course: #""track": [[2, 16], [8, 4], [14, 16]]"#, hearing: -79) == [
        "enter 00:05.000000", "exit 00:11.000000", "zone 00:02.000000 far,distance:16",
      ])
    #expect(
      try truth(course: #""rssi": [[0, -60], [10, -100], [20, -60]]"#, hearing: -80) == [
        "enter 00:00.000000", "enter 00:15.000000", "exit 00:05.000000",
      ])
    #expect(try truth(course: #""rssi": [[0, -90], [20, -90]]"#, hearing: -80) == [])
  }

  @Test func withoutNoiseTheSignalIsTheLaws() throws {
    let scenario = try Scenes.parse(
      Scenes.scenario(
        environment: #"{"noise": 0, "pathLossExponent": 2.5}"#,
        beacons: "["
          + Scenes.beacon(#""txOffset": -3,"#, course: #""track": [[0, 10], [20, 10]]"#) + "]"))
    let lines = Scenes.lines(
      "sighting", of: Simulator.run(scenario, format: .btsnoop).truth)
    // 100 ms and 0 to 10 ms of advDelay over 20 s.
    #expect((182...200).contains(lines.count))
    #expect(lines.allSatisfy { $0.contains(#""measuredPower":-59,"rssi":-87,"#) })
  }

  @Test func theTruthIsInTheOrderOfTime() throws {
    let scenario = try Scenes.parse(
      Scenes.scenario(format: #"{"reportsPerEvent": 5}"#, clutter: Scenes.clutter))
    let truth = Simulator.run(scenario, format: .btsnoop).truth
    let times = String(decoding: truth, as: UTF8.self).split(separator: "\n")
      .compactMap { $0.split(separator: #""time":""#).last?.prefix(27) }
    #expect(times.count > 200)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(Scenes.lines("position", of: truth).count == 11)
  }

  @Test func aSeedGivesTheSameBytes() throws {
    var scenario = try Scenes.parse(Scenes.scenario(top: #""seed": 7,"#, clutter: Scenes.clutter))
    let first = Simulator.run(scenario, format: .pcapng)
    let second = Simulator.run(scenario, format: .pcapng)
    #expect(first.recording == second.recording)
    #expect(first.truth == second.truth)
    scenario.seed = 8
    #expect(Simulator.run(scenario, format: .pcapng).recording != first.recording)
  }

  @Test func oneMoreBeaconLeavesTheOthersAsTheyWere() throws {
    func times(_ beacons: [String]) throws -> [Substring] {
      let scenario = try Scenes.parse(
        Scenes.scenario(beacons: "[\(beacons.joined(separator: ","))]"))
      return Scenes.lines("sighting", of: Simulator.run(scenario, format: .btsnoop).truth)
        .filter { $0.contains(#""minor":1,"#) }.map { $0[...] }
    }
    let one = try times([Scenes.beacon()])
    #expect(try times([Scenes.beacon(), Scenes.beacon(id: "b", minor: 2)]) == one)
  }
}
