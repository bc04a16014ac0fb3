import Glibc
package import Scanning

/// The time zone of the times in tables. JSON and CSV use UTC.
package enum ClockZone: Sendable {
  /// The zone of the environment variable `TZ`, or else of this machine.
  case local
  case utc

  /// Returns the date, the time with up to 6 decimals of a second, and the offset from UTC, for
  /// example `2026-01-15 10:00:00.123+01:00`, or `Z` in the zone ``utc``.
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

  package func clock(_ time: WallClockTime) -> String {
    String(text(time, digits: 0).dropFirst(11).prefix(8))
  }

  private func offset(at time: WallClockTime) -> Int {
    guard self == .local else { return 0 }
    // Rounds down, so that times before 1970 are in the right second.
    let nanoseconds = WallClockTime.nanosecondsPerSecond
    var seconds = time_t(time.nanoseconds / nanoseconds - (time.nanoseconds < 0 ? 1 : 0))
    var parts = unsafe tm()
    // Both outlive the call.
    guard unsafe localtime_r(&seconds, &parts) != nil else { return 0 }
    return unsafe parts.tm_gmtoff
  }

  private static func pair(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }

  /// Returns a time's text without the date and the fractions of a second.
  static func shortened(_ text: String) -> String {
    guard text.utf8.count >= 20 else { return text }
    return String(text.dropFirst(11).prefix(8) + text.dropFirst(19).drop { !"+-Z".contains($0) })
  }

  func width(digits: Int) -> Int { (digits == 0 ? 19 : 20 + digits) + offsetWidth }
  var shortWidth: Int { 8 + offsetWidth }
  private var offsetWidth: Int { self == .utc ? 1 : 6 }
}
