import FoundationEssentials
import Scanning
import TestSupport
import Testing

/// Moments: their text, and arithmetic that cannot overflow.
@Suite struct MomentTests {
  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000000Z"), (-1, "1969-12-31T23:59:59.999999Z"),
    (999, "1970-01-01T00:00:00.000000Z"), (1000, "1970-01-01T00:00:00.000001Z"),
    (951_782_400_000_000_000, "2000-02-29T00:00:00.000000Z"),
    (1_767_225_599_999_999_999, "2025-12-31T23:59:59.999999Z"),
    (1_767_225_600_000_000_000, "2026-01-01T00:00:00.000000Z"),
    (-2_203_891_200_000_000_000, "1900-03-01T00:00:00.000000Z"),
    (-2_203_891_200_000_000_001, "1900-02-28T23:59:59.999999Z"),
    (Int64.max, "2262-04-11T23:47:16.854775Z"), (Int64.min, "1677-09-21T00:12:43.145224Z"),
  ])
  func text(nanoseconds: Int64, text: String) {
    #expect("\(WallClockTime(nanoseconds: nanoseconds))" == text)
  }

  /// Foundation's calendar is the oracle.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func textOfRandomMoments(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    for _ in 0..<50 {
      let microseconds = Int64(truncatingIfNeeded: random.next()) / 1001
      let seconds = Int64((Double(microseconds) / 1e6).rounded(.down))
      let rest = microseconds - seconds * 1_000_000
      let date = Date(timeIntervalSince1970: Double(seconds))
      let parts = calendar.dateComponents(
        [.year, .month, .day, .hour, .minute, .second], from: date)
      func digits(_ value: Int?, _ count: Int) -> String {
        let text = String(value ?? -1)
        return String(repeating: "0", count: max(0, count - text.count)) + text
      }
      let expected =
        "\(digits(parts.year, 4))-\(digits(parts.month, 2))-\(digits(parts.day, 2))T"
        + "\(digits(parts.hour, 2)):\(digits(parts.minute, 2)):\(digits(parts.second, 2))."
        + "\(digits(Int(rest), 6))Z"
      let moment = WallClockTime(nanoseconds: microseconds * 1000)
      #expect("\(moment)" == expected, "seed \(seed): \(microseconds) µs")
    }
  }

  /// Text orders as the moments do, and every day's text is its own.
  @Test func everyDayOfTwoCenturies() {
    let day = 86400 * WallClockTime.nanosecondsPerSecond
    let first = -100_000 as Int64
    var before = "\(WallClockTime(nanoseconds: first * day))"
    for number in (first + 1)...(first + 146_097 / 2) {
      let text = "\(WallClockTime(nanoseconds: number * day))"
      guard text <= before || !text.hasSuffix("T00:00:00.000000Z") else {
        before = text
        continue
      }
      Issue.record("day \(number) is \(text), the day before \(before)")
      return
    }
    // 1696-03-17 and 73,048 days.
    #expect(before == "1896-03-17T00:00:00.000000Z")
  }

  private func checkArithmetic(_ left: Int64, _ right: Int64) {
    let (a, b) = (WallClockTime(nanoseconds: left), WallClockTime(nanoseconds: right))
    let sum = Int64(clamping: Int128(left) + Int128(right))
    let difference = Int64(clamping: Int128(left) - Int128(right))
    #expect(a.advanced(by: right).nanoseconds == sum, "\(left), \(right)")
    #expect(a.nanoseconds(since: b) == difference, "\(left), \(right)")
    #expect(a.seconds(since: b) == Double(difference) / 1e9, "\(left), \(right)")
    #expect((a < b) == (left < right), "\(left), \(right)")
  }

  @Test func arithmeticSaturates() {
    let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
    for left in extremes { for right in extremes { checkArithmetic(left, right) } }
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func randomArithmetic(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<50 {
      checkArithmetic(
        Int64(truncatingIfNeeded: random.next()), Int64(truncatingIfNeeded: random.next()))
    }
  }
}
