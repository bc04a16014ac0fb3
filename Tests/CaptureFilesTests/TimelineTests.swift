import Advertising
import CaptureFiles
import Scanning
import TestSupport
import Testing

/// Time stamps that go back.
@Suite struct TimelineTests {
  private static let second: Int64 = 1_000_000_000

  /// A file whose packets have these time stamps, in nanoseconds.
  private func read(_ times: [Int64]) throws -> Reading {
    let file = PcapngFile()
    let packets = times.enumerated().flatMap { index, time in
      file.packet(Adverts.h4(UInt16(index)), ticks: UInt64(time))
    }
    return try Reading(joined(file.section, file.interface(resolution: 9), packets))
  }

  /// A little disorder is held at the latest time so far; what is shown is what was recorded.
  @Test func disorder() throws {
    let second = Self.second
    let recorded = [10 * second, 11 * second, 10 * second, 10 * second + 1, 12 * second]
    let reading = try read(recorded)
    #expect(reading.wallTimes == recorded)
    #expect(
      reading.times == [10 * second, 11 * second, 11 * second, 11 * second, 12 * second])
    #expect(reading.status.disordered == 2 && reading.status.stepsBack == 0)
    #expect(reading.status.wallClockOffset.nanoseconds == 0)
    #expect(reading.status.firstTime?.nanoseconds == 10 * second)
    #expect(reading.status.time.nanoseconds == 12 * second)
  }

  /// A longer step is the clock being set: the line goes on by the new clock.
  @Test func clockStep() throws {
    let second = Self.second
    let recorded = [5000 * second, 5001 * second, 1000 * second, 1002 * second, 1001 * second]
    let reading = try read(recorded)
    #expect(reading.wallTimes == recorded)
    #expect(reading.times == [5000, 5001, 5001, 5003, 5003].map { $0 * second })
    #expect(reading.status.disordered == 1 && reading.status.stepsBack == 1)
    #expect(reading.status.wallClockOffset.nanoseconds == -4001 * second)
    #expect(
      reading.status.time.advanced(by: reading.status.wallClockOffset.nanoseconds).nanoseconds
        == 1002 * second)
  }

  /// The limit: a second back is disorder, a nanosecond more is a step.
  @Test(arguments: [(0, 12_000_000_000), (1, 13_000_000_001)] as [(Int64, Int64)])
  func limit(more: Int64, last: Int64) throws {
    let second = Self.second
    let reading = try read([11 * second, 10 * second - more, 12 * second])
    #expect(reading.times == [11 * second, 11 * second, last])
  }

  /// The line never goes back, whatever was recorded, and steps are counted.
  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func randomTimes(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let times = (0..<200).map { _ in Int64(random.next() >> (1 + random.next() % 62)) }
    let reading = try read(times)
    #expect(reading.wallTimes == times, "seed \(seed)")
    #expect(zip(reading.times, reading.times.dropFirst()).allSatisfy { $0 <= $1 }, "seed \(seed)")
    var (latest, disordered, stepsBack) = (Int64.min, 0, 0)
    for time in times {
      if time < latest {
        if latest - time <= Self.second { disordered += 1 } else { stepsBack += 1 }
        if latest - time <= Self.second { continue }
      }
      latest = time
    }
    #expect(reading.status.disordered == disordered, "seed \(seed)")
    #expect(reading.status.stepsBack == stepsBack, "seed \(seed)")
  }

  /// The largest steps that a file can hold saturate.
  @Test func extremes() throws {
    let reading = try read([.max, 0, .max, 1, .max - 1])
    #expect(reading.times == [Int64](repeating: .max, count: 5))
    let file = PcapngFile()
    let early = joined(
      file.section, file.interface(resolution: 9, offset: .min),
      file.interface(resolution: 9, offset: .max), file.packet(Adverts.h4(1)),
      file.packet(Adverts.h4(2), interface: 1), file.packet(Adverts.h4(3)),
      file.packet(Adverts.h4(4), interface: 1))
    let times = try Reading(early).times
    #expect(times.count == 4)
    #expect(times == times.sorted())
  }
}
