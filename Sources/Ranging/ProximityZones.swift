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
    let next = zone(of: mean, thresholds)
    let elapsed = time.subtractingReportingOverflow(summedAt)
    summedAt = time
    if next != zone, zone != .unknown, next != .unknown {
      if next == wanted, !elapsed.overflow, elapsed.partialValue >= 0 {
        // A packet counts for a short while only, however long the gap before it.
        let seconds = min(Float(elapsed.partialValue) * 1e-9, Self.longestGap)
        excess += beyond(mean, thresholds) * seconds
      } else {
        (wanted, excess) = (next, 0)
      }
      guard excess >= thresholds.excess else { return zone }
    }
    (zone, wanted, excess) = (next, next, 0)
    return zone
  }

  /// Forgets the zone, because the beacon is no longer received.
  package mutating func reset() { self = ProximityZones() }

  /// A gap between packets counts for at most so many seconds.
  private static let longestGap: Float = 2

  /// Returns the zone that a signal lies in: the zone now if it is within the limits of that one, else the next one
  /// that it is within. The limits are counted, as which of them a signal passes cannot be predicted.
  @inline(__always)
  private func zone(of mean: Float, _ thresholds: ProximityThresholds) -> Proximity {
    guard mean.isFinite else { return .unknown }
    let closest =
      1 + (mean < thresholds.leaveImmediate ? 1 : 0) + (mean < thresholds.leaveNear ? 1 : 0)
    let farthest =
      3 - (mean > thresholds.enterNear ? 1 : 0) - (mean > thresholds.enterImmediate ? 1 : 0)
    let now = zone.rawValue
    if zone != .unknown, now >= closest, now <= farthest { return zone }
    let next = zone == .unknown ? farthest : min(max(now, closest), farthest)
    return Proximity(rawValue: next) ?? .unknown
  }

  /// Returns how many dB a signal lies beyond the limit of the zone now, which it is not within.
  private func beyond(_ mean: Float, _ thresholds: ProximityThresholds) -> Float {
    switch zone {
    case .immediate: thresholds.leaveImmediate - mean
    case .near: max(mean - thresholds.enterImmediate, thresholds.leaveNear - mean)
    case .far, .unknown: mean - thresholds.enterNear
    }
  }
}
