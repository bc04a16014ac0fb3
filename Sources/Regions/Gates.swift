/// The signal strength that a beacon must have.
///
/// The evidence is a cumulative sum (E. S. Page, *Biometrika* 41, 1954): what the signal lies above
/// ``enter`` adds up over time, and what it lies below takes away; at ``excess`` the gate opens. It
/// closes in the same way below ``exit``. So a jump is found within a second or two and noise around the
/// boundary, which adds and takes away, is not. The gate of a beacon that is received rarely needs more, so that the packet rate
/// does not decide how often noise opens it.
///
/// Where ``enter`` and ``exit`` are the same, they are a boundary. Its hysteresis follows the noise of each beacon:
/// 0.3 of the noise's standard deviation on either side, from 1 to 3 dB.
public struct SignalGate: Sendable, Hashable, Codable {
  /// The signal must exceed this to enter, in dBm.
  public let enter: Double
  /// The signal must fall below this to leave, in dBm; not above ``enter``.
  public let exit: Double
  /// By how much for how long, in dB · s: 6 unless set. It grows with the mean gap beyond 1/3 s.
  public let excess: Double

  /// The excess unless set, in dB · s.
  public static let defaultExcess = 6.0

  /// Creates a gate with its two levels.
  ///
  /// - Parameters:
  ///   - enter: The signal must exceed this to enter, in dBm.
  ///   - exit: The signal must fall below this to leave, in dBm; if `nil`, `enter` is a boundary in both directions.
  ///   - excess: By how much for how long, in dB · s.
  public init(enter: Double, exit: Double? = nil, excess: Double = SignalGate.defaultExcess) {
    (self.enter, self.exit, self.excess) = (enter, exit ?? enter, excess)
  }

  /// Creates a gate with one boundary in both directions.
  ///
  /// - Parameters:
  ///   - boundary: The level between inside and outside, in dBm.
  ///   - excess: By how much for how long, in dB · s.
  public init(boundary: Double, excess: Double = SignalGate.defaultExcess) {
    self.init(enter: boundary, excess: excess)
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

  /// Creates a gate.
  ///
  /// - Parameters:
  ///   - enter: The beacon must be nearer than this to enter, in meters.
  ///   - exit: The beacon must be farther than this to leave, in meters; if `nil`, `enter` is a boundary in both
  ///     directions.
  ///   - excess: By how much for how long, in dB · s.
  public init(enter: Double, exit: Double? = nil, excess: Double = SignalGate.defaultExcess) {
    (self.enter, self.exit, self.excess) = (enter, exit ?? enter, excess)
  }

  /// Creates a gate with one boundary in both directions.
  ///
  /// - Parameters:
  ///   - boundary: The distance between inside and outside, in meters.
  ///   - excess: By how much for how long, in dB · s.
  public init(boundary: Double, excess: Double = SignalGate.defaultExcess) {
    self.init(enter: boundary, excess: excess)
  }
}

/// What the gates have to know of a beacon's signal: how long its packets count, and its noise.
struct SignalStatistics: Sendable {
  /// A packet counts for at most this long, in seconds, however long the gap before it.
  private static let longestShare: Float = 1
  /// A packet that follows no other counts for this long, in seconds.
  private static let firstShare: Float = 0.1
  /// The mean share up to which the excess is as set, in seconds: beyond it the excess grows in proportion, so that
  /// at 6 dB · s three packets are needed at least.
  private static let usualShare: Float = 1 / 3.0
  /// The greatest difference of two packets that counts as noise, in dB.
  private static let largestDifference: Float = 15
  /// The number of packets over which the means are taken.
  private static let memory: Float = 32

  /// How long the latest packet counts, in seconds.
  private(set) var share: Float = 0
  private var meanShare: Float = 0
  /// The variance of the noise, from the differences of packets that follow one another, in dB².
  private var variance: Float = 0
  private var previous: Float = 0
  private var count: Float = 0

  /// Receives a signal strength in dBm, and the seconds since the packet before; `nil` for the first.
  mutating func receive(rssi: Float, after gap: Float?) {
    share = min(gap ?? Self.firstShare, Self.longestShare)
    if gap != nil {
      count = min(count + 1, Self.memory)
      let difference = min(abs(rssi - previous), Self.largestDifference)
      meanShare += (share - meanShare) / count
      variance += (difference * difference / 2 - variance) / count
    }
    previous = rssi
  }

  /// By how much more evidence than set is needed.
  var excessFactor: Float { max(1, meanShare / Self.usualShare) }

  /// How far the levels of a boundary lie from it, in dB.
  var hysteresis: Float { min(max(0.3 * variance.squareRoot(), 1), 3) }
}

/// The state of a gate for one beacon, and the evidence for the other state.
struct GateState: Sendable {
  var isOpen = false
  /// The evidence for the other state, in dB · s.
  var evidence: Float = 0

  /// A packet counts for at most this many dB, so that one alone does not decide.
  private static let largest: Float = 6

  /// Receives the latest signal strength, which the statistics include; for a boundary both levels are the same. As
  /// the strength is a whole number, one equal to a level is taken to lie half a dB beyond it.
  mutating func receive(
    rssi: Float, _ statistics: SignalStatistics, levels: (enter: Float, exit: Float),
    excess: Double
  ) {
    let hysteresis = levels.enter == levels.exit ? statistics.hysteresis : 0
    let beyond = (isOpen ? levels.exit - rssi : rssi - levels.enter) - hysteresis
    let bounded = min(max(beyond + 0.5, -Self.largest), Self.largest)
    evidence = max(0, evidence + bounded * statistics.share)
    guard bounded > 0, evidence >= Float(excess) * statistics.excessFactor else { return }
    isOpen.toggle()
    evidence = 0
  }
}
