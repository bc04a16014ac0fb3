import Advertising
import CoreLocation
import Regions

/// An event as a line for people.
struct EventLine {
  private let width: Int
  private let rules: RegionRules
  private let hasColour: Bool

  private static let times = 23
  private static let kinds = 5
  /// A longer name stands out of its column.
  private static let widest = 40

  init(regions: [NamedRegion], rules: RegionRules, hasColour: Bool) {
    width = min(max(6, regions.map(\.name.count).max() ?? 0), Self.widest)
    self.rules = rules
    self.hasColour = hasColour
  }

  /// What stands above the lines.
  var header: String {
    left("TIME", Self.times) + "  EVENT  " + left("REGION", width) + "  "
      + right("INSIDE", 9) + "  " + left("BEACON", 11) + "  REASON"
  }

  /// An event, without colour.
  func text(_ event: MonitorEvent) -> String {
    let beacon = event.reason.lastSighting.map { "\($0.beacon.major):\($0.beacon.minor)" }
    return left(event.time.dayAndClock, Self.times) + "  "
      + left(event.kind.rawValue.uppercased(), Self.kinds) + "  " + left(event.region, width) + "  "
      + right(event.dwell.map { "\(fixed($0, 1)) s" } ?? "", 9) + "  "
      + left(beacon ?? "–", 11) + "  " + words(event)
  }

  /// A line with its event in colour, where colour is wanted.
  func coloured(_ line: String) -> String {
    guard hasColour else { return line }
    let (before, rest) = (line.prefix(Self.times + 2), line.dropFirst(Self.times + 2))
    let (kind, after) = (rest.prefix(Self.kinds), rest.dropFirst(Self.kinds))
    let code =
      switch kind {
      case "ENTER": "32"
      case "EXIT ": "33"
      default: "2"
      }
    return "\(before)\u{1B}[\(code)m\(kind)\u{1B}[0m\(after)"
  }

  /// Why it happened.
  private func words(_ event: MonitorEvent) -> String {
    guard event.kind == .state else { return why(event) }
    return "\(event.state.name): \(why(event))"
  }

  private func why(_ event: MonitorEvent) -> String {
    let reason = event.reason
    let signal = reason.lastSighting?.rssi.map { "at \($0) dBm" } ?? "without signal strength"
    let enters = event.state == .inside
    switch reason.rule {
    case .sighting: return "heard \(signal)"
    case .count: return "\(rules.count.needed) of the last \(rules.count.last), \(signal)"
    case .dwell: return "heard for \(decimal(rules.dwell, 3)) s, \(signal)"
    case .signal:
      let level = rules.signal.map { enters ? $0.enter : $0.exit } ?? 0
      return "\(signal), long enough \(enters ? "above" : "below") \(decimal(level, 1)) dBm"
    case .distance:
      let limit = rules.distance.map { enters ? $0.enter : $0.exit } ?? 0
      return "\(signal), long enough \(enters ? "within" : "beyond") \(decimal(limit, 2)) m"
    case .exitTimeout:
      return "silent for its limit of \(seconds(reason.exitTimeout)) s" + learnt(reason)
    case .start:
      let isHearingEnough =
        rules.signal == nil && rules.distance == nil && rules.count == .first && rules.dwell == 0
      let what = isHearingEnough ? "not heard" : "no beacon met the rules"
      return "\(what) for \(seconds(reason.exitTimeout)) s"
    case .forgotten: return "made room for other beacons"
    case .request: return "asked for"
    }
  }

  /// What a limit rests on.
  private func learnt(_ reason: RegionTransition.Reason) -> String {
    guard case .adaptive = rules.exitTimeout, let interval = reason.interval, let loss = reason.loss
    else { return "" }
    return "; sent every \(seconds(interval)) s, \(fixed(loss * 100, 0)) % lost"
  }

  private func seconds(_ value: Double?) -> String {
    value.map { fixed($0, $0 < 1 ? 2 : 1) } ?? "?"
  }

  private func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
