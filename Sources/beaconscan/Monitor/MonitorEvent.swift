import Advertising
import CoreLocation
import Regions
import Scanning

/// What `monitor` tells: a crossing, or a state that was found out.
struct MonitorEvent {
  /// What happened.
  enum Kind: String {
    case enter, exit
    /// The region is where it was thought to be, or nobody knew.
    case state
  }

  var kind: Kind
  /// When, as the clock on the wall showed it.
  var time: WallClockTime
  var region: String
  /// Where its beacons are from now on.
  var state: RegionState
  /// For how long they were inside, in seconds; `nil` if that is not known, or nothing was left.
  var dwell: Double?
  var reason: RegionTransition.Reason
  /// What is added to a moment of the reason to show it, in nanoseconds.
  var offset: WallClockOffset

  /// When the beacon that decided was last heard.
  var lastHeard: WallClockTime? { reason.lastSighting?.time.wallClockTime(offset) }
}

/// Makes events of what happens to regions.
struct MonitorEvents {
  /// When a region was entered.
  private enum Entry {
    /// On the line of sightings.
    case seen(MonotonicTime)
    /// As the clock on the wall showed it to the process before.
    case kept(WallClockTime)
  }

  private var entries: [String: Entry] = [:]
  private var last: RegionTransition?

  init() {}

  /// Is told when a region was entered before the start.
  mutating func note(region: String, insideSince moment: WallClockTime) {
    entries[region] = .kept(moment)
  }

  /// The event of a transition.
  ///
  /// - Returns: `nil` if an event has told it: a state that comes with the crossing into it.
  mutating func event(of transition: RegionTransition, offset: WallClockOffset) -> MonitorEvent? {
    defer { last = transition }
    let shown = transition.time.wallClockTime(offset)
    var event = MonitorEvent(
      kind: .state, time: shown, region: transition.region, state: .unknown,
      reason: transition.reason, offset: offset)
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

extension RegionState {
  /// Its name, as JSON and people have it.
  var name: String {
    switch self {
    case .unknown: "unknown"
    case .inside: "inside"
    case .outside: "outside"
    }
  }
}
