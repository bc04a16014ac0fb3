/// The limits of the zones as one beacon's signal strengths, in dBm.
///
/// Distance never grows with signal strength, so a distance lies within a limit exactly where the
/// signal lies above that of the limit: four comparisons a packet, and no logarithm.
package struct ProximityThresholds: BitwiseCopyable, Sendable, Hashable {
  /// Stronger than this is immediate.
  package let enterImmediate: Float
  /// Weaker than this is no longer immediate.
  package let leaveImmediate: Float
  /// Stronger than this is near.
  package let enterNear: Float
  /// Weaker than this is far.
  package let leaveNear: Float
  /// By how much a limit must be passed, in dB · s.
  package let excess: Float

  /// Thresholds that no signal passes.
  static let none = ProximityThresholds()

  private init() {
    (enterImmediate, leaveImmediate, enterNear, leaveNear, excess) = (0, 0, 0, 0, 0)
  }

  /// Computes a beacon's thresholds from the power in its advert, in dBm.
  package init(limits: ProximityLimits, calibration: Calibration, advertisedPower: Double) {
    func threshold(_ distance: Double) -> Float {
      Float(calibration.rssi(atDistance: distance, advertisedPower: advertisedPower))
    }
    enterImmediate = threshold(limits.enterImmediate)
    leaveImmediate = threshold(limits.leaveImmediate)
    enterNear = threshold(limits.enterNear)
    leaveNear = threshold(limits.leaveNear)
    excess = Float(limits.excess)
  }
}
