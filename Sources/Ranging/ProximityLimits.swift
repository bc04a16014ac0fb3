/// The limits of the zones, and the evidence needed for a change of zone.
public struct ProximityLimits: Sendable, Hashable {
  /// The distance in meters below which a beacon becomes immediate.
  public private(set) var enterImmediate = 0.5
  /// The distance in meters beyond which a beacon is no longer immediate.
  public private(set) var leaveImmediate = 0.7
  /// The distance in meters below which a far beacon becomes near.
  public private(set) var enterNear = 4.0
  /// The distance in meters beyond which a beacon becomes far.
  public private(set) var leaveNear = 5.0
  /// The excess of the signal beyond a limit that changes the zone, in dB · s.
  public private(set) var excess = 4.0

  /// The default limits: 0.5 m and 0.7 m, 4 m and 5 m; 4 dB · s.
  public static let standard = ProximityLimits()

  private init() {}

  /// Creates limits, in meters and dB · s.
  ///
  /// - Throws: ``RangingError`` unless the distances rise and are positive and finite, and the
  ///   excess is from 0 to 1000.
  public init(
    enterImmediate: Double = 0.5, leaveImmediate: Double = 0.7, enterNear: Double = 4,
    leaveNear: Double = 5, excess: Double = 4
  ) throws(RangingError) {
    guard enterImmediate > 0, enterImmediate < leaveImmediate, leaveImmediate <= enterNear,
      enterNear < leaveNear, leaveNear.isFinite
    else {
      throw .zones(
        enterImmediate: enterImmediate, leaveImmediate: leaveImmediate, enterNear: enterNear,
        leaveNear: leaveNear)
    }
    guard excess >= 0, excess <= 1000 else { throw .zoneExcess(excess) }
    self.enterImmediate = enterImmediate
    self.leaveImmediate = leaveImmediate
    self.enterNear = enterNear
    self.leaveNear = leaveNear
    self.excess = excess
  }
}
