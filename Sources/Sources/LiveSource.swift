package import Clocks
import Glibc
import Synchronization

/// The part of a live source that receives, used by one thread at a time.
package protocol SourceSession<Input, Demand, Health>: ~Copyable {
  associatedtype Input: Sendable
  associatedtype Demand: Sendable
  associatedtype Health: SourceHealth
  associatedtype Counts: Sendable = Void

  static var reportsOnlyChanges: Bool { get }
  /// The longest wait of a call, in nanoseconds; `nil` if the session has its own limit.
  static var longestWait: Int64? { get }

  var counts: Counts { get }
  /// The availability according to the session's state; `nil` before any is known, and at rest.
  var availability: ScannerAvailability? { get }

  /// Waits until something is received, the signal is sent or the deadline has passed.
  mutating func receive(
    for demand: Demand, until deadline: MonotonicTime?, wakeSignal: borrowing WakeSignal,
    into inputs: inout [Input]
  ) -> SourceProgress<Health>

  /// Switches the receiver off, releases its resources, and forgets the reported state.
  mutating func rest()
}

extension SourceSession where Self: ~Copyable {
  package static var reportsOnlyChanges: Bool { false }
  package static var longestWait: Int64? { nil }
}

extension SourceSession where Self: ~Copyable, Counts == Void {
  package var counts: Void { () }
}

/// A source that receives live, through a radio's backend or a daemon. It never throws: it reports
/// a fault as health, and the fault may pass.
package final class LiveSource<Session: SourceSession & ~Copyable>: Source {
  package typealias Input = Session.Input
  package typealias Demand = Session.Demand
  package typealias Health = Session.Health

  package let name: String
  private let session: Mutex<Session>
  private let availabilityAtRest: @Sendable () -> ScannerAvailability
  private let wakeSignal = WakeSignal()
  private let counted: Mutex<Session.Counts>
  /// The availability, and the time until which it is valid.
  private let known = Mutex<(until: MonotonicTime, availability: ScannerAvailability)?>(nil)
  /// The lock for asking the system, so that one answer serves all waiting callers.
  private let question = Mutex(())

  /// Creates a source, which uses nothing before it receives. `availability` asks the system.
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

  /// `false`: a live sender does not wait for the client.
  package var isRecorded: Bool { false }
  package var reportsOnlyChanges: Bool { Session.reportsOnlyChanges }

  package var counts: Session.Counts { counted.withLock { $0 } }

  /// The availability: that of the session's state, or, asked for at most once a second, the
  /// system's.
  package var availability: ScannerAvailability {
    if let current { return current }
    return question.withLock { _ in
      if let current { return current }
      let availability = availabilityAtRest()
      let until = MonotonicTime.now.advanced(by: MonotonicTime.nanosecondsPerSecond)
      return known.withLock { known in
        // An answer that the session found meanwhile is newer.
        if let known, MonotonicTime.now < known.until { return known.availability }
        known = (until, availability)
        return availability
      }
    }
  }

  /// ``availability``, if it is known and still valid. Reading it never asks the system.
  package var current: ScannerAvailability? {
    known.withLock { known in
      known.flatMap { MonotonicTime.now < $0.until ? $0.availability : nil }
    }
  }

  package var knownAvailability: ScannerAvailability? { known.withLock { $0?.availability } }

  /// Waits until something is received or ``wake()`` is called, at most four seconds.
  package func receive(
    for demand: Demand, until deadline: MonotonicTime?, into inputs: inout [Input]
  ) -> SourceProgress<Health> {
    // The lock's closure cannot use an `inout` array, so a local one takes its place.
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

  package func wake() { wakeSignal.send() }

  package func rest() {
    session.withLock { $0.rest() }
    // The latest state stays valid for one more second.
    let end = MonotonicTime.now.advanced(by: MonotonicTime.nanosecondsPerSecond)
    known.withLock { known in
      if let (until, availability) = known { known = (min(until, end), availability) }
    }
  }

  /// Rests at the process's end, when a receiving thread may never return; gives up after 0.3 s.
  package func restIfPossible() {
    for _ in 0..<30 {
      if session.withLockIfAvailable({ $0.rest() }) != nil { return }
      usleep(10_000)
    }
  }
}
