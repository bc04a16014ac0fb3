public import Clocks

/// A source of inputs: a radio, a daemon, a fixed position, or a recording that is played back.
///
/// A source does not call its client: the client calls ``receive(for:until:into:)`` again and again, from one
/// thread. So nothing is received without demand, no queue grows before a slow client, and the receiver rests
/// when there is no demand.
///
/// What an implementation has to keep, beside what its members say:
///
/// - A fault that may pass is reported as health, and the source tries again by itself, with waits that grow.
/// - Each change of its state is reported once. After ``rest()`` the client knows nothing of it any more: the first state
///   that is known then is reported, whatever was reported before.
/// - Nothing is received, connected to or switched on before the first call, and after ``rest()``.
///
/// A live source is a `SourceSession` in a `LiveSource`, which keeps these promises for it.
public protocol Source<Input, Demand, Health>: AnyObject, Sendable {
  /// What is received.
  associatedtype Input: Sendable
  /// How much is needed.
  associatedtype Demand: Sendable
  /// A change of the source's state.
  associatedtype Health: SourceHealth

  /// The name that a person knows: that of a file, of an adapter, or of a daemon and its address.
  var name: String { get }

  /// Whether time stands still between two calls, as in a recording: the client then finishes its work on one
  /// input before it receives the next one, however long that takes.
  var isRecorded: Bool { get }

  /// Whether the source can be used now. Clients read it at any time, also once a second while they receive. At rest the
  /// system may be asked, which may take seconds.
  var availability: ScannerAvailability { get }

  /// The latest ``availability`` that is known without asking; `nil` before the first. By default it asks.
  var knownAvailability: ScannerAvailability? { get }

  /// Whether an input comes only when something has changed, so that silence is no fault. By default it is not so.
  var reportsOnlyChanges: Bool { get }

  /// Receives what there is, and waits for it if there is none.
  ///
  /// A call lasts a tenth of a second at most, because the demand may have changed by then; it may last longer if
  /// ``wake()`` ends it, for some seconds.
  ///
  /// - Parameters:
  ///   - demand: How much is needed, never nothing. A source may deliver more.
  ///   - deadline: When the client has something else to do: the call returns by then. Recordings that
  ///     are not paced need not observe it.
  ///   - inputs: What was received, in the order of time; it replaces what the array held. Passing the same
  ///     array each time keeps its memory in use.
  /// - Returns: How far the source has come.
  /// - Throws: Why the source will never receive any more. What it received before has been delivered by
  ///   then; a source that threw is not called again. A fault that may pass is not thrown.
  func receive(
    for demand: Demand, until deadline: MonotonicTime?, into inputs: inout [Input]
  ) throws -> SourceProgress<Health>

  /// Ends the wait of a call of ``receive(for:until:into:)`` that another thread has made, or of the next one, because the
  /// demand has changed. By default it does nothing.
  func wake()

  /// Switches the receiver off until the next ``receive(for:until:into:)``, as there is no demand.
  func rest()
}

extension Source {
  /// The answer of ``availability``.
  public var knownAvailability: ScannerAvailability? { availability }

  /// Never.
  public var reportsOnlyChanges: Bool { false }

  /// Does nothing: a wait of a tenth of a second ends by itself.
  public func wake() {}

  /// The source as one of its inputs, whatever else it is.
  package var erased: any Source<Input, Demand, Health> { self }

  /// The longest time that one call of ``receive(for:until:into:)`` takes where ``wake()`` does not end it, in nanoseconds.
  package static var maximumReceiveTime: Int64 { MonotonicTime.nanosecondsPerSecond / 10 }
}

/// Whether a source can be used.
public enum ScannerAvailability: Sendable, Hashable, Codable {
  /// The source can be used.
  case available
  /// This process has no permission to use the source; the sentence states why and what to do.
  case notPermitted(String)
  /// The source is not there, or switched off; the sentence states why and what to do.
  case unavailable(String)

  /// Why the source cannot be used; `nil` where it can.
  package var sentence: String? {
    switch self {
    case .available: nil
    case .notPermitted(let sentence), .unavailable(let sentence): sentence
    }
  }
}

/// A change of a source's state, which holds until the next one is reported or the source rests.
public protocol SourceHealth: Hashable, Sendable {
  /// When the state began, on the line of inputs.
  var time: MonotonicTime { get set }
  /// Whether the source as a whole receives nothing from then on.
  var isFault: Bool { get }
  /// What happened, where, and what fixes it: one sentence without a full stop.
  var sentence: String { get set }
  /// Whether the source can be used in this state.
  var availability: ScannerAvailability { get }
  /// Returns whether another change says the same of the same part of the source, at whatever time.
  func isRepetition(of other: Self) -> Bool
}

/// How far a source has come.
public struct SourceProgress<Health: SourceHealth>: Sendable, Hashable {
  /// The moment at which reception began; `nil` before it is known.
  public var began: MonotonicTime?
  /// The moment up to which every input has been delivered; `nil` before anything is known. It never goes back.
  public var reached: MonotonicTime?
  /// The distance from the source's time to wall-clock time.
  public var wallClockOffset: WallClockOffset
  /// Whether nothing more will come: a recording is at its end.
  public var isOver: Bool
  /// The changes of the state since the last call, in order.
  public var health: [Health]
  /// Whether something else receives than before, so that the gaps between a beacon's sightings may be others.
  package var hasOtherReceiver = false

  /// Creates a progress.
  public init(
    began: MonotonicTime? = nil, reached: MonotonicTime? = nil,
    wallClockOffset: WallClockOffset = .zero, isOver: Bool = false, health: [Health] = []
  ) {
    self.began = began
    self.reached = reached
    self.wallClockOffset = wallClockOffset
    self.isOver = isOver
    self.health = health
  }

  /// The progress of a source that is not a recording: now.
  package static func live(_ health: [Health] = []) -> Self {
    let now = MonotonicTime.now
    return Self(
      reached: now, wallClockOffset: WallClockOffset(from: now, to: .now), health: health)
  }
}
