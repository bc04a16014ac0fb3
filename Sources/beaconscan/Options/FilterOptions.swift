import ArgumentParser
import Glibc
import Records
import Scanning

/// Which adverts count, and which rows of a list are shown, in which order.
struct FilterOptions: ParsableArguments {
  @Option(
    name: .customLong("min-rssi"),
    help: ArgumentHelp("Only what was received at least so strong, in dBm.", valueName: "dBm"))
  var minimumRSSI: Int8?

  @Option(
    help: ArgumentHelp(
      "Only from this time on, such as '2026-01-15 09:00' or 2026-01-15T08:00:00Z.",
      discussion: "A time without an offset is local, or UTC with --utc.", valueName: "time"))
  var since: TimeArgument?

  @Option(help: ArgumentHelp("Only before this time.", valueName: "time"))
  var until: TimeArgument?

  @Option(
    help: ArgumentHelp(
      "The order of a list: distance (by signal strength), name, last, rssi or count.",
      valueName: "order"))
  var sort: RowOrder?

  @Option(help: ArgumentHelp("Show only so many rows of a list.", valueName: "number"))
  var top: Int?

  func validate() throws {
    if let top, top < 1 { throw ValidationError("--top must be 1 or more.") }
  }

  /// The filter, with times of a zone.
  func filter(_ form: FormatOptions) -> AdvertFilter {
    let zone: ClockZone = form.utc ? .utc : .local
    return AdvertFilter(
      minimumRSSI: minimumRSSI, since: since?.time(in: zone), until: until?.time(in: zone))
  }
}

extension RowOrder: ExpressibleByArgument {}

/// What counts of what was received.
struct AdvertFilter {
  var minimumRSSI: Int8?
  var since: WallClockTime?
  var until: WallClockTime?

  /// Whether nothing is left out.
  var isOpen: Bool { minimumRSSI == nil && since == nil && until == nil }

  func includes(_ rssi: Int8?, at time: WallClockTime) -> Bool {
    if let minimumRSSI, rssi ?? .min < minimumRSSI { return false }
    if let since, time < since { return false }
    if let until, time >= until { return false }
    return true
  }
}

/// Returns the sentence for a run that showed nothing although something was received; `nil` for others.
func noMatch(_ matched: Int, of total: Int, _ what: String) -> String? {
  guard matched == 0, total > 0 else { return nil }
  var digits = ""
  for (place, digit) in "\(total)".reversed().enumerated() {
    if place > 0, place % 3 == 0 { digits.append(",") }
    digits.append(digit)
  }
  return "beaconscan: 0 of \(String(digits.reversed())) \(what) matched"
}

/// A time of an option: a date and a time of day, with an offset from UTC or without.
struct TimeArgument: ExpressibleByArgument {
  private let numbers: [Int]
  private let nanoseconds: Int64
  /// Seconds ahead of UTC; `nil` where that was not given.
  private let offset: Int?

  init?(argument: String) {
    var rest = argument[...]
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
      let day = number(2, 1...31)
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
    (numbers, nanoseconds) = ([year, month, day] + clock, fraction)
  }

  func time(in zone: ClockZone) -> WallClockTime {
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
