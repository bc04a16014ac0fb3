import Adapters
package import Positioning
package import Scanning
import Synchronization

/// What a source works with while it receives from a daemon, used by one thread at a time.
package protocol LocationSession: ~Copyable {
  /// Whether the daemon delivers a fix only when the place has changed.
  static var reportsOnlyChanges: Bool { get }

  /// What was reported.
  var report: LocationReport { get set }

  /// Waits until something is received, the signal is sent or the end has come, and appends what was received.
  mutating func receive(
    for demand: LocationDemand, until end: MonotonicTime, wakeSignal: borrowing WakeSignal,
    into inputs: inout [PositionInput])

  /// Stops what runs for this process in the daemon.
  mutating func rest()
}

extension LocationSession where Self: ~Copyable {
  package static var reportsOnlyChanges: Bool { false }
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

/// A location source that is a daemon of this system.
package final class DaemonSource<Session: LocationSession & ~Copyable>: LocationSource {
  package let name: String
  private let session: Mutex<Session>
  private let availabilityAtRest: @Sendable () -> ScannerAvailability
  private let wakeSignal = WakeSignal()
  /// Whether the daemon can be used, and until when that holds.
  private let known = Mutex<(until: MonotonicTime, availability: ScannerAvailability)?>(nil)
  /// Held while the system is asked, so that it is asked once for all who wait.
  private let question = Mutex(())

  /// The longest wait of ``receive(for:until:into:)``.
  private static var longestWait: Int64 { 2 * MonotonicTime.nanosecondsPerSecond }

  /// Creates a source, which connects to nothing before it receives. The closure asks the system whether the daemon can be
  /// used.
  init(
    _ name: String, _ session: consuming sending Session,
    availability: @escaping @Sendable () -> ScannerAvailability
  ) {
    self.name = name
    self.session = Mutex(session)
    availabilityAtRest = availability
  }

  deinit { rest() }

  package var isRecorded: Bool { false }
  package var reportsOnlyChanges: Bool { Session.reportsOnlyChanges }

  /// Whether the daemon can be used: while the source receives, what its state shows; at rest, the system is asked once a
  /// second at most.
  package var availability: ScannerAvailability {
    if let current { return current }
    return question.withLock { _ in
      if let current { return current }
      let availability = availabilityAtRest()
      let until = MonotonicTime.now.advanced(by: MonotonicTime.nanosecondsPerSecond)
      return known.withLock { known in
        // What the source found out meanwhile is newer.
        if let known, MonotonicTime.now < known.until { return known.availability }
        known = (until, availability)
        return availability
      }
    }
  }

  /// ``availability`` where it is known and still holds. No caller waits.
  var current: ScannerAvailability? {
    known.withLock { known in
      known.flatMap { MonotonicTime.now < $0.until ? $0.availability : nil }
    }
  }

  /// The latest ``availability`` that was known; `nil` before the first. No caller waits.
  var latest: ScannerAvailability? { known.withLock { $0?.availability } }

  package func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) -> LocationProgress {
    inputs.removeAll(keepingCapacity: true)
    let end = MonotonicTime.now.advanced(by: Self.longestWait)
    let (received, health, latest) = session.withLock { session in
      var received: [PositionInput] = []
      session.receive(
        for: demand, until: min(deadline ?? end, end), wakeSignal: wakeSignal, into: &received)
      return (received, session.report.removeChanges(), session.report.latest)
    }
    inputs += received
    if let latest {
      known.withLock { $0 = (MonotonicTime(nanoseconds: .max), latest.availability) }
    }
    return .live(health)
  }

  package func wake() { wakeSignal.send() }

  package func rest() {
    session.withLock { session in
      session.rest()
      session.report.reset()
    }
    // The latest state holds for a moment longer.
    let end = MonotonicTime.now.advanced(by: MonotonicTime.nanosecondsPerSecond)
    known.withLock { known in
      if let (until, availability) = known { known = (min(until, end), availability) }
    }
  }
}

extension LocationProgress {
  /// The progress of a source that is not a recording: now.
  static func live(_ health: [LocationHealth] = []) -> Self {
    let now = MonotonicTime.now
    return Self(
      health: health, reached: now, wallClockOffset: WallClockOffset(from: now, to: .now))
  }
}
