/// A setting that cannot be.
public enum RangingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The ends of the zones must be positive, finite and in this order, in metres.
  case zones(enterImmediate: Double, leaveImmediate: Double, enterNear: Double, leaveNear: Double)
  /// A zone's margin or hold must be finite and not negative.
  case zoneGuard(margin: Double, hold: Double)

  /// One sentence: what, and the numbers.
  public var description: String {
    switch self {
    case .zones(let a, let b, let c, let d):
      "zones must rise: enter immediate \(a) m < leave immediate \(b) m <= enter near \(c) m"
        + " < leave near \(d) m"
    case .zoneGuard(let margin, let hold):
      "a zone's margin (\(margin) deviations) and hold (\(hold) s) must be 0 or more"
    }
  }
}
