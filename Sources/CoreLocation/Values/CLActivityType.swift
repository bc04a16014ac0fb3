/// What the user does while locations are updated, which tells when updates may pause.
@frozen
public enum CLActivityType: Int, Sendable {
  /// None of the others.
  case other = 1
  /// Driving on roads.
  case automotiveNavigation = 2
  /// Walking, running, cycling as a sport.
  case fitness = 3
  /// Moving otherwise: by boat, by train, off the road.
  case otherNavigation = 4
  /// Flying.
  case airborne = 5
}

/// How the device is held: which of its edges a heading is measured from.
@frozen
public enum CLDeviceOrientation: Int32, Sendable {
  /// Not known; changes nothing.
  case unknown = 0
  /// The top is up.
  case portrait = 1
  /// The top is down.
  case portraitUpsideDown = 2
  /// The left side is up.
  case landscapeLeft = 3
  /// The right side is up.
  case landscapeRight = 4
  /// The screen is up; changes nothing.
  case faceUp = 5
  /// The screen is down; changes nothing.
  case faceDown = 6
}
