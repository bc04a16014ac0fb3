/// What hears beacons: a radio, or a recording that is played back.
///
/// A scanner is asked, it does not call: who needs sightings calls ``listen(for:until:into:)`` again
/// and again, from one thread. So nothing is heard that nobody asked for, nothing queues up behind a
/// slow reader, and the radio rests when no one asks. `BeaconTesting` has the contract as tests that
/// every scanner must pass.
public protocol Scanner: AnyObject, Sendable {
  /// What a person calls it: a file's name, an adapter.
  var name: String { get }

  /// Whether time stands still between two calls, as in a recording: then what is done about one
  /// sighting is done before the next one is heard, however long it takes.
  var isRecorded: Bool { get }

  /// Whether it can be used now; asked before it is, and at any time.
  var availability: ScannerAvailability { get }

  /// How much was heard and refused so far; asked at any time.
  var counts: ScanCounts { get }

  /// Listens.
  ///
  /// A call lasts a tenth of a second at most (``Scanner/longestListen``): what is asked for may have
  /// changed by then.
  ///
  /// - Parameters:
  ///   - demand: How much is asked for, never ``ScanDemand/none``. A scanner may give more.
  ///   - deadline: When the reader has something else to do: the call returns by then. Recordings that
  ///     are not paced need not look at it.
  ///   - sightings: What was heard, in the order of time; what the array held is gone. Giving the same
  ///     array each time keeps its memory in use.
  /// - Returns: How far it has come.
  /// - Throws: Why it will never hear any more. What was heard before has been given by then; a scanner
  ///   that threw is not asked again. What may mend is not thrown: it stands in ``ScanProgress/health``,
  ///   and the scanner tries again by itself.
  func listen(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  )
    throws -> ScanProgress

  /// Is told that nobody listens: the radio goes off until the next ``listen(for:until:into:)``.
  func rest()
}

extension Scanner {
  /// The longest time that one call of ``listen(for:until:into:)`` takes, in nanoseconds.
  public static var longestListen: Int64 { MonotonicTime.nanosecondsPerSecond / 10 }
}

/// How much a scanner is asked for: no more than someone needs.
public enum ScanDemand: Int, Sendable, CaseIterable, Comparable {
  /// Nobody listens: the radio is off.
  case none
  /// It matters who is near: a slow, passive scan.
  case monitoring
  /// It matters how near: every packet.
  case ranging

  /// Orders by how much is asked for.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Whether a scanner can be used.
public enum ScannerAvailability: Sendable, Hashable {
  /// It can.
  case available
  /// This process may not use it; the sentence says why and what to do.
  case notPermitted(String)
  /// It is not there, or switched off; the sentence says why and what to do.
  case unavailable(String)
}

/// How far a scanner has come.
public struct ScanProgress: Sendable, Hashable {
  /// The first moment that was listened to; `nil` before it is known.
  public var began: MonotonicTime?
  /// The moment up to which everything that was heard has been given; `nil` before ``began``. It never
  /// goes back.
  public var reached: MonotonicTime?
  /// The distance from the scanner's time to wall-clock time.
  public var wallClockOffset: WallClockOffset
  /// Whether nothing more will come: a recording is at its end.
  public var isOver: Bool
  /// What changed in how well the scanner hears since the last call, in order.
  public var health: [ScannerHealth]

  /// Makes a progress.
  public init(
    began: MonotonicTime? = nil, reached: MonotonicTime? = nil,
    wallClockOffset: WallClockOffset = .zero,
    isOver: Bool = false, health: [ScannerHealth] = []
  ) {
    self.began = began
    self.reached = reached
    self.wallClockOffset = wallClockOffset
    self.isOver = isOver
    self.health = health
  }
}
