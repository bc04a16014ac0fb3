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
    let next = zone(of: mean, thresholds)
    sum.update(
      to: next, towards: next, beyond: next == proximity ? 0 : beyond(mean, thresholds), at: time,
      limit: thresholds.excess,
      changesAtOnce: proximity == .unknown || next == .unknown)
    return proximity
  }

  /// Forgets the zone, because the beacon is no longer received.
  package mutating func reset() { self = ProximityZones() }

  /// Returns the zone that a signal lies in: the zone now if it is within the limits of that one, else the next one
  /// that it is within. The limits are counted, as which of them a signal passes cannot be predicted.
  @inline(__always)
  private func zone(of mean: Float, _ thresholds: ProximityThresholds) -> Proximity {
    guard mean.isFinite else { return .unknown }
    let closest =
      1 + (mean < thresholds.leaveImmediate ? 1 : 0) + (mean < thresholds.leaveNear ? 1 : 0)
    let farthest =
      3 - (mean > thresholds.enterNear ? 1 : 0) - (mean > thresholds.enterImmediate ? 1 : 0)
    let now = proximity.rawValue
    if proximity != .unknown, now >= closest, now <= farthest { return proximity }
    let next = proximity == .unknown ? farthest : min(max(now, closest), farthest)
    return Proximity(rawValue: next) ?? .unknown
  }

  /// Returns how many dB a signal lies beyond the limit of the zone now, which it is not within.
  private func beyond(_ mean: Float, _ thresholds: ProximityThresholds) -> Float {
    switch proximity {
    case .immediate: thresholds.leaveImmediate - mean
    case .near: max(mean - thresholds.enterImmediate, thresholds.leaveNear - mean)
    case .far, .unknown: mean - thresholds.enterNear
    }
  }
}
