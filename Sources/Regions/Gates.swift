/// The signal strength that a beacon must have.
///
/// The evidence is a cumulative sum (E. S. Page, *Biometrika* 41, 1954): the signal's excess over
/// ``enter`` adds up over time, and its deficit is subtracted; at ``excess`` the gate opens. It
/// closes in the same way below ``exit``. A jump is found within one or two seconds.
///
/// If ``enter`` and ``exit`` are equal, they are a boundary whose hysteresis is 0.3 of the standard
/// deviation of each beacon's noise on either side, from 1 to 3 dB.
public struct SignalGate: Sendable, Hashable, Codable {
  /// The signal that must be exceeded to enter, in dBm.
  public let enter: Double
  /// The signal below which the region is left, in dBm; not above ``enter``.
  public let exit: Double
  /// The excess that changes the gate, in dB · s. It grows with the mean gap beyond 1/3 s.
  public let excess: Double

  /// The default excess, in dB · s.
  public static let defaultExcess = 6.0

  /// Creates a gate from levels in dBm; without `exit`, `enter` is a boundary in both directions.
  public init(enter: Double, exit: Double? = nil, excess: Double = SignalGate.defaultExcess) {
    (self.enter, self.exit, self.excess) = (enter, exit ?? enter, excess)
  }

  /// Creates a gate with one boundary in both directions, in dBm.
  public init(boundary: Double, excess: Double = SignalGate.defaultExcess) {
    self.init(enter: boundary, excess: excess)
  }
}

/// The distance within which a beacon must be: a ``SignalGate`` at two calibrated signal strengths.
public struct DistanceGate: Sendable, Hashable, Codable {
  /// The distance below which a beacon enters, in meters.
  public let enter: Double
  /// The distance beyond which a beacon leaves, in meters; not below ``enter``.
  public let exit: Double
  /// The excess that changes the gate, in dB · s.
  public let excess: Double

  /// Creates a gate from distances in meters; `exit` equals `enter` unless given.
  public init(enter: Double, exit: Double? = nil, excess: Double = SignalGate.defaultExcess) {
    (self.enter, self.exit, self.excess) = (enter, exit ?? enter, excess)
  }

  /// Creates a gate with one boundary in both directions, in meters.
  public init(boundary: Double, excess: Double = SignalGate.defaultExcess) {
    self.init(enter: boundary, excess: excess)
  }
}

/// The statistics of a beacon's signal for gates: the time that packets count for, and the noise.
struct SignalStatistics: Sendable {
  /// The longest time that a packet counts for, in seconds, however long the gap before it.
  private static let longestShare: Float = 1
  /// The time that the first packet counts for, in seconds.
  private static let firstShare: Float = 0.1
  /// The mean share, in seconds, above which the excess grows: 6 dB · s take three packets or more.
  private static let usualShare: Float = 1 / 3.0
  /// The greatest difference of two packets that counts as noise, in dB.
  private static let largestDifference: Float = 15
  /// The number of packets in the means.
  private static let memory: Float = 32

  /// The time that the latest packet counts for, in seconds.
  private(set) var share: Float = 0
  private var meanShare: Float = 0
  /// The variance of the noise, from differences of successive packets, in dB².
  private var variance: Float = 0
  private var previous: Float = 0
  private var count: Float = 0

  /// Receives a signal strength in dBm, and the seconds since the previous packet, if any.
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

  var excessFactor: Float { max(1, meanShare / Self.usualShare) }

  /// The distance of a boundary's levels from it, in dB.
  var hysteresis: Float { min(max(0.3 * variance.squareRoot(), 1), 3) }
}

/// The state of a gate for one beacon, and the evidence for the other state.
struct GateState: Sendable {
  var isOpen = false
  /// The evidence for the other state, in dB · s.
  var evidence: Float = 0

  /// The most dB that a packet counts for: a single one does not decide.
  private static let largest: Float = 6

  /// Receives the latest signal strength, after the statistics have. As it is a whole number, one
  /// equal to a level counts as half a dB beyond it.
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
