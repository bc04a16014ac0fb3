/// A source of sightings: a radio, or a recording that is played back.
///
/// A scanner does not call its client: the client calls ``receive(for:until:into:)`` again and again, from one
/// thread. So nothing is received without demand, no queue grows behind a slow client, and the radio rests
/// when there is no demand. `BeaconTesting` has the contract as tests that every scanner must pass.
public protocol Scanner: AnyObject, Sendable {
  /// The name that a person knows: that of a file, or of an adapter.
  var name: String { get }

  /// Whether time stands still between two calls, as in a recording: the client then finishes its work on one
  /// sighting before it receives the next one, however long that takes.
  var isRecorded: Bool { get }

  /// Whether the scanner can be used now. Clients read it at any time, also once a second while they receive.
  var availability: ScannerAvailability { get }

  /// The numbers of packets received and refused so far. Clients read it at any time.
  var counts: ScanCounts { get }

  /// Receives what there is, and waits for it if there is none.
  ///
  /// A call lasts a tenth of a second at most, because the demand may have changed by then; it may last longer if
  /// ``wake()`` ends it.
  ///
  /// - Parameters:
  ///   - demand: How much is needed, never ``ScanDemand/none``. A scanner may deliver more.
  ///   - deadline: When the client has something else to do: the call returns by then. Recordings that
  ///     are not paced need not observe it.
  ///   - sightings: The sightings in the order of time; they replace what the array held. Passing the same
  ///     array each time keeps its memory in use.
  /// - Returns: How far the scanner has come.
  /// - Throws: Why the scanner will never receive any more. What it received before has been delivered by
  ///   then; a scanner that threw is not called again. A fault that may pass is not thrown: it is reported in
  ///   ``ScanProgress/health``, and the scanner tries again by itself.
  func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress

  /// Ends the wait of a call of ``receive(for:until:into:)`` that another thread has made, or of the next one, because the
  /// demand has changed. By default it does nothing.
  func wake()

  /// Switches the radio off until the next ``receive(for:until:into:)``, as there is no demand.
  func rest()
}

extension Scanner {
  /// Does nothing: a wait of a tenth of a second ends by itself.
  public func wake() {}

  /// The longest time that one call of ``receive(for:until:into:)`` takes where ``wake()`` does not end it, in nanoseconds.
  package static var maximumReceiveTime: Int64 { MonotonicTime.nanosecondsPerSecond / 10 }
}

/// How much a scanner has to receive: no more than its clients need.
public enum ScanDemand: Int, Sendable, CaseIterable, Comparable, Codable {
  /// No client needs anything: the radio is off.
  case none
  /// Clients need to know which beacons are near: a slow, passive scan.
  case monitoring
  /// Clients need to know which beacons are near enough: a slow, passive scan that measures signal strengths.
  case monitoringSignals
  /// Clients need to know how near beacons are: every packet.
  case ranging

  /// Orders demands by how much they ask for.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Whether a scanner can be used.
public enum ScannerAvailability: Sendable, Hashable, Codable {
  /// The scanner can be used.
  case available
  /// This process has no permission to use the scanner; the sentence states why and what to do.
  case notPermitted(String)
  /// The scanner is not there, or switched off; the sentence states why and what to do.
  case unavailable(String)
}

/// How far a scanner has come.
public struct ScanProgress: Sendable, Hashable {
  /// The moment at which reception began; `nil` before it is known.
  public var began: MonotonicTime?
  /// The moment up to which every sighting has been delivered; `nil` before ``began``. It never goes back.
  public var reached: MonotonicTime?
  /// The distance from the scanner's time to wall-clock time.
  public var wallClockOffset: WallClockOffset
  /// Whether nothing more will come: a recording is at its end.
  public var isOver: Bool
  /// The changes of the receiver state since the last call, in order.
  public var health: [ScannerHealth]
  /// Whether something else receives than before, so that the gaps between a beacon's sightings may be others.
  package var hasOtherReceiver = false

  /// Creates a progress.
  public init(
    began: MonotonicTime? = nil, reached: MonotonicTime? = nil,
    wallClockOffset: WallClockOffset = .zero, isOver: Bool = false, health: [ScannerHealth] = []
  ) {
    self.began = began
    self.reached = reached
    self.wallClockOffset = wallClockOffset
    self.isOver = isOver
    self.health = health
  }
}
