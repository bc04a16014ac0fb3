/// How near a beacon is.
///
/// Unlike Apple's, it cannot hold a raw value that is none of these.
@frozen
public enum CLProximity: Int, Sendable {
  /// Not known.
  case unknown = 0
  /// Within about half a metre.
  case immediate = 1
  /// Within about four metres.
  case near = 2
  /// Farther than that.
  case far = 3
}

/// On which side of a region's boundary this device is.
///
/// Unlike Apple's, it cannot hold a raw value that is none of these.
@frozen
public enum CLRegionState: Int, Sendable {
  /// Not known, or not yet.
  case unknown = 0
  /// Inside.
  case inside = 1
  /// Outside.
  case outside = 2
}
