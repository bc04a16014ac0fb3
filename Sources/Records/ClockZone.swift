import Glibc
package import Scanning

/// The zone of the times in tables. JSON and comma-separated values have UTC.
package enum ClockZone: Sendable {
  /// That of the environment variable `TZ`, or of this machine.
  case local
  case utc

  /// The date, the time of day with so many digits of a second (at most 6), and the distance from UTC, for example
  /// `2026-01-15 10:00:00.123+01:00`; or `Z` in the zone ``utc``.
  package func text(_ time: WallClockTime, digits: Int = 3) -> String {
    let offset = offset(at: time)
    let shifted = time.advanced(by: Int64(offset) * WallClockTime.nanosecondsPerSecond)
    let text = shifted.description
    let length = digits == 0 ? 19 : 20 + digits
    let date = text.prefix(10) + " " + text.prefix(length).dropFirst(11)
    guard self == .local else { return date + "Z" }
    let minutes = abs(offset) / 60
    return date + (offset < 0 ? "-" : "+") + Self.pair(minutes / 60) + ":" + Self.pair(minutes % 60)
  }

  /// The time of day in seconds.
  package func clock(_ time: WallClockTime) -> String {
    String(text(time, digits: 0).dropFirst(11).prefix(8))
  }

  /// The seconds by which the zone is ahead of UTC at a moment.
  private func offset(at time: WallClockTime) -> Int {
    guard self == .local else { return 0 }
    // Rounded down, so that moments before 1970 are of the right second.
    let nanoseconds = WallClockTime.nanosecondsPerSecond
    var seconds = time_t(time.nanoseconds / nanoseconds - (time.nanoseconds < 0 ? 1 : 0))
    var parts = unsafe tm()
    // Both outlive the call.
    guard unsafe localtime_r(&seconds, &parts) != nil else { return 0 }
    return unsafe parts.tm_gmtoff
  }

  private static func pair(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }

  /// A text without its date and fractions of a second.
  static func shortened(_ text: String) -> String {
    guard text.utf8.count >= 20 else { return text }
    return String(text.dropFirst(11).prefix(8) + text.dropFirst(19).drop { !"+-Z".contains($0) })
  }

  /// The number of columns that a time of so many digits occupies.
  func width(digits: Int) -> Int { (digits == 0 ? 19 : 20 + digits) + offsetWidth }
  /// The number of columns that a shortened time occupies.
  var shortWidth: Int { 8 + offsetWidth }

  private var offsetWidth: Int { self == .utc ? 1 : 6 }
}
