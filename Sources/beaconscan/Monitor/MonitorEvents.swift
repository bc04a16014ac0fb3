import Records
import Regions
import Scanning

/// Makes events of what happens to regions.
struct MonitorEvents {
  /// When a region was entered.
  private enum Entry {
    /// In this run.
    case seen(MonotonicTime)
    /// In a run before.
    case kept(WallClockTime)
  }

  private var entries: [String: Entry] = [:]
  private var last: RegionTransition?

  /// The rules of the regions.
  let rules: RegionRules

  init(rules: RegionRules) {
    self.rules = rules
  }

  /// Records when a region was entered before the start.
  mutating func record(region: String, insideSince time: WallClockTime) {
    entries[region] = .kept(time)
  }

  /// The event of a transition.
  ///
  /// - Returns: `nil` for a state that comes with the crossing into it, which has an event of its own.
  mutating func event(of transition: RegionTransition, offset: WallClockOffset) -> RegionEvent? {
    defer { last = transition }
    let shown = transition.time.wallClockTime(offset)
    var event = RegionEvent(
      .state, time: shown, region: transition.region, state: .unknown,
      reason: transition.reason, offset: offset, rules: rules)
    switch transition.change {
    case .enter:
      (event.kind, event.state) = (.enter, .inside)
      entries[transition.region] = .seen(transition.time)
    case .exit:
      (event.kind, event.state) = (.exit, .outside)
      let seconds: Double? =
        switch entries.removeValue(forKey: transition.region) {
        case .seen(let entry): transition.time.seconds(since: entry)
        case .kept(let entry): shown.seconds(since: entry)
        case nil: nil
        }
      // A recording that is replayed again begins before what was kept of it.
      event.dwell = seconds.flatMap { $0 >= 0 ? $0 : nil }
    case .determined(let state):
      if let last, last.region == transition.region, last.time == transition.time,
        last.change == (state == .inside ? .enter : .exit)
      {
        return nil
      }
      event.state = state
    }
    return event
  }
}
