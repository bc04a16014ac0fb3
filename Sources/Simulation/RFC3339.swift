import Scanning

extension WallClockTime {
  /// Reads `2026-01-01T00:00:00Z`, with a fraction or without, cut to microseconds; 1970 to 2199.
  init?(rfc3339 text: String) {
    let bytes = Array(text.utf8)
    guard (20...30).contains(bytes.count), bytes.last == UInt8(ascii: "Z") else { return nil }
    for (place, mark) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")]
      as [(Int, Unicode.Scalar)]
    {
      guard bytes[place] == UInt8(ascii: mark) else { return nil }
    }
    guard let year = Self.number(bytes[0..<4]), let month = Self.number(bytes[5..<7]),
      let day = Self.number(bytes[8..<10]), let hour = Self.number(bytes[11..<13]),
      let minute = Self.number(bytes[14..<16]), let second = Self.number(bytes[17..<19])
    else { return nil }
    var microseconds: Int64 = 0
    if bytes.count > 20 {
      guard bytes.count > 21, bytes[19] == UInt8(ascii: "."),
        Self.number(bytes[20..<(bytes.count - 1)]) != nil
      else { return nil }
      let digits = bytes[20..<(bytes.count - 1)].prefix(6)
      microseconds = (Self.number(digits) ?? 0)
      for _ in digits.count..<6 { microseconds *= 10 }
    }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1970...2199).contains(year), (1...12).contains(month), hour < 24, minute < 60,
      second < 60, day >= 1, day <= lengths[Int(month) - 1]
    else { return nil }
    let leapDays = (year - 1969) / 4 - (year - 1901) / 100 + (year - 1601) / 400
    let monthDays = lengths.prefix(Int(month) - 1).reduce(0, +)
    let days = (year - 1970) * 365 + leapDays + monthDays + day - 1
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    self.init(nanoseconds: seconds * Self.nanosecondsPerSecond + microseconds * 1000)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    var number: Int64 = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      number = number * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    return number
  }
}
