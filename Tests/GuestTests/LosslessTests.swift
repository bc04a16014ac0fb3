import Foundation
import Testing

extension InGuest {
  /// Every advert that the controller reported comes out, once, as it was.
  @Suite struct LosslessTests {
    /// A controller, what is on air, and for how long.
    struct Crowd: CustomTestStringConvertible {
      var controller: String
      var beacons: String
      var count: Int
      var seconds: Int

      var testDescription: String { "\(count) a second for \(seconds) s, \(controller) \(beacons)" }

      init(_ controller: String, _ beacons: String, count: Int = 1000, seconds: Int = 10) {
        self.controller = controller
        self.beacons = beacons
        self.count = count
        self.seconds = seconds
      }
    }

    static let tenTimes = #"{"count": 100, "interval": 100, "jitter": 0, "noise": 3"#
    static let once = #"{"count": 1000, "interval": 1000, "jitter": 0, "noise": 3"#

    @Test(arguments: [
      Crowd(#""extended": false"#, tenTimes, seconds: 60),
      Crowd(#""extended": false, "batch": 4"#, once, seconds: 60),
      Crowd(#""extended": true"#, once, seconds: 60),
      Crowd(#""extended": true, "batch": 4"#, once, seconds: 60),
      Crowd(#""extended": true, "batch": 4"#, tenTimes + #", "pdu": "ext""#),
      Crowd(#""extended": true, "fragment": 12, "batch": 2"#, tenTimes + #", "pdu": "ext""#),
    ])
    func nothingIsLost(crowd: Crowd) throws {
      let air = try VirtualController(#"{"plug": "a", \#(crowd.controller)}"#)
      try Guest.up()
      let path = "/tmp/sightings-\(UUID().uuidString).jsonl"
      defer { try? FileManager.default.removeItem(atPath: path) }
      let command = try Child(
        Guest.beaconscan, ["scan", "--adapter", "hci0", "--format", "json"], output: .path(path))
      try #require(try Guest.wait(10) { try air.scan().isOn }, "no scan: \(command.error)")
      try air.perform(crowd.beacons + "}")
      let before = try ProcessUse(command.id)
      sleep(UInt32(crowd.seconds))
      let after = try ProcessUse(command.id)
      try air.perform(#"{"count": 1000, "off": true}"#)
      usleep(500_000)
      command.send(SIGINT)
      #expect(command.finish(limit: 20) == 0)
      try air.sync()

      let truth = try Tally.reported(by: air)
      let heard = try Tally.heard(in: path)
      #expect(truth.total > crowd.count * crowd.seconds * 9 / 10, "the air was not as ordered")
      #expect(heard == truth, "\(heard.difference(from: truth))")
      print(
        "\(crowd.testDescription): \(heard.total) sightings,",
        "\(after.microseconds(since: before) * 1000 / max(heard.total, 1)) ns of this CPU each,",
        "\(after.residentKiB) KiB resident, \(after.residentKiB - before.residentKiB) more")
      try air.stop()
    }
  }
}
