package import Scanning

/// A source of fixes and compass readings: a daemon, a fixed position, or a recording.
///
/// A source does not call its client: the client calls ``receive(for:until:into:)`` again and again, from one thread.
package protocol LocationSource: AnyObject, Sendable {
  /// The name that a person knows, such as `gpsd at localhost:2947`.
  var name: String { get }

  /// Whether time stands still between two calls, as in a recording.
  var isRecorded: Bool { get }

  /// Whether the source can be used now. It may connect to a daemon, which may take seconds.
  var availability: ScannerAvailability { get }

  /// Whether the source has a compass. By default it has none.
  var hasCompass: Bool { get }

  /// Whether the source delivers a fix only when the place has changed, so that a receiver without fixes rests as long as
  /// the source's state is ``LocationHealth/Condition/receiving``. By default it delivers them in any case.
  var reportsOnlyChanges: Bool { get }

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

extension LocationSource {
  package var hasCompass: Bool { false }
  package var reportsOnlyChanges: Bool { false }
}

/// How far a location source has come.
package struct LocationProgress: Hashable, Sendable {
  /// The changes of the state since the last call, in order.
  package var health: [LocationHealth] = []
  /// The moment up to which everything has been delivered; `nil` before anything is known. It never goes back.
  package var reached: MonotonicTime?
  /// The distance from the source's time to wall-clock time.
  package var wallClockOffset: WallClockOffset
  /// Whether nothing more will come: a recording is at its end.
  package var isOver: Bool

  package init(
    health: [LocationHealth] = [], reached: MonotonicTime? = nil,
    wallClockOffset: WallClockOffset = .zero, isOver: Bool = false
  ) {
    self.health = health
    self.reached = reached
    self.wallClockOffset = wallClockOffset
    self.isOver = isOver
  }
}
