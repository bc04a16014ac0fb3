import Foundation
import Testing

extension InGuest {
  /// How long after the kernel's time stamp a sighting is there to be read.
  @Suite struct LatencyTests {
    @Test func aSightingComesAtOnce() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let command = try LiveCommand("scan", "--adapter", "hci0")
      try #require(try Guest.wait(10) { try air.scan().isOn }, "\(command.error)")
      try air.perform(#"{"count": 20, "interval": 200}"#)
      sleep(6)
      #expect(command.interrupt() == 0)
      let plug = try #require(try air.entries("plug").first)
      let shift = try #require(plug.fields["wall"] as? Double) - plug.time
      let delays = command.lines("sighting").compactMap { line in
        line.wallTime.map { line.arrival + shift - $0 }
      }.sorted()
      try #require(delays.count > 400)
      let (median, late) = (delays[delays.count / 2], delays[delays.count * 99 / 100])
      print("latency on this CPU: median \(median * 1000) ms, 99th percentile \(late * 1000) ms")
      #expect(delays[0] > -0.01, "heard before it was sent")
      #expect(median < 0.05)
      #expect(late < 0.5)
      try air.stop()
    }
  }
}
