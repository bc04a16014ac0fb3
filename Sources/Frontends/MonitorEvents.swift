import Advertising
import Positioning
package import Records
package import Regions
package import Scanning
package import ServiceCore

/// Makes lines from the events of regions, with the time that regions or beacons were inside.
package struct MonitorEvents: Sendable {
  /// The time at which a region or one of its beacons was entered.
  private enum Entry {
    case received(MonotonicTime)
    case stored(WallClockTime)
  }

  private struct Subject: Hashable {
    var region: String
    var beacon: BeaconIdentity?
  }

  /// The entries of the regions that are inside, and of the beacons inside them.
  private var entries: [Subject: Entry] = [:]
  private var known: [RegionSnapshot] = []
  private var knownCircles: [CircleSnapshot] = []
  private var crossings: [String: MonotonicTime] = [:]
  /// The rules of regions without rules of their own.
  package var rules: RegionRules

  package init(rules: RegionRules) { self.rules = rules }

  /// Records a region's state before the start, and the time of an entry in an earlier run.
  package mutating func begin(with snapshot: RegionSnapshot, insideSince since: WallClockTime?) {
    known.append(snapshot)
    let region = snapshot.region.identifier
    for (beacon, time) in snapshot.beacons {
      entries[Subject(region: region, beacon: beacon)] = .stored(time)
    }
    if let since { entries[Subject(region: region)] = .stored(since) }
  }

  package mutating func forget(_ region: String) {
    entries = entries.filter { $0.key.region != region }
    crossings[region] = nil
  }

  package mutating func begin(with snapshot: CircleSnapshot, insideSince since: WallClockTime?) {
    knownCircles.append(snapshot)
    let name = snapshot.circle.region.identifier
    if let since { entries[Subject(region: name)] = .stored(since) }
  }

  package mutating func removeCircleStates(at time: WallClockTime) -> [MonitorEvent] {
    defer { knownCircles = [] }
    return knownCircles.map {
      MonitorEvent(.state, time: time, circle: $0.circle.region, state: $0.state)
    }
  }

  /// Returns the line of a circle's event; `nil` for a state that a crossing has shown already.
  package mutating func line(of event: CircleEvent) -> MonitorEvent? {
    let (transition, time) = (event.transition, event.wallClockTime)
    let change = transition.change
    if !change.isCrossing && crossings[transition.region] == transition.time { return nil }
    var line = MonitorEvent(
      .state, time: time, circle: event.circle.region, state: change.state,
      reason: transition.reason)
    if change.isCrossing {
      crossings[transition.region] = transition.time
      let subject = Subject(region: transition.region)
      complete(&line, of: subject, isEntry: change == .enter, at: transition.time, time)
    }
    return line
  }

  /// Makes a line an entry, or an exit with the seconds since the entry.
  private mutating func complete(
    _ line: inout MonitorEvent, of subject: Subject, isEntry: Bool,
    at monotonicTime: MonotonicTime, _ time: WallClockTime
  ) {
    line.kind = isEntry ? .enter : .exit
    if isEntry {
      entries[subject] = .received(monotonicTime)
      return
    }
    let seconds: Double? =
      switch entries.removeValue(forKey: subject) {
      case .received(let entry): monotonicTime.seconds(since: entry)
      case .stored(let entry): time.seconds(since: entry)
      case nil: nil
      }
    // A recording that is replayed again begins before its stored entries.
    line.dwell = seconds.flatMap { $0 >= 0 ? $0 : nil }
  }

  /// Removes and returns the lines of the states at the start: of each region, and of the beacons
  /// inside it if each is reported.
  package mutating func removeStates(
    at time: WallClockTime, _ offset: WallClockOffset
  ) -> [MonitorEvent] {
    defer { known = [] }
    let reason = RegionTransition.Reason(.request)
    return known.flatMap { snapshot in
      ([nil] + snapshot.beacons.keys.sorted().map { $0 }).map { beacon in
        MonitorEvent(
          .state, time: time, region: snapshot.region.identifier, state: snapshot.status.state,
          beacon: beacon,
          // The beacons in a region assumed to be inside are not known, unless each is reported.
          beaconsInside: snapshot.status.state == .inside && snapshot.beacons.isEmpty
            ? nil : snapshot.status.beacons, reason: reason, offset: offset,
          rules: snapshot.region.rules ?? rules)
      }
    }
  }

  package mutating func line(of event: RegionEvent) -> MonitorEvent {
    let (transition, time) = (event.transition, event.wallClockTime)
    let change = transition.change
    var line = MonitorEvent(
      .state, time: time, region: transition.region, state: change.state,
      beacon: transition.beacon, beaconsInside: transition.beaconsInside,
      reason: transition.reason, offset: event.wallClockOffset, rules: event.region.rules ?? rules)
    if change.isCrossing {
      let subject = Subject(region: transition.region, beacon: transition.beacon)
      complete(&line, of: subject, isEntry: change == .enter, at: transition.time, time)
    }
    return line
  }
}
