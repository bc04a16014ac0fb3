package import Clocks
package import Positioning
package import Sources

package protocol LocationSession: SourceSession, ~Copyable
where Input == PositionInput, Demand == LocationDemand, Health == LocationHealth, Counts == Void {
  var report: LocationReport { get set }

  /// Waits for messages, the signal or the end, and appends the received inputs.
  mutating func receive(
    for demand: LocationDemand, until end: MonotonicTime, wakeSignal: borrowing WakeSignal,
    into inputs: inout [PositionInput])

  /// Whether a receiver of the daemon may have a compass; `false` by default.
  static var mayHaveCompass: Bool { get }
}

extension LocationSession where Self: ~Copyable {
  package static var mayHaveCompass: Bool { false }

  package static var longestWait: Int64? { 2 * MonotonicTime.nanosecondsPerSecond }

  package var availability: ScannerAvailability? { report.latest?.availability }

  package mutating func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?,
    wakeSignal: borrowing WakeSignal, into inputs: inout [PositionInput]
  ) -> LocationProgress {
    inputs.removeAll(keepingCapacity: true)
    receive(
      for: demand, until: deadline ?? MonotonicTime(nanoseconds: .max), wakeSignal: wakeSignal,
      into: &inputs)
    return .live(report.removeChanges())
  }
}

package struct LocationReport: Sendable {
  package private(set) var latest: LocationHealth?
  private var changes: [LocationHealth] = []

  mutating func report(_ condition: LocationHealth.Condition, _ sentence: @autoclosure () -> String)
  {
    guard latest?.condition != condition else { return }
    report(LocationHealth(condition, at: MonotonicTime.now, sentence: sentence()))
  }

  mutating func report(_ health: LocationHealth) {
    guard latest?.condition != health.condition else { return }
    latest = health
    changes.append(health)
  }

  mutating func reset() { latest = nil }

  mutating func removeChanges() -> [LocationHealth] {
    defer { changes = [] }
    return changes
  }
}

extension LiveSource: LocationSource where Session: LocationSession & ~Copyable {
  package var mayHaveCompass: Bool { Session.mayHaveCompass && availability == .available }
}
