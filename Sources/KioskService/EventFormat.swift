import Frontends
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

/// The service has one name for each kind of event: `enter`, `exit` and `state` of regions, `health` of receivers, and
/// `regions` where regions were changed.
package final class EventFormat: Sendable {
  /// The kinds of events that the history shows: lists of regions are worth nothing later.
  package static let historyKinds: Set<String> = ["enter", "exit", "state", "health"]

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

  /// Forgets a region.
  func forget(_ region: String) { lines.withLock { $0.forget(region) } }

  /// Returns what the journal has of an event; `nil` for one that it does not have.
  package func describe(_ event: any ServiceEvent) -> JournalDescription? {
    switch event {
    case let event as BeaconEvent: return describe(event)
    case let event as RegionsChanged:
      return describe(event)
    default: return nil
    }
  }

  /// The next process has a list of its own.
  private func describe(_ event: RegionsChanged) -> JournalDescription {
    var description = JournalDescription(
      kind: "regions", wallClockTime: event.time, record: Self.encode(event, Self.regions))
    description.isStored = false
    return description
  }

  private func describe(_ event: BeaconEvent) -> JournalDescription? {
    switch event {
    case .region(let event):
      let line = lines.withLock { $0.line(of: event) }
      return JournalDescription(
        kind: line.kind.rawValue, time: event.transition.time, wallClockTime: line.time,
        region: line.region, beacon: line.beacon?.key, dwell: line.dwell,
        record: Self.encode(line, line.record), detail: line)
    case .health(let health, let time):
      return JournalDescription(
        kind: "health", time: health.time, wallClockTime: time,
        record: Self.encode((health, time), ScannerHealth.record))
    default: return nil
    }
  }

  private static let regions = RecordType<RegionsChanged>(
    "regions", [Field("time", .time) { $0.time }])

  private static func encode<Value>(_ value: Value, _ type: RecordType<Value>) -> [UInt8] {
    var record: [UInt8] = []
    type.append(value, to: &record)
    return record
  }
}
