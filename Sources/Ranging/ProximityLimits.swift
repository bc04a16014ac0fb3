/// Where the zones end, and how sure a change of zone must be.
public struct ProximityLimits: Sendable, Hashable {
  /// Nearer than this is immediate, in metres.
  public let enterImmediate: Double
  /// Farther than this is no longer immediate, in metres.
  public let leaveImmediate: Double
  /// Nearer than this is near, in metres.
  public let enterNear: Double
  /// Farther than this is far, in metres.
  public let leaveNear: Double
  /// By how many standard deviations of its noise a distance must lie beyond a limit.
  public let margin: Double
  /// For how many seconds it must stay there.
  public let hold: Double

  /// 0.5 m and 0.7 m, 4 m and 5 m; one deviation; 1 s.
  public static let standard = ProximityLimits()

  private init() {
    (enterImmediate, leaveImmediate, enterNear, leaveNear) = (0.5, 0.7, 4, 5)
    (margin, hold) = (1, 1)
  }

  /// Makes limits, if they can be.
  ///
  /// - Parameters:
  ///   - enterImmediate: Nearer than this is immediate, in metres.
  ///   - leaveImmediate: Farther than this is no longer immediate, in metres.
  ///   - enterNear: Nearer than this is near, in metres.
  ///   - leaveNear: Farther than this is far, in metres.
  ///   - margin: Standard deviations of noise that a distance must lie beyond a limit.
  ///   - hold: Seconds for which it must stay there.
  /// - Throws: ``RangingError`` for limits that do not rise or are not positive numbers.
  public init(
    enterImmediate: Double = 0.5, leaveImmediate: Double = 0.7, enterNear: Double = 4,
    leaveNear: Double = 5, margin: Double = 1, hold: Double = 1
  ) throws(RangingError) {
    guard enterImmediate > 0, enterImmediate < leaveImmediate, leaveImmediate <= enterNear,
      enterNear < leaveNear, leaveNear.isFinite
    else {
      throw .zones(
        enterImmediate: enterImmediate, leaveImmediate: leaveImmediate, enterNear: enterNear,
        leaveNear: leaveNear)
    }
    guard margin >= 0, margin.isFinite, hold >= 0, hold <= 3600 else {
      throw .zoneGuard(margin: margin, hold: hold)
    }
    self.enterImmediate = enterImmediate
    self.leaveImmediate = leaveImmediate
    self.enterNear = enterNear
    self.leaveNear = leaveNear
    self.margin = margin
    self.hold = hold
  }
}
