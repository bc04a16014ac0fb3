import Scanning

/// Parses a decimal number of at most 18 digits, without an exponent.
func decimal(_ text: ArraySlice<UInt8>) -> Double? {
  var value: Int64 = 0
  var digits = 0
  var scale = 1.0
  var hasPoint = false
  var rest = text
  let isNegative = rest.first == UInt8(ascii: "-")
  if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
  for byte in rest {
    switch byte {
    case 0x30...0x39:
      digits += 1
      guard digits <= 18 else { return nil }
      value = value * 10 + Int64(byte - 0x30)
      if hasPoint { scale *= 10 }
    case UInt8(ascii: ".") where !hasPoint: hasPoint = true
    default: return nil
    }
  }
  guard digits > 0 else { return nil }
  return (isNegative ? -1 : 1) * Double(value) / scale
}

func digits(_ text: ArraySlice<UInt8>) -> Int64? {
  guard (1...9).contains(text.count) else { return nil }
  var value: Int64 = 0
  for byte in text {
    guard (0x30...0x39).contains(byte) else { return nil }
    value = value * 10 + Int64(byte - 0x30)
  }
  return value
}

/// Converts the digits after the decimal point of seconds to nanoseconds, rounded down.
func fractionOfSecond(_ fraction: ArraySlice<UInt8>) -> Int64? {
  guard !fraction.isEmpty, fraction.count <= 32,
    fraction.allSatisfy({ (0x30...0x39).contains($0) }),
    let value = digits(fraction.prefix(9))
  else { return nil }
  return (fraction.count..<max(9, fraction.count)).reduce(value) { value, _ in value * 10 }
}

/// Normalizes a direction to 0..<360 degrees; returns `nil` if its magnitude exceeds 720.
func bearing(_ degrees: Double) -> Double? {
  guard abs(degrees) <= 720 else { return nil }
  let rest = degrees.truncatingRemainder(dividingBy: 360)
  return rest < 0 ? (rest + 360 < 360 ? rest + 360 : 0) : rest
}

let nanosecondsPerDay: Int64 = 86400 * WallClockTime.nanosecondsPerSecond

/// Returns the days from 1970-01-01 to a valid date from 1970 to 2199, by Howard Hinnant's
/// `days_from_civil` (<https://howardhinnant.github.io/date_algorithms.html>).
func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64? {
  let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  guard (1970...2199).contains(year), (1...12).contains(month),
    (1...lengths[Int(month) - 1]).contains(day)
  else { return nil }
  let shifted = month <= 2 ? year - 1 : year
  let yearOfEra = shifted % 400
  let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
  let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
  return shifted / 400 * 146_097 + dayOfEra - 719_468
}

/// Returns nanoseconds since midnight. Second 60, a leap second, is the start of the next minute.
func timeOfDay(hour: Int64, minute: Int64, second: Int64, fraction: Int64) -> Int64? {
  guard hour < 24, minute < 60, second <= 60 else { return nil }
  return (hour * 3600 + minute * 60 + second) * WallClockTime.nanosecondsPerSecond + fraction
}

extension WallClockTime {
  /// Parses `2026-01-01T00:00:00Z` as in XML Schema, with an optional fraction and offset.
  init?(xml text: ArraySlice<UInt8>) {
    let bytes = Array(text)
    let marks: [(Int, Unicode.Scalar)] = [(4, "-"), (7, "-"), (13, ":"), (16, ":")]
    guard bytes.count >= 19, marks.allSatisfy({ bytes[$0] == UInt8(ascii: $1) }),
      bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " "),
      let year = digits(bytes[0..<4]), let month = digits(bytes[5..<7]),
      let day = digits(bytes[8..<10]), let hour = digits(bytes[11..<13]),
      let minute = digits(bytes[14..<16]), let second = digits(bytes[17..<19]),
      let days = daysSinceEpoch(year: year, month: month, day: day)
    else { return nil }
    var rest = bytes[19...]
    var fraction: Int64 = 0
    if rest.first == UInt8(ascii: ".") {
      let part = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
      guard let value = fractionOfSecond(part) else { return nil }
      fraction = value
      rest = rest[part.endIndex...]
    }
    guard
      let time = timeOfDay(hour: hour, minute: minute, second: second, fraction: fraction)
    else { return nil }
    var offset: Int64 = 0
    if let sign = rest.first, sign != UInt8(ascii: "Z") {
      var zone = rest.dropFirst().filter { $0 != UInt8(ascii: ":") }
      if zone.count == 2 { zone += Array("00".utf8) }
      guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), zone.count == 4,
        let hours = digits(zone[..<2]), let minutes = digits(zone[2...]), hours <= 14, minutes < 60
      else { return nil }
      offset = (hours * 60 + minutes) * 60 * (sign == UInt8(ascii: "+") ? -1 : 1)
    } else if rest.count > 1 {
      return nil
    }
    self.init(
      nanoseconds: days * nanosecondsPerDay + time + offset * Self.nanosecondsPerSecond)
  }
}
