/// The limits of the zones as one beacon's signal strengths, in dBm.
///
/// Distance never grows with signal strength, so a distance lies within a limit exactly where the
/// signal lies above that of the limit: four comparisons a packet, and no logarithm.
@frozen
public struct ProximityThresholds: BitwiseCopyable, Sendable, Hashable {
  /// Stronger than this is immediate.
  public let enterImmediate: Float
  /// Weaker than this is no longer immediate.
  public let leaveImmediate: Float
  /// Stronger than this is near.
  public let enterNear: Float
  /// Weaker than this is far.
  public let leaveNear: Float

  /// Thresholds that no signal passes.
  static let none = ProximityThresholds()

  private init() {
    (enterImmediate, leaveImmediate, enterNear, leaveNear) = (0, 0, 0, 0)
  }

  /// Computes a beacon's thresholds.
  ///
  /// - Parameters:
  ///   - limits: Where the zones end, in metres.
  ///   - calibration: What is known of the beacon.
  ///   - advertisedPower: The power in its advert, in dBm.
  public init(limits: ProximityLimits, calibration: Calibration, advertisedPower: Double) {
    func threshold(_ distance: Double) -> Float {
      Float(calibration.rssi(atDistance: distance, advertisedPower: advertisedPower))
    }
    enterImmediate = threshold(limits.enterImmediate)
    leaveImmediate = threshold(limits.leaveImmediate)
    enterNear = threshold(limits.enterNear)
    leaveNear = threshold(limits.leaveNear)
  }
}
