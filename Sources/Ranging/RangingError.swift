/// An invalid setting.
public enum RangingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The ends of the zones must be positive, finite and in this order, in meters.
  case zones(enterImmediate: Double, leaveImmediate: Double, enterNear: Double, leaveNear: Double)
  /// The excess that changes a zone must be from 0 to 1000 dB · s.
  case zoneExcess(Double)

  /// One sentence with the problem and the numbers.
  public var description: String {
    switch self {
    case .zones(let a, let b, let c, let d):
      "zones must rise: enter immediate \(a) m < leave immediate \(b) m <= enter near \(c) m"
        + " < leave near \(d) m"
    case .zoneExcess(let excess):
      "the excess that changes a zone (\(excess) dB s) must be from 0 to 1000"
    }
  }
}
