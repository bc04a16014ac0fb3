package import Clocks
import Glibc
import Synchronization

/// What a live source works with while it receives, used by one thread at a time.
package protocol SourceSession<Input, Demand, Health>: ~Copyable {
  associatedtype Input: Sendable
  associatedtype Demand: Sendable
  associatedtype Health: SourceHealth
  /// What the source counts.
  associatedtype Counts: Sendable = Void

  /// Whether an input comes only when something has changed.
  static var reportsOnlyChanges: Bool { get }
  /// The longest wait of a call, in nanoseconds; `nil` where the session has its own.
  static var longestWait: Int64? { get }

  /// What was counted so far.
  var counts: Counts { get }
  /// Whether the source can be used, as far as its state shows; `nil` before any is known, and at rest.
  var availability: ScannerAvailability? { get }

  /// Waits until something is received, the signal is sent or the deadline has come. What was received replaces what the array
  /// held.
  mutating func receive(
    for demand: Demand, until deadline: MonotonicTime?, wakeSignal: borrowing WakeSignal,
    into inputs: inout [Input]
  ) -> SourceProgress<Health>

  /// Switches the receiver off, releases what was open for it, and forgets the state that was reported.
  mutating func rest()
}

extension SourceSession where Self: ~Copyable {
  package static var reportsOnlyChanges: Bool { false }
  package static var longestWait: Int64? { nil }
}

extension SourceSession where Self: ~Copyable, Counts == Void {
  package var counts: Void { () }
}

/// A source that receives now: the adapters of this machine by one way to receive, or a daemon.
///
/// It never throws: a fault is reported as health, and may pass.
package final class LiveSource<Session: SourceSession & ~Copyable>: Source {
  package typealias Input = Session.Input
  package typealias Demand = Session.Demand
  package typealias Health = Session.Health

  /// The name that a person knows.
  package let name: String
  private let session: Mutex<Session>
  private let availabilityAtRest: @Sendable () -> ScannerAvailability
  private let wakeSignal = WakeSignal()
  private let counted: Mutex<Session.Counts>
  /// Whether the source can be used, and until when that holds.
  private let known = Mutex<(until: MonotonicTime, availability: ScannerAvailability)?>(nil)
  /// Held while the system is asked, so that it is asked once for all who wait.
  private let question = Mutex(())

  /// Creates a source, which touches nothing before it receives. The closure asks the system whether the source can be used.
  package init(
    _ name: String, _ session: consuming sending Session,
    availability: @escaping @Sendable () -> ScannerAvailability
  ) {
    self.name = name
    counted = Mutex(session.counts)
    self.session = Mutex(session)
    availabilityAtRest = availability
  }

  deinit { rest() }

  /// Never: what sends does not wait for its client.
  package var isRecorded: Bool { false }
  package var reportsOnlyChanges: Bool { Session.reportsOnlyChanges }

  /// What was counted so far.
  package var counts: Session.Counts { counted.withLock { $0 } }

  /// Whether the source can be used: while it receives, what its state shows; at rest, the system is asked once a second at
  /// most.
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
  package var current: ScannerAvailability? {
    known.withLock { known in
      known.flatMap { MonotonicTime.now < $0.until ? $0.availability : nil }
    }
  }

  package var knownAvailability: ScannerAvailability? { known.withLock { $0?.availability } }

  /// Waits until something is received or ``wake()`` is called: four seconds at most.
  package func receive(
    for demand: Demand, until deadline: MonotonicTime?, into inputs: inout [Input]
  ) -> SourceProgress<Health> {
    // The lock's closure can take the array only as its own.
    var own: [Input] = []
    swap(&own, &inputs)
    defer { swap(&own, &inputs) }
    var deadline = deadline
    if let wait = Session.longestWait {
      let end = MonotonicTime.now.advanced(by: wait)
      deadline = min(deadline ?? end, end)
    }
    let (progress, counts, availability) = session.withLock { session in
      let progress = session.receive(
        for: demand, until: deadline, wakeSignal: wakeSignal, into: &own)
      return (progress, session.counts, session.availability)
    }
    counted.withLock { $0 = counts }
    if let availability {
      known.withLock { $0 = (MonotonicTime(nanoseconds: .max), availability) }
    }
    return progress
  }

  /// Ends a wait of ``receive(for:until:into:)``.
  package func wake() { wakeSignal.send() }

  /// Switches the receiver off, and releases what was open for it.
  package func rest() {
    session.withLock { $0.rest() }
    // The latest state holds for a moment longer.
    let end = MonotonicTime.now.advanced(by: MonotonicTime.nanosecondsPerSecond)
    known.withLock { known in
      if let (until, availability) = known { known = (min(until, end), availability) }
    }
  }

  /// Rests at the end of the process, when a thread that receives may never return: waits for a third of a second
  /// at most.
  package func restIfPossible() {
    for _ in 0..<30 {
      if session.withLockIfAvailable({ $0.rest() }) != nil { return }
      usleep(10_000)
    }
  }
}
