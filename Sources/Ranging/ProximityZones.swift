/// The zone of one beacon, with hysteresis: a state machine that receives signal strengths.
///
/// The zone changes only when the distance lies beyond the outer limit by enough for long enough,
/// as ``CumulativeSum`` measures. A large jump across a limit changes the zone quickly; the mean of
/// a still beacon at a limit, which wanders a little, does not.
package struct ProximityZones: BitwiseCopyable, Sendable, Hashable {
  private var sum = CumulativeSum(Proximity.unknown)

  package init() {}

  /// The current zone.
  package var proximity: Proximity { sum.state }

  /// Receives a smoothed signal strength in dBm at a time in nanoseconds of a monotonic clock, and
  /// returns the zone. A time that steps back restarts the sum.
  @inline(__always)
  @discardableResult
  package mutating func update(
    mean: Float, at time: Int64, thresholds: ProximityThresholds
  ) -> Proximity {
    let next = zone(of: mean, thresholds)
    if next == proximity {
      sum.restart(at: time)
    } else {
      sum.update(
        to: next, towards: next, beyond: beyond(mean, thresholds), at: time,
        limit: thresholds.excess, changesAtOnce: proximity == .unknown || next == .unknown)
    }
    return proximity
  }

  package mutating func reset() { self = ProximityZones() }

  /// Returns the zone of a signal: the current one if the signal is within its limits, else the
  /// nearest that it is within. Counting the limits avoids branches that cannot be predicted.
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

  /// Returns the dB by which a signal lies beyond the limit of the current zone.
  private func beyond(_ mean: Float, _ thresholds: ProximityThresholds) -> Float {
    switch proximity {
    case .immediate: thresholds.leaveImmediate - mean
    case .near: max(mean - thresholds.enterImmediate, thresholds.leaveNear - mean)
    case .far, .unknown: mean - thresholds.enterNear
    }
  }
}
