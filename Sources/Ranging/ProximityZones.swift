/// The zone of one beacon, with hysteresis: a state machine that is given signal strengths.
///
/// A zone is left only once the distance lies beyond the outer limit, and only when it lay far enough
/// beyond for long enough: the excess in dB is summed up over time, as in Page's cumulative sum
/// (Biometrika 41, 1954). A jump across a limit changes the zone at once; a still beacon on a limit,
/// whose mean wanders a little over it and back, does not.
package struct ProximityZones: BitwiseCopyable, Sendable, Hashable {
  private var zone: Proximity = .unknown
  /// The zone that the signal lies in, for which the excess is summed up.
  private var wanted: Proximity = .unknown
  /// dB · s beyond the limit.
  private var excess: Float = 0
  /// When the excess was last added to, in nanoseconds.
  private var summedAt: Int64 = 0

  /// Creates a machine that knows nothing yet.
  package init() {}

  /// The zone now.
  package var proximity: Proximity { zone }

  /// Receives a smoothed signal strength in dBm at a time in nanoseconds of a monotonic clock, and returns the zone. A
  /// time that steps back starts the sum anew.
  @discardableResult
  package mutating func update(
    mean: Float, at time: Int64, thresholds: ProximityThresholds
  ) -> Proximity {
    let (next, beyond) = zone(of: mean, thresholds)
    let elapsed = time.subtractingReportingOverflow(summedAt)
    if next != wanted || elapsed.overflow || elapsed.partialValue < 0 {
      wanted = next
      excess = 0
    } else {
      // A packet counts for a short while only, however long the gap before it.
      excess += beyond * min(Float(elapsed.partialValue) * 1e-9, Self.longestGap)
    }
    summedAt = time
    if zone == .unknown || next == .unknown || next == zone || excess >= thresholds.excess {
      zone = next
      wanted = next
      excess = 0
    }
    return zone
  }

  /// Forgets the zone, because the beacon is no longer received.
  package mutating func reset() { self = ProximityZones() }

  /// A gap between packets counts for at most so many seconds.
  private static let longestGap: Float = 2

  /// Returns the zone that a signal lies in, and how many dB it lies beyond the limit of the zone now.
  private func zone(of mean: Float, _ thresholds: ProximityThresholds) -> (Proximity, Float) {
    guard mean.isFinite else { return (.unknown, 0) }
    switch zone {
    case .unknown:
      return (
        mean > thresholds.enterImmediate ? .immediate : mean > thresholds.enterNear ? .near : .far,
        0
      )
    case .immediate where mean < thresholds.leaveImmediate:
      return (mean < thresholds.leaveNear ? .far : .near, thresholds.leaveImmediate - mean)
    case .near where mean > thresholds.enterImmediate:
      return (.immediate, mean - thresholds.enterImmediate)
    case .near where mean < thresholds.leaveNear: return (.far, thresholds.leaveNear - mean)
    case .far where mean > thresholds.enterNear:
      return (mean > thresholds.enterImmediate ? .immediate : .near, mean - thresholds.enterNear)
    default: return (zone, 0)
    }
  }
}
