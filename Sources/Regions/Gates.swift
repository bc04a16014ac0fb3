/// The signal strength that a beacon must have.
///
/// The evidence is a cumulative sum (E. S. Page, *Biometrika* 41, 1954): what the signal lies above
/// ``enter`` adds up over time, and what it lies below takes away; at ``excess`` the gate opens. It
/// closes in the same way below ``exit``. So a jump is found within a second or two and noise around the
/// boundary, which adds and takes away, is not.
public struct SignalGate: Sendable, Hashable, Codable {
  /// The signal must exceed this to enter, in dBm.
  public let enter: Double
  /// The signal must fall below this to leave, in dBm; not above ``enter``.
  public let exit: Double
  /// By how much for how long, in dB · s: 6 unless set.
  public let excess: Double

  /// How far ``exit`` lies below ``enter`` where only one is given, in dB.
  package static let hysteresis = 3.0
  /// The excess unless set, in dB · s.
  public static let defaultExcess = 6.0

  /// Creates a gate with its two levels.
  ///
  /// - Parameters:
  ///   - enter: The signal must exceed this to enter, in dBm.
  ///   - exit: The signal must fall below this to leave, in dBm; 3 dB less than `enter` if `nil`.
  ///   - excess: By how much for how long, in dB · s.
  public init(enter: Double, exit: Double? = nil, excess: Double = SignalGate.defaultExcess) {
    (self.enter, self.exit, self.excess) = (enter, exit ?? enter - Self.hysteresis, excess)
  }

  /// Creates a gate with one boundary in both directions: the excess alone keeps it from flapping.
  ///
  /// - Parameters:
  ///   - boundary: The level between inside and outside, in dBm.
  ///   - excess: By how much for how long, in dB · s.
  public init(boundary: Double, excess: Double = SignalGate.defaultExcess) {
    (enter, exit, self.excess) = (boundary, boundary, excess)
  }
}

/// The distance within which a beacon must be.
///
/// A distance is a signal strength by the calibration and the power that the beacon advertises; the gate
/// is a ``SignalGate`` at the two strengths.
public struct DistanceGate: Sendable, Hashable, Codable {
  /// The beacon must be nearer than this to enter, in meters.
  public let enter: Double
  /// The beacon must be farther than this to leave, in meters; not below ``enter``.
  public let exit: Double
  /// By how much for how long, in dB · s.
  public let excess: Double

  /// How much farther ``exit`` is than ``enter`` where only one is given: by a factor of 1.4, which is
  /// 3 dB in free space.
  package static let hysteresis = 1.4

  /// Creates a gate.
  ///
  /// - Parameters:
  ///   - enter: The beacon must be nearer than this to enter, in meters.
  ///   - exit: The beacon must be farther than this to leave, in meters; 1.4 times `enter` if `nil`.
  ///   - excess: By how much for how long, in dB · s.
  public init(enter: Double, exit: Double? = nil, excess: Double = SignalGate.defaultExcess) {
    (self.enter, self.exit, self.excess) = (enter, exit ?? enter * Self.hysteresis, excess)
  }
}

/// The state of a gate for one beacon, and the evidence for the other state.
struct GateState: Sendable {
  var isOpen = false
  /// The evidence for the other state, in dB · s.
  var evidence: Float = 0

  /// A packet counts for at most this long, in seconds, however long the gap before it.
  static let longestShare: Float = 0.5
  /// A packet that follows no other counts for this long, in seconds.
  static let firstShare: Float = 0.1
  /// A packet counts for at most this many dB, so that one alone does not decide.
  static let largest: Float = 10

  /// Receives a signal strength.
  ///
  /// - Parameters:
  ///   - rssi: The signal strength, in dBm. As it is a whole number, one equal to a level is taken to
  ///     lie half a dB beyond it.
  ///   - gap: The seconds since the packet before; `nil` for the first.
  ///   - levels: Where the gate opens and closes, in dBm.
  ///   - excess: The evidence that is needed, in dB · s.
  mutating func receive(
    rssi: Float, after gap: Float?, levels: (enter: Float, exit: Float), excess: Float
  ) {
    let beyond = isOpen ? levels.exit - rssi : rssi - levels.enter
    let share = min(gap ?? Self.firstShare, Self.longestShare)
    let bounded = min(max(beyond + 0.5, -Self.largest), Self.largest)
    evidence = max(0, evidence + bounded * share)
    guard bounded > 0, evidence >= excess else { return }
    isOpen.toggle()
    evidence = 0
  }
}
