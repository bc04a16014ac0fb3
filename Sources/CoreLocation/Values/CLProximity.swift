/// The zone that a beacon is in. Unlike Apple's type, it cannot hold an unknown raw value.
@frozen
public enum CLProximity: Int, Sendable {
  /// The zone is not known.
  case unknown = 0
  /// The distance is within about half a meter.
  case immediate = 1
  /// The distance is within about four meters.
  case near = 2
  /// The distance is longer.
  case far = 3
}

/// The state of a region. Unlike Apple's type, it cannot hold an unknown raw value.
@frozen
public enum CLRegionState: Int, Sendable {
  /// The state is not known yet.
  case unknown = 0
  /// The device is inside.
  case inside = 1
  /// The device is outside.
  case outside = 2
}
