import Foundation
import Testing

extension InGuest {
  /// How long after the kernel's time stamp a sighting is there to be read.
  @Suite struct LatencyTests {
    @Test func aSightingComesAtOnce() throws {
      let air = try VirtualController(#"{"plug": "a"}"#)
      try Guest.up()
      let command = try LiveCommand("scan", "--adapter", "hci0")
      try #require(try Guest.wait { try air.scan().isOn }, "\(command.error)")
      try air.perform(#"{"count": 20, "interval": 200}"#)
      // By how much this process itself oversleeps meanwhile: what the machine's load does to anything.
      var late: [Double] = []
      while late.count < 500 {
        let began = Guest.now
        usleep(10_000)
        late.append(Guest.now - began - 0.01)
      }
      try air.waitForReports(max(0, 400 - air.reportCount()))
      #expect(command.interrupt() == 0)
      let shift = try air.wallClockShift
      let delays = command.lines("sighting").compactMap { line in
        line.wallTime.map { line.arrival + shift - $0 }
      }
      try #require(delays.count > 300)
      let latency = Distribution(delays)
      let load = Distribution(late)
      print("latency on this CPU: \(latency); a sleep of 10 ms is late by \(load)")
      #expect(latency.least > -0.01, "received before it was sent")
      #expect(latency.median < 0.05 + 10 * load.median)
      #expect(latency.high < 0.5 + 10 * load.high)
      try air.stop()
    }

    /// What a number of durations have in common, in seconds.
    private struct Distribution: CustomStringConvertible {
      var least: Double
      var median: Double
      /// The 99th percentile.
      var high: Double

      init(_ values: [Double]) {
        let sorted = values.sorted()
        least = sorted[0]
        median = sorted[sorted.count / 2]
        high = sorted[sorted.count * 99 / 100]
      }

      var description: String {
        "median \(median * 1000) ms, 99th percentile \(high * 1000) ms"
      }
    }
  }
}
