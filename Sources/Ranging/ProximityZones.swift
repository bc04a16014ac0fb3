/// The zone of one beacon, with hysteresis: a state machine that is given signal strengths.
///
/// A zone is left only once the distance lies beyond the outer limit, and only when it lay far enough
/// beyond for long enough, by a ``CumulativeSum``. A jump across a limit changes the zone at once; a still beacon on a limit,
/// whose mean wanders a little over it and back, does not.
package struct ProximityZones: BitwiseCopyable, Sendable, Hashable {
  private var sum = CumulativeSum(Proximity.unknown)

  /// Creates a machine that knows nothing yet.
  package init() {}

  /// The zone now.
  package var proximity: Proximity { sum.state }

  /// Receives a smoothed signal strength in dBm at a time in nanoseconds of a monotonic clock, and returns the zone. A
  /// time that steps back starts the sum anew.
  @discardableResult
  package mutating func update(
    mean: Float, at time: Int64, thresholds: ProximityThresholds
  ) -> Proximity {
    let (next, beyond) = zone(of: mean, thresholds)
    sum.update(
      to: next, towards: next, beyond: beyond, at: time, limit: thresholds.excess,
      changesAtOnce: proximity == .unknown || next == .unknown)
    return proximity
  }

  /// Forgets the zone, because the beacon is no longer received.
  package mutating func reset() { self = ProximityZones() }

  /// Returns the zone that a signal lies in, and how many dB it lies beyond the limit of the zone now.
  private func zone(of mean: Float, _ thresholds: ProximityThresholds) -> (Proximity, Float) {
    guard mean.isFinite else { return (.unknown, 0) }
    switch proximity {
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
    default: return (proximity, 0)
    }
  }
}
