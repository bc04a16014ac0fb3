/// The limits of the zones, and the evidence that a change of zone needs.
public struct ProximityLimits: Sendable, Hashable, Codable {
  /// Nearer than this is immediate, in metres.
  public let enterImmediate: Double
  /// Farther than this is no longer immediate, in metres.
  public let leaveImmediate: Double
  /// Nearer than this is near, in metres.
  public let enterNear: Double
  /// Farther than this is far, in metres.
  public let leaveNear: Double
  /// How much of the signal must lie beyond a limit before the zone changes, in dB · s.
  public let excess: Double

  /// 0.5 m and 0.7 m, 4 m and 5 m; 4 dB · s.
  public static let standard = ProximityLimits()

  private init() {
    (enterImmediate, leaveImmediate, enterNear, leaveNear) = (0.5, 0.7, 4, 5)
    excess = 4
  }

  /// Creates limits, if they can be used.
  ///
  /// - Parameters:
  ///   - enterImmediate: Nearer than this is immediate, in metres.
  ///   - leaveImmediate: Farther than this is no longer immediate, in metres.
  ///   - enterNear: Nearer than this is near, in metres.
  ///   - leaveNear: Farther than this is far, in metres.
  ///   - excess: How much of the signal must lie beyond a limit, in dB · s.
  /// - Throws: ``RangingError`` for limits that do not rise or are not positive numbers.
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

  /// Decodes limits, if they can be used.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      enterImmediate: values.decode(Double.self, forKey: .enterImmediate),
      leaveImmediate: values.decode(Double.self, forKey: .leaveImmediate),
      enterNear: values.decode(Double.self, forKey: .enterNear),
      leaveNear: values.decode(Double.self, forKey: .leaveNear),
      excess: values.decode(Double.self, forKey: .excess))
  }
}
