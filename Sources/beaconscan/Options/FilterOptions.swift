import ArgumentParser
import Glibc
import Records
import Scanning

/// The adverts that count, and the rows and order of a list.
struct FilterOptions: ParsableArguments {
  @Option(
    name: .customLong("min-rssi"),
    help: ArgumentHelp("Only what was received at least so strong, in dBm.", valueName: "dBm"))
  var minimumRSSI: Int8?

  @Option(
    help: ArgumentHelp(
      "Only from this time on, such as '2026-01-15 09:00' or 2026-01-15T08:00:00Z.",
      discussion: "A time without an offset is local, or UTC with --utc.", valueName: "time"))
  var since: WrittenTime?

  @Option(help: ArgumentHelp("Only before this time.", valueName: "time"))
  var until: WrittenTime?

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

  func filter(in zone: ClockZone) -> AdvertFilter {
    AdvertFilter(
      minimumRSSI: minimumRSSI, since: since?.time(in: zone), until: until?.time(in: zone))
  }
}

extension RowOrder: ExpressibleByArgument {}

/// A filter of adverts.
struct AdvertFilter {
  var minimumRSSI: Int8?
  var since: WallClockTime?
  var until: WallClockTime?

  var isOpen: Bool { minimumRSSI == nil && since == nil && until == nil }

  func includes(_ rssi: Int8?, at time: WallClockTime) -> Bool {
    if let minimumRSSI, rssi ?? .min < minimumRSSI { return false }
    if let since, time < since { return false }
    if let until, time >= until { return false }
    return true
  }
}

/// Returns a message if adverts were received but none matched, else `nil`.
func noMatch(_ matched: Int, of total: Int, _ what: String) -> String? {
  guard matched == 0, total > 0 else { return nil }
  var digits = ""
  for (place, digit) in "\(total)".reversed().enumerated() {
    if place > 0, place % 3 == 0 { digits.append(",") }
    digits.append(digit)
  }
  return "beaconscan: 0 of \(String(digits.reversed())) \(what) matched"
}
