import Clocks
import Records

/// Times of messages, as seconds since 1970.
enum Seconds {
  static func read(_ text: String) -> Int64? {
    guard let time = WrittenTime(text)?.time(in: .utc) else { return nil }
    return time.nanoseconds / WallClockTime.nanosecondsPerSecond
  }

  static func text(_ second: Int64) -> String {
    let time = second.multipliedReportingOverflow(by: WallClockTime.nanosecondsPerSecond)
    return "\(WallClockTime(nanoseconds: time.overflow ? 0 : time.partialValue))"
  }
}
