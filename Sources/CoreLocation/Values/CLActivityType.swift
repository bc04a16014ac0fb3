/// The user's activity during location updates, which determines when updates may pause.
@frozen
public enum CLActivityType: Int, Sendable {
  /// Another activity.
  case other = 1
  /// Driving on roads.
  case automotiveNavigation = 2
  /// Walking, running, cycling as a sport.
  case fitness = 3
  /// Another movement: by boat, by train, off the road.
  case otherNavigation = 4
  /// Flying.
  case airborne = 5
}

/// The orientation of the device, which determines the edge that headings refer to.
@frozen
public enum CLDeviceOrientation: Int32, Sendable {
  /// The orientation is not known; setting it has no effect.
  case unknown = 0
  /// The top is up.
  case portrait = 1
  /// The top is down.
  case portraitUpsideDown = 2
  /// The left side is up.
  case landscapeLeft = 3
  /// The right side is up.
  case landscapeRight = 4
  /// The screen is up; setting it has no effect.
  case faceUp = 5
  /// The screen is down; setting it has no effect.
  case faceDown = 6
}
