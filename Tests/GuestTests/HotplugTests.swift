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
      try #require(try Guest.wait(10) { try air.scan().isOn }, "\(command.error)")
      var early: ProcessUse?
      var slowest = 0.0
      for cycle in 1...100 {
        try air.perform(#"{"unplug": "a"}"#)
        try air.perform(#"{"plug": "a"}"#)
        let plugged = Guest.now
        try #require(
          try Guest.wait(10) { try air.scan().isOn }, "cycle \(cycle): it does not scan again")
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
      #expect(slowest < 3)

      // Time stamps: what was heard last, against the log.
      try air.perform(#"{"id": "x", "rssi": -42}"#)
      sleep(1)
      try air.perform(#"{"id": "x", "off": true}"#)
      usleep(300_000)
      command.send(SIGINT)
      #expect(command.finish(limit: 10) == 0)
      try air.sync()
      let told = try Guest.run(#"grep '"rssi":-42' \#(path) | cut -d'"' -f8"#).lines
        .compactMap { LiveCommand.seconds(String($0)) }
      let truth = try Guest.run(#"grep '"rssi":-42' \#(air.path) | cut -d: -f4 | cut -d, -f1"#)
        .lines
        .compactMap { Double($0) }
      #expect(told.count == truth.count && told.count > 20)
      let drift = zip(told, truth).map { abs($0 - $1) }.max() ?? 1
      #expect(drift < 0.05, "a time stamp is \(drift) s off")
      try air.stop()
    }
  }
}
