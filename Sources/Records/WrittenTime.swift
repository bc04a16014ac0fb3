import Glibc
package import Scanning

/// A date, optionally with a time of day and an offset from UTC, as people write it.
package struct WrittenTime: Sendable {
  private let numbers: [Int]
  private let nanoseconds: Int64
  private let offset: Int?

  package init?(_ text: String) {
    var rest = text[...]
    func number(_ digits: Int, _ range: ClosedRange<Int>) -> Int? {
      let text = rest.prefix(digits)
      guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let value = Int(text), range.contains(value)
      else { return nil }
      rest = rest.dropFirst(digits)
      return value
    }
    func skip(_ marks: String) -> Bool {
      guard let first = rest.first, marks.contains(first) else { return false }
      rest = rest.dropFirst()
      return true
    }
    guard let year = number(4, 1970...2261), skip("-"), let month = number(2, 1...12), skip("-"),
      let day = number(2, 1...Self.days(in: month, of: year))
    else { return nil }
    var clock = [0, 0, 0]
    var fraction: Int64 = 0
    if !rest.isEmpty {
      guard skip("T "), let hour = number(2, 0...23), skip(":"), let minute = number(2, 0...59)
      else { return nil }
      clock = [hour, minute, 0]
      if skip(":") {
        guard let second = number(2, 0...59) else { return nil }
        clock[2] = second
        if skip(".") {
          var unit: Int64 = 100_000_000
          guard let first = number(1, 0...9) else { return nil }
          fraction = Int64(first) * unit
          while let digit = number(1, 0...9) {
            unit /= 10
            fraction += Int64(digit) * unit
          }
        }
      }
    }
    if skip("Zz") {
      offset = 0
    } else if let sign = rest.first, skip("+-") {
      guard let hours = number(2, 0...23), skip(":"), let minutes = number(2, 0...59) else {
        return nil
      }
      offset = (hours * 3600 + minutes * 60) * (sign == "-" ? -1 : 1)
    } else {
      offset = nil
    }
    guard rest.isEmpty else { return nil }
    numbers = [year, month, day] + clock
    nanoseconds = fraction
  }

  private static func days(in month: Int, of year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? isLeap ? 29 : 28 : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// Returns the time. The zone applies if the text had no offset.
  package func time(in zone: ClockZone) -> WallClockTime {
    var parts = unsafe tm()
    unsafe parts.tm_year = Int32(numbers[0] - 1900)
    unsafe parts.tm_mon = Int32(numbers[1] - 1)
    unsafe parts.tm_mday = Int32(numbers[2])
    unsafe parts.tm_hour = Int32(numbers[3])
    unsafe parts.tm_min = Int32(numbers[4])
    unsafe parts.tm_sec = Int32(numbers[5])
    unsafe parts.tm_isdst = -1
    // The structure outlives the call.
    let isLocal = offset == nil && zone == .local
    let seconds = unsafe (isLocal ? mktime(&parts) : timegm(&parts)) - (offset ?? 0)
    return WallClockTime(
      nanoseconds: Int64(seconds) * WallClockTime.nanosecondsPerSecond + nanoseconds)
  }
}
