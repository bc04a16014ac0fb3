import ArgumentParser
import Frontends
import Glibc
import Records
import Scanning

struct FilterOptions: ParsableArguments {
  @Option(Inputs.minimumRSSI.rare) var minimumRSSI: Int8?
  @Option(Inputs.since) var since: WrittenTime?
  @Option(Inputs.until) var until: WrittenTime?

  @Option(
    .choice(
      "sort", "The order of a list: distance (by signal strength), name, last, rssi or count.",
      "order", shown: "count"
    ).rare)
  var sort: RowOrder?

  @Option(.whole("top", "Show only so many rows of a list.", in: 1 ... .max, shown: "all").rare)
  var top: Int?

  func check(in zone: ClockZone) throws {
    if let since = since?.time(in: zone), let until = until?.time(in: zone), since >= until {
      throw ValidationError(Self.contraryTimes)
    }
  }

  static let contraryTimes = "--since must be before --until; exchange them"

  func filter(in zone: ClockZone) -> AdvertFilter {
    AdvertFilter(
      minimumRSSI: minimumRSSI, since: since?.time(in: zone), until: until?.time(in: zone))
  }
}

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

func noMatch(_ matched: Int, of total: Int, _ what: String) -> String? {
  guard matched == 0, total > 0 else { return nil }
  var digits = ""
  for (place, digit) in "\(total)".reversed().enumerated() {
    if place > 0, place % 3 == 0 { digits.append(",") }
    digits.append(digit)
  }
  return "beaconscan: 0 of \(String(digits.reversed())) \(what) matched"
}
