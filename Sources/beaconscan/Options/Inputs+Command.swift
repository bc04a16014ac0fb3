import Frontends
import Records

// The settings that several subcommands have, and no other front end.

extension Inputs {
  static let files = Setting<String>.file("files", "Recordings, as with --replay.", valid: "")

  static func count(_ summary: String) -> Setting<Int> {
    .whole("count", summary, in: 1 ... .max)
  }

  static func meters(_ name: String, _ summary: String, shown: String) -> Setting<Double> {
    .number(
      name, summary, "meters", in: .leastNonzeroMagnitude...1e6, shown: shown,
      kind: "a number of meters such as 10")
  }

  static func exec(_ summary: String) -> Setting<String> {
    .text(
      "exec", summary, "command", valid: "write a line of shell",
      isValid: { $0.contains { !$0.isWhitespace } })
  }

  static let minimumRSSI = Setting<Int8>.whole(
    "min-rssi", "Only what was received at least so strong.", "dBm", in: -128...0,
    kind: "a signal strength in dBm such as -67")

  static let since = Setting<WrittenTime>(
    "since", "Only from this time on, such as '2026-01-15 09:00' or 2026-01-15T08:00:00Z.", "time",
    details: "A time without an offset is local, or UTC with --utc.", valid: validTime,
    read: WrittenTime.init)

  static let until = Setting<WrittenTime>(
    "until", "Only before this time.", "time", valid: validTime, read: WrittenTime.init)

  static let validTime =
    "write a date and a time such as '2026-01-15 09:00' or 2026-01-15T09:00:00Z"
}
