import Foundation
import Testing

extension InGuest {
  /// An adapter that is pulled and plugged in again, a hundred times.
  @Suite struct HotplugTests {
    @Test func aHundredCycles() throws {
      let air = try VirtualController(
        #"{"plug": "a", "addr": "00:AA:01:00:00:42"}"#, #"{"id": "x", "interval": 20, "jitter": 0}"#
      )
      try Guest.up()
      let path = "/tmp/hotplug.jsonl"
      let command = try Child(
        Guest.beaconscan, ["scan", "--adapter", "00:AA:01:00:00:42", "--format", "json"],
        output: .path(path))
      try #require(try Guest.wait { try air.scan().isOn }, "\(command.error)")
      var early: ProcessUse?
      var slowest = 0.0
      for cycle in 1...100 {
        try air.perform(#"{"unplug": "a"}"#)
        try air.perform(#"{"plug": "a"}"#)
        let plugged = Guest.now
        try #require(
          try Guest.wait { try air.scan().isOn }, "cycle \(cycle): it does not scan again")
        slowest = max(slowest, Guest.now - plugged)
        if cycle == 10 { early = try ProcessUse(command.id) }
      }
      sleep(1)
      let late = try ProcessUse(command.id)
      let began = try #require(early)
      print(
        "slowest return \(slowest) s; descriptors \(began.descriptors) and \(late.descriptors),",
        "\(began.residentKiB) and \(late.residentKiB) KiB after 10 and 100 cycles")
      #expect(late.descriptors == began.descriptors)
      #expect(late.residentKiB < began.residentKiB + 512)

      // Time stamps: the last sightings, against the log.
      try air.perform(#"{"id": "x", "rssi": -42}"#)
      try air.waitForReports(40)
      try air.perform(#"{"id": "x", "off": true}"#)
      let truth = try Guest.run(#"grep '"rssi":-42' \#(air.path) | cut -d: -f4 | cut -d, -f1"#)
        .lines
        .compactMap { Double($0) }
      func readStamps() throws -> [Double] {
        try Guest.run(#"grep '"rssi":-42' \#(path) | cut -d'"' -f8"#).lines
          .compactMap { LiveCommand.seconds(String($0)) }
      }
      try Guest.wait { try readStamps().count >= truth.count }
      command.send(SIGINT)
      #expect(command.finish() == 0)
      let stamps = try readStamps()
      try #require(stamps.count == truth.count && stamps.count > 20)
      // The kernel takes each after the controller wrote down the one before, and before it writes down this.
      for (index, stamp) in stamps.enumerated() {
        #expect(stamp < truth[index] + 0.05)
        #expect(index == 0 || stamp > truth[index - 1] - 0.05)
      }
      try air.stop()
    }
  }
}
