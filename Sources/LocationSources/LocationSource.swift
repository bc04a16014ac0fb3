import Adapters
package import Positioning
package import Scanning
import Synchronization

/// A source of fixes and compass readings: a daemon, a fixed position, or a recording.
///
/// A source does not call its client: the client calls ``receive(for:until:into:)`` again and again, from one thread.
package protocol LocationSource: AnyObject, Sendable {
  /// The name that a person knows, such as `gpsd at localhost:2947`.
  var name: String { get }

  /// Whether time stands still between two calls, as in a recording.
  var isRecorded: Bool { get }

  /// Whether the source can be used now. Clients read it at any time.
  var availability: ScannerAvailability { get }

  /// Waits until something is received, ``wake()`` is called or the deadline has come: two seconds at most.
  ///
  /// - Parameters:
  ///   - demand: What is needed: at least fixes or headings. A source may deliver more.
  ///   - deadline: When the client has something else to do.
  ///   - inputs: What was received, in order; it replaces what the array held.
  /// - Returns: The changes of the source's state.
  /// - Throws: Why the source will never deliver any more. A fault that may pass is not thrown: it is reported as health,
  ///   and the source tries again by itself.
  func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress

  /// Ends the wait of a call of ``receive(for:until:into:)`` that another thread has made, or of the next one, because the
  /// demand has changed.
  func wake()

  /// Stops the source until the next ``receive(for:until:into:)``, as there is no demand.
  func rest()
}

/// How far a location source has come.
package struct LocationProgress: Hashable, Sendable {
  /// The changes of the state since the last call, in order.
  package var health: [LocationHealth] = []
  /// Whether nothing more will come: a recording is at its end.
  package var isOver = false

  package init(health: [LocationHealth] = [], isOver: Bool = false) {
    self.health = health
    self.isOver = isOver
  }
}

/// A change of a location source's state, which holds until the next one is reported.
package struct LocationHealth: Hashable, Sendable, Codable {
  /// The state from now on.
  package var condition: Condition
  /// When the change was noticed.
  package var time: MonotonicTime
  /// What happened, where, and what fixes it: one sentence without a full stop.
  package var sentence: String

  package init(_ condition: Condition, at time: MonotonicTime, sentence: String) {
    self.condition = condition
    self.time = time
    self.sentence = sentence
  }

  /// The states of a source.
  package enum Condition: String, Sendable, CaseIterable, Codable {
    /// Fixes or readings come.
    case receiving
    /// The source works, but does not know the place yet, or no longer.
    case searching
    /// The daemon has no receiver, no compass, or no other source of its own.
    case noReceiver
    /// The daemon is not there.
    case notRunning
    /// The daemon does not answer.
    case notAnswering
    /// The system does not permit this process to use the daemon.
    case notPermitted
    /// The user, or the agent for them, refuses this application its location.
    case denied
    /// The daemon answers what is not understood or that it will not.
    case refused

    /// Whether nothing can come in this state before something else changes.
    package var isFault: Bool {
      switch self {
      case .receiving, .searching: false
      case .noReceiver, .notRunning, .notAnswering, .notPermitted, .denied, .refused: true
      }
    }
  }

  /// What the state means for clients.
  package var availability: ScannerAvailability {
    switch condition {
    case .receiving, .searching: .available
    case .notPermitted, .denied: .notPermitted(sentence)
    case .noReceiver, .notRunning, .notAnswering, .refused: .unavailable(sentence)
    }
  }
}

// MARK: Daemons

/// What a source works with while it receives from a daemon, used by one thread at a time.
package protocol LocationSession: ~Copyable {
  /// What was reported.
  var report: LocationReport { get set }

  /// Waits until something is received, the signal is sent or the end has come, and appends what was received.
  mutating func receive(
    for demand: LocationDemand, until end: MonotonicTime, wakeSignal: borrowing WakeSignal,
    into inputs: inout [PositionInput])

  /// Stops what runs for this process in the daemon.
  mutating func rest()
}

/// The state of a source as it was reported: each change once.
package struct LocationReport: Sendable {
  /// What was reported last; `nil` before anything is known.
  package private(set) var latest: LocationHealth?
  private var changes: [LocationHealth] = []

  package init() {}

  /// Reports a state, unless it is the one that was reported last.
  mutating func report(_ condition: LocationHealth.Condition, _ sentence: @autoclosure () -> String)
  {
    guard latest?.condition != condition else { return }
    let health = LocationHealth(condition, at: MonotonicTime.now, sentence: sentence())
    latest = health
    changes.append(health)
  }

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

  /// Whether the daemon can be used: while the source receives, what its state shows; at rest, the system is asked once a
  /// second at most.
  package var availability: ScannerAvailability {
    known.withLock { known in
      let now = MonotonicTime.now
      if let known, now < known.until { return known.availability }
      let availability = availabilityAtRest()
      known = (now.advanced(by: MonotonicTime.nanosecondsPerSecond), availability)
      return availability
    }
  }

  package func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress {
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
    return LocationProgress(health: health)
  }

  package func wake() { wakeSignal.send() }

  package func rest() {
    session.withLock { $0.rest() }
    // The latest state holds for a moment longer.
    let end = MonotonicTime.now.advanced(by: MonotonicTime.nanosecondsPerSecond)
    known.withLock { known in
      if let (until, availability) = known { known = (min(until, end), availability) }
    }
  }
}
