import Frontends
import Positioning
import Records
package import Regions
package import Scanning
package import ServiceCore
import Synchronization

package struct RegionsChanged: ServiceEvent {
  package var time: WallClockTime

  package init(time: WallClockTime) { self.time = time }
}

/// Encodes events for the journal. The kinds are `enter`, `exit` and `state` of regions, `visit`,
/// `health` of receivers and location sources, and `regions` for a change of the list.
package final class EventFormat: Sendable {
  /// The kinds in the history. Lists of regions are of no use later.
  package static let historyKinds: Set<String> = ["enter", "exit", "state", "visit", "health"]

  private let lines: Mutex<MonitorEvents>

  package init(rules: RegionRules) { lines = Mutex(MonitorEvents(rules: rules)) }

  package func setRules(_ rules: RegionRules) { lines.withLock { $0.rules = rules } }

  package func begin(with known: RegionSnapshot) {
    lines.withLock { lines in
      lines.begin(with: known, insideSince: known.status.state == .inside ? known.since : nil)
    }
  }

  package func begin(with known: CircleSnapshot) {
    lines.withLock { lines in
      lines.begin(with: known, insideSince: known.state == .inside ? known.since : nil)
    }
  }

  func forget(_ region: String) { lines.withLock { $0.forget(region) } }

  /// Returns the journal's form of an event, or `nil` if the journal omits it.
  package func describe(_ event: any ServiceEvent) -> JournalEntry? {
    switch event {
    case let event as BeaconEvent: describe(event)
    case let event as LocationEvent: describe(event)
    case let event as RegionsChanged:
      // The time is 0 because a recording's events are older than the clock that times
      // registrations.
      JournalEntry(
        kind: "regions", wallClockTime: WallClockTime(nanoseconds: 0),
        record: Self.regions.json(event))
    default: nil
    }
  }

  private func describe(_ event: BeaconEvent) -> JournalEntry? {
    switch event {
    case .region(let event):
      return describe(lines.withLock { $0.line(of: event) })
    case .health(let health, let time):
      return JournalEntry(
        kind: "health", wallClockTime: time, record: ScannerHealth.record.json((health, time)))
    default: return nil
    }
  }

  private func describe(_ event: LocationEvent) -> JournalEntry? {
    switch event {
    case .circle(let event):
      return lines.withLock({ $0.line(of: event) }).map(describe)
    case .visit(let visit):
      let time = visit.departure ?? visit.arrival ?? .now
      return JournalEntry(
        kind: "visit", wallClockTime: time, record: LocateLine.visit.json(.visit(visit, at: time)))
    case .health(let health, let time):
      return JournalEntry(
        kind: "health", wallClockTime: time, record: LocationHealth.record.json((health, time)))
    default: return nil
    }
  }

  private func describe(_ line: MonitorEvent) -> JournalEntry {
    JournalEntry(
      kind: line.kind.rawValue, wallClockTime: line.time, region: line.region,
      beacon: line.beacon?.key, dwell: line.dwell, record: line.record.json(line), detail: line)
  }

  private static let regions = RecordType<RegionsChanged>(
    "regions", [Field("time", .time) { $0.time }])
}
