import Frontends
import Positioning
import Records
package import Regions
package import Scanning
package import ServiceCore
import Synchronization

/// The regions were changed: a name that was added, replaced or removed.
package struct RegionsChanged: ServiceEvent {
  package var time: WallClockTime

  package init(time: WallClockTime) { self.time = time }
}

/// The service has one name for each kind of event: `enter`, `exit` and `state` of regions, `visit` for the beginning or the
/// end of a visit, `health` of receivers and of the sources of locations, and `regions` where regions were changed.
package final class EventFormat: Sendable {
  /// The kinds of events that the history shows: lists of regions are worth nothing later.
  package static let historyKinds: Set<String> = ["enter", "exit", "state", "visit", "health"]

  private let lines: Mutex<MonitorEvents>

  package init(rules: RegionRules) { lines = Mutex(MonitorEvents(rules: rules)) }

  /// Sets the rules of regions that have none of their own.
  package func setRules(_ rules: RegionRules) { lines.withLock { $0.rules = rules } }

  /// Records what is known of a region before anything is received.
  package func begin(with known: RegionSnapshot) {
    lines.withLock { lines in
      lines.begin(with: known, insideSince: known.status.state == .inside ? known.since : nil)
    }
  }

  /// Records what is known of a circle before anything is received.
  package func begin(with known: CircleSnapshot) {
    lines.withLock { lines in
      lines.begin(with: known, insideSince: known.state == .inside ? known.since : nil)
    }
  }

  /// Forgets a region.
  func forget(_ region: String) { lines.withLock { $0.forget(region) } }

  /// Returns what the journal has of an event; `nil` for one that it does not have.
  package func describe(_ event: any ServiceEvent) -> JournalDescription? {
    switch event {
    case let event as BeaconEvent: describe(event)
    case let event as LocationEvent: describe(event)
    case let event as RegionsChanged: describe(event)
    default: nil
    }
  }

  /// Its age counts for nothing: a recording's events are older than the clock by which its regions are registered.
  private func describe(_ event: RegionsChanged) -> JournalDescription {
    JournalDescription(
      kind: "regions", wallClockTime: WallClockTime(nanoseconds: 0),
      record: Self.encode(event, Self.regions))
  }

  private func describe(_ event: BeaconEvent) -> JournalDescription? {
    switch event {
    case .region(let event):
      return describe(lines.withLock { $0.line(of: event) }, at: event.transition.time)
    case .health(let health, let time):
      return JournalDescription(
        kind: "health", time: health.time, wallClockTime: time,
        record: Self.encode((health, time), ScannerHealth.record))
    default: return nil
    }
  }

  private func describe(_ event: LocationEvent) -> JournalDescription? {
    switch event {
    case .circle(let event):
      guard let line = lines.withLock({ $0.line(of: event) }) else { return nil }
      return describe(line, at: event.transition.time)
    case .visit(let visit):
      let time = visit.departure ?? visit.arrival ?? .now
      let line = LocateLine.visit(VisitLine(visit, at: time))
      return JournalDescription(
        kind: "visit", wallClockTime: time, record: Self.encode(line, LocateLine.visit))
    case .health(let health, let time):
      return JournalDescription(
        kind: "health", time: health.time, wallClockTime: time,
        record: Self.encode((health, time), LocationHealth.record))
    default: return nil
    }
  }

  private func describe(_ line: MonitorEvent, at time: MonotonicTime) -> JournalDescription {
    JournalDescription(
      kind: line.kind.rawValue, time: time, wallClockTime: line.time, region: line.region,
      beacon: line.beacon?.key, dwell: line.dwell, record: Self.encode(line, line.record),
      detail: line)
  }

  private static let regions = RecordType<RegionsChanged>(
    "regions", [Field("time", .time) { $0.time }])

  private static func encode<Value>(_ value: Value, _ type: RecordType<Value>) -> [UInt8] {
    var record: [UInt8] = []
    type.append(value, to: &record)
    return record
  }
}
