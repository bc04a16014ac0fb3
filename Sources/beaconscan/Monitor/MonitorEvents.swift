import Records
import Regions
import Scanning
import ServiceCore

/// Makes lines of what happens to regions: adds for how long they were inside.
struct MonitorEvents {
  /// When a region was entered.
  private enum Entry {
    /// In this run.
    case received(MonotonicTime)
    /// In a run before.
    case stored(WallClockTime)
  }

  private var entries: [String: Entry] = [:]
  /// The rules of the regions that have none of their own.
  private let rules: RegionRules
  private var ownRules: [String: RegionRules] = [:]

  init(rules: RegionRules) { self.rules = rules }

  /// Records a region's own rules.
  mutating func record(region: String, rules: RegionRules) { ownRules[region] = rules }

  /// Records when a region was entered before the start.
  mutating func record(region: String, insideSince time: WallClockTime) {
    entries[region] = .stored(time)
  }

  /// Returns the line of an event.
  mutating func line(of event: RegionEvent) -> MonitorEvent {
    let (transition, time) = (event.transition, event.wallClockTime)
    var line = MonitorEvent(
      .state, time: time, region: transition.region, state: transition.change.state,
      reason: transition.reason, offset: event.wallClockOffset,
      rules: ownRules[transition.region] ?? rules)
    switch transition.change {
    case .enter:
      line.kind = .enter
      entries[transition.region] = .received(transition.time)
    case .exit:
      line.kind = .exit
      let seconds: Double? =
        switch entries.removeValue(forKey: transition.region) {
        case .received(let entry): transition.time.seconds(since: entry)
        case .stored(let entry): time.seconds(since: entry)
        case nil: nil
        }
      // A recording that is replayed again begins before what was stored of it.
      line.dwell = seconds.flatMap { $0 >= 0 ? $0 : nil }
    case .determined: break
    }
    return line
  }
}
