internal import RealModule

/// The zone of one beacon, with hysteresis: a state machine that is told distances.
///
/// A zone is left only once the distance lies beyond the outer limit. Told an estimate and a time,
/// the machine also asks that the distance clear the limit by the noise of its mean, and for a
/// while, so that a still beacon on a limit does not flap.
public struct ProximityZones: Sendable, Hashable {
  /// The zone now.
  public private(set) var proximity: Proximity = .unknown
  /// Where the zones end.
  public let limits: ProximityLimits

  /// The zone that the distance asks for, and since when in nanoseconds.
  private var wanted: Proximity = .unknown
  private var wantedSince: Int64 = 0

  /// A machine that knows nothing yet.
  ///
  /// - Parameter limits: Where the zones end.
  public init(limits: ProximityLimits = .standard) {
    self.limits = limits
  }

  /// Takes a distance by hysteresis alone.
  ///
  /// - Parameter distance: The distance in metres; negative or not a number is not known.
  /// - Returns: The zone now.
  @discardableResult
  public mutating func update(distance: Double) -> Proximity {
    proximity = zone(nearest: distance, farthest: distance, median: distance)
    wanted = proximity
    return proximity
  }

  /// Takes an estimate: a change of zone must clear the limit by ``ProximityLimits/margin`` and
  /// last for ``ProximityLimits/hold``.
  ///
  /// - Parameters:
  ///   - estimate: The distance and its noise.
  ///   - time: When it holds, in nanoseconds of a monotonic clock; a time that steps back starts
  ///     the hold anew.
  /// - Returns: The zone now.
  @discardableResult
  public mutating func update(_ estimate: DistanceEstimate, at time: Int64) -> Proximity {
    let reach = Double.exp(limits.margin * min(max(estimate.noiseLogDeviation, 0), 5))
    let median = estimate.distance
    let next = zone(nearest: median / reach, farthest: median * reach, median: median)
    guard next != proximity, proximity != .unknown, next != .unknown else {
      proximity = next
      wanted = next
      return proximity
    }
    if wanted != next || time < wantedSince {
      wanted = next
      wantedSince = time
    }
    let held = UInt64(bitPattern: time &- wantedSince)
    if Double(held) >= limits.hold * 1e9 { proximity = next }
    return proximity
  }

  /// Forgets the zone: the beacon is no longer heard.
  public mutating func reset() {
    proximity = .unknown
    wanted = .unknown
  }

  /// The zone for a distance that surely lies between two.
  private func zone(nearest: Double, farthest: Double, median: Double) -> Proximity {
    guard median >= 0, median.isFinite else { return .unknown }
    switch proximity {
    case .unknown:
      return median < limits.enterImmediate ? .immediate : median < limits.enterNear ? .near : .far
    case .immediate where nearest <= limits.leaveImmediate:
      return .immediate
    case .far where farthest >= limits.enterNear:
      return .far
    default:
      if farthest < limits.enterImmediate { return .immediate }
      return nearest > limits.leaveNear ? .far : .near
    }
  }
}
