public import Clocks

/// A source of inputs: a radio, a daemon, a fixed position, or a recording that is played back.
///
/// The client calls ``receive(for:until:into:)`` repeatedly, from one thread; the source never
/// calls its client. So nothing is received without demand, and no queue grows before a slow
/// client.
///
/// An implementation must also keep these rules:
///
/// - It reports a fault that may pass as health, and retries by itself at growing intervals.
/// - It reports each change of its state once, and after ``rest()`` the state that is known first.
/// - It receives nothing, connects to nothing and switches nothing on before the first call and
///   after ``rest()``.
///
/// A live source is a `SourceSession` in a `LiveSource`, which keeps these rules for it.
public protocol Source<Input, Demand, Health>: AnyObject, Sendable {
  /// A received value.
  associatedtype Input: Sendable
  /// The amount of reception that the client needs.
  associatedtype Demand: Sendable
  /// A change of the source's state.
  associatedtype Health: SourceHealth

  /// The name for people: that of a file, of an adapter, or of a daemon with its address.
  var name: String { get }

  /// Whether time stops between two calls, as in a recording: the client then finishes its work on
  /// one input before it receives the next one, however long that takes.
  var isRecorded: Bool { get }

  /// The availability of the source now. Clients read it at any time, also once a second while they
  /// receive. At rest, the source may ask the system, which may take seconds.
  var availability: ScannerAvailability { get }

  /// The latest ``availability`` known without asking the system, or `nil`. By default it asks.
  var knownAvailability: ScannerAvailability? { get }

  /// Whether inputs come only after a change, so that silence is not a fault; by default `false`.
  var reportsOnlyChanges: Bool { get }

  /// Receives the inputs that are available, or waits for some.
  ///
  /// A call lasts at most a tenth of a second, because the demand may change; it may last some
  /// seconds if ``wake()`` ends it.
  ///
  /// - Parameters:
  /// - demand: The demand, which is never none. A source may deliver more.
  /// - deadline: The time by which the call returns. Recordings that are not paced may ignore it.
  /// - inputs: The received inputs in the order of time, which replace the array's contents.
  /// - Returns: The progress of the source.
  /// - Throws: The reason that the source will never receive again, after the delivery of
  ///   everything that it received. A fault that may pass is not thrown.
  func receive(
    for demand: Demand, until deadline: MonotonicTime?, into inputs: inout [Input]
  ) throws -> SourceProgress<Health>

  /// Ends the current wait of another thread in ``receive(for:until:into:)``, or the next one,
  /// because the demand has changed. The default implementation does nothing.
  func wake()

  /// Switches the receiver off until the next ``receive(for:until:into:)``.
  func rest()
}

extension Source {
  /// The value of ``availability``.
  public var knownAvailability: ScannerAvailability? { availability }

  /// `false`.
  public var reportsOnlyChanges: Bool { false }

  /// Does nothing: a wait of a tenth of a second ends by itself.
  public func wake() {}

  /// The source as an existential of its input, demand and health.
  package var erased: any Source<Input, Demand, Health> { self }

  /// The longest time of a ``receive(for:until:into:)`` without ``wake()``, in nanoseconds.
  package static var maximumReceiveTime: Int64 { MonotonicTime.nanosecondsPerSecond / 10 }
}

/// The availability of a source.
public enum ScannerAvailability: Sendable, Hashable, Codable {
  /// The source can be used.
  case available
  /// This process has no permission to use the source; the sentence states why and how to fix it.
  case notPermitted(String)
  /// The source is missing or switched off; the sentence states why and how to fix it.
  case unavailable(String)

  /// The reason that the source cannot be used; `nil` if it can.
  package var sentence: String? {
    switch self {
    case .available: nil
    case .notPermitted(let sentence), .unavailable(let sentence): sentence
    }
  }
}

/// A change of a source's state, which holds until the next one is reported or the source rests.
public protocol SourceHealth: Hashable, Sendable {
  /// The start of the state, on the time line of the inputs.
  var time: MonotonicTime { get set }
  /// Whether the source as a whole receives nothing from then on.
  var isFault: Bool { get }
  /// One sentence without a full stop: what happened, where, and what fixes it.
  var sentence: String { get set }
  /// The availability of the source in this state.
  var availability: ScannerAvailability { get }
  /// Returns whether another change reports the same of the same part of the source, at any time.
  func isRepetition(of other: Self) -> Bool
}

/// The progress of a source.
public struct SourceProgress<Health: SourceHealth>: Sendable, Hashable {
  /// The time at which reception began; `nil` until it is known.
  public var began: MonotonicTime?
  /// The time up to which every input was delivered, which never goes back; `nil` if unknown.
  public var reached: MonotonicTime?
  /// The distance from the source's time to wall-clock time.
  public var wallClockOffset: WallClockOffset
  /// Whether nothing more will come, because a recording is at its end.
  public var isOver: Bool
  /// The changes of the state since the last call, in order.
  public var health: [Health]
  /// Whether the receiver has changed, so that the gaps between a beacon's sightings may change.
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

  /// Returns the progress of a live source at the current time.
  package static func live(_ health: [Health] = []) -> Self {
    let now = MonotonicTime.now
    return Self(
      reached: now, wallClockOffset: WallClockOffset(from: now, to: .now), health: health)
  }
}
