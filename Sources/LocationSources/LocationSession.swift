package import Clocks
package import Positioning
package import Sources

/// A connection to a daemon of this system.
package protocol LocationSession: SourceSession, ~Copyable
where Input == PositionInput, Demand == LocationDemand, Health == LocationHealth, Counts == Void {
  /// What was reported.
  var report: LocationReport { get set }

  /// Waits until something is received, the signal is sent or the end has come, and appends what was received.
  mutating func receive(
    for demand: LocationDemand, until end: MonotonicTime, wakeSignal: borrowing WakeSignal,
    into inputs: inout [PositionInput])

  /// Stops what runs for this process in the daemon.
  mutating func rest()

  /// Whether a receiver of the daemon may have a compass. By default none has.
  static var mayHaveCompass: Bool { get }
}

extension LocationSession where Self: ~Copyable {
  package static var mayHaveCompass: Bool { false }

  /// Two seconds.
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

/// The state of a source as it was reported: each change once.
package struct LocationReport: Sendable {
  /// What was reported last; `nil` before anything is known.
  package private(set) var latest: LocationHealth?
  private var changes: [LocationHealth] = []

  package init() {}

  /// Reports a state of locations, unless it is the one that was reported last.
  mutating func report(_ condition: LocationHealth.Condition, _ sentence: @autoclosure () -> String)
  {
    guard latest?.condition != condition else { return }
    report(LocationHealth(condition, at: MonotonicTime.now, sentence: sentence()))
  }

  /// Reports a state, unless it is the one that was reported last.
  mutating func report(_ health: LocationHealth) {
    guard latest?.condition != health.condition else { return }
    latest = health
    changes.append(health)
  }

  /// Forgets the state, which is not known while nothing is received: the next one is reported whatever it is.
  mutating func reset() { latest = nil }

  /// Returns the changes since the last call.
  mutating func removeChanges() -> [LocationHealth] {
    defer { changes = [] }
    return changes
  }
}

extension LiveSource: LocationSource where Session: LocationSession & ~Copyable {
  package var mayHaveCompass: Bool { Session.mayHaveCompass && availability == .available }
}
