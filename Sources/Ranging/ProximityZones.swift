/// The zone of one beacon, with hysteresis: a state machine that is told signal strengths.
///
/// A zone is left only once the distance lies beyond the outer limit. The distance must also clear
/// the limit by the noise of its mean, and for a while, so that a still beacon on a limit does not
/// flap.
@frozen
public struct ProximityZones: BitwiseCopyable, Sendable, Hashable {
  /// The zone now.
  @inlinable
  public var proximity: Proximity { zone }

  @usableFromInline var zone: Proximity = .unknown

  /// The zone that the signal asks for, and since when in nanoseconds.
  @usableFromInline var wanted: Proximity = .unknown
  @usableFromInline var wantedSince: Int64 = 0

  /// A machine that knows nothing yet.
  public init() {}

  /// Takes a smoothed signal strength.
  ///
  /// - Parameters:
  ///   - mean: The mean, in dBm.
  ///   - error: Its standard error, in dB.
  ///   - time: When it holds, in nanoseconds of a monotonic clock; a time that steps back starts
  ///     the hold anew.
  ///   - thresholds: The beacon's limits.
  ///   - limits: By how much and for how long a limit must be passed.
  /// - Returns: The zone now.
  @discardableResult
  public mutating func update(
    mean: Float, error: Float, at time: Int64, thresholds: ProximityThresholds,
    limits: ProximityLimits = .standard
  ) -> Proximity {
    let reach = Float(limits.margin) * min(max(error, 0), 100)
    let next = zoneAsked(mean: mean, strongest: mean + reach, weakest: mean - reach, thresholds)
    guard next != proximity, proximity != .unknown, next != .unknown else {
      zone = next
      wanted = next
      return proximity
    }
    if wanted != next || time < wantedSince {
      wanted = next
      wantedSince = time
    }
    let held = UInt64(bitPattern: time &- wantedSince)
    if Double(held) >= limits.hold * 1e9 { zone = next }
    return proximity
  }

  /// Whether no signal between two strengths, told to ``update(mean:error:at:thresholds:limits:)``,
  /// would change the zone or begin to. If so, the signal counts as told.
  ///
  /// - Parameters:
  ///   - weakest: The weaker end, in dBm.
  ///   - strongest: The stronger end, in dBm.
  ///   - thresholds: The beacon's limits.
  /// - Returns: Whether the zone stays.
  @inlinable
  public mutating func stays(
    between weakest: Float, and strongest: Float, _ thresholds: ProximityThresholds
  ) -> Bool {
    let stays =
      switch proximity {
      case .unknown: false
      case .immediate: weakest >= thresholds.leaveImmediate
      case .near: weakest >= thresholds.leaveNear && strongest <= thresholds.enterImmediate
      case .far: strongest <= thresholds.enterNear
      }
    if stays { wanted = proximity }
    return stays
  }

  /// Forgets the zone: the beacon is no longer heard.
  public mutating func reset() {
    zone = .unknown
    wanted = .unknown
  }

  /// The zone for a signal that surely lies between two strengths.
  private func zoneAsked(
    mean: Float, strongest: Float, weakest: Float, _ thresholds: ProximityThresholds
  ) -> Proximity {
    guard mean.isFinite else { return .unknown }
    switch proximity {
    case .unknown:
      return mean > thresholds.enterImmediate
        ? .immediate : mean > thresholds.enterNear ? .near : .far
    case .immediate where strongest >= thresholds.leaveImmediate:
      return .immediate
    case .far where weakest <= thresholds.enterNear:
      return .far
    default:
      if weakest > thresholds.enterImmediate { return .immediate }
      return strongest < thresholds.leaveNear ? .far : .near
    }
  }
}
