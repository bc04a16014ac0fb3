/// The limits of the zones as signal strengths of one beacon, in dBm.
///
/// Distance never grows with signal strength, so signals are compared in place of distances: four
/// comparisons for each packet, and no logarithm.
package struct ProximityThresholds: BitwiseCopyable, Sendable, Hashable {
  package let enterImmediate: Float
  package let leaveImmediate: Float
  package let enterNear: Float
  package let leaveNear: Float
  /// The excess over a limit that changes the zone, in dB · s.
  package let excess: Float
  /// The path loss, for the filter.
  let law: SignalLaw

  /// The placeholder before the first sighting.
  static let none = ProximityThresholds(
    enterImmediate: 0, leaveImmediate: 0, enterNear: 0, leaveNear: 0, excess: 0, law: .standard)
}

extension ProximityThresholds {
  package init(limits: ProximityLimits, calibration: Calibration, advertisedPower: Double) {
    func threshold(_ distance: Double) -> Float {
      Float(calibration.rssi(atDistance: distance, advertisedPower: advertisedPower))
    }
    enterImmediate = threshold(limits.enterImmediate)
    leaveImmediate = threshold(limits.leaveImmediate)
    enterNear = threshold(limits.enterNear)
    leaveNear = threshold(limits.leaveNear)
    excess = Float(limits.excess)
    law = SignalLaw(calibration, advertisedPower: advertisedPower)
  }
}
