import Foundation
import Testing

extension InGuest {
  /// Every advert that the controller reported comes out, once, as it was.
  @Suite struct LosslessTests {
    /// A controller, the beacons that it receives, and for how long.
    struct Crowd: CustomTestStringConvertible {
      var controller: String
      var beacons: Int
      /// Milliseconds between a beacon's adverts.
      var interval: Int
      var isExtended = false
      var seconds = 60

      /// Adverts a second.
      var rate: Int { beacons * 1000 / interval }

      var testDescription: String {
        "\(rate) a second of \(beacons) \(isExtended ? "extended " : "")beacons for \(seconds) s, "
          + controller
      }

      var order: String {
        #"{"count": \#(beacons), "interval": \#(interval), "jitter": 0, "noise": 3"#
          + (isExtended ? #", "pdu": "ext"}"# : "}")
      }
    }

    @Test(arguments: [
      Crowd(controller: #""extended": false"#, beacons: 100, interval: 100),
      Crowd(controller: #""extended": false, "batch": 4"#, beacons: 1000, interval: 1000),
      Crowd(controller: #""extended": true"#, beacons: 1000, interval: 1000),
      Crowd(controller: #""extended": true, "batch": 4"#, beacons: 1000, interval: 1000),
      Crowd(
        controller: #""extended": true, "batch": 4"#, beacons: 100, interval: 100,
        isExtended: true, seconds: 10),
      Crowd(
        controller: #""extended": true, "fragment": 12, "batch": 2"#, beacons: 100, interval: 100,
        isExtended: true, seconds: 10),
    ])
    func nothingIsLost(crowd: Crowd) throws {
      var crowd = crowd
      // The emulated controller sends less than it was ordered to where the machine is busy. What it did
      // send has to arrive at any rate; at half the rate it is shown whether it arrives when all is sent.
      while true {
        let sent = try expectAllReceived(crowd)
        let ordered = crowd.rate * crowd.seconds
        guard sent < ordered * 9 / 10, crowd.rate >= 100 else { return }
        crowd.beacons /= 2
        crowd.seconds = 10
        print("the controller sent \(sent) of \(ordered) reports; again:", crowd.testDescription)
      }
    }

    /// Compares what the command received of a crowd with what the controller reported.
    ///
    /// - Returns: How many reports that were.
    private func expectAllReceived(_ crowd: Crowd) throws -> Int {
      let air = try VirtualController(#"{"plug": "a", \#(crowd.controller)}"#)
      try Guest.up()
      let path = "/tmp/sightings-\(UUID().uuidString).jsonl"
      defer { try? FileManager.default.removeItem(atPath: path) }
      let command = try Child(
        Guest.beaconscan, ["scan", "--adapter", "hci0", "--format", "json"], output: .path(path))
      try #require(try Guest.wait { try air.scan().isOn }, "no scan: \(command.error)")
      try air.perform(crowd.order)
      let before = try ProcessUse(command.id)
      sleep(UInt32(crowd.seconds))
      let after = try ProcessUse(command.id)
      try air.perform(#"{"count": \#(crowd.beacons), "off": true}"#)
      let sent = try air.reportCount()
      try Guest.wait { try Tally.sightingCount(in: path) >= sent }
      command.send(SIGINT)
      #expect(command.finish() == 0)

      let truth = try Tally.reported(by: air)
      let received = try Tally.received(in: path)
      #expect(truth.total > 0, "the controller sent nothing")
      #expect(received == truth, "\(received.difference(from: truth))")
      print(
        "\(crowd.testDescription): \(received.total) sightings,",
        "\(after.microseconds(since: before) * 1000 / max(received.total, 1)) ns of this CPU each,",
        "\(after.residentKiB) KiB resident, \(after.residentKiB - before.residentKiB) more")
      try air.stop()
      return truth.total
    }
  }
}
