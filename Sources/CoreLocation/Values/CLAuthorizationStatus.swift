/// The authorization of the app to use location services. It cannot hold an unknown raw value.
@frozen
public enum CLAuthorizationStatus: Int32, Sendable {
  /// The authorization is not decided yet.
  case notDetermined = 0
  /// The app may not use them, and the user cannot change that.
  case restricted = 1
  /// The app may not use them: the request was denied, or location services are off.
  case denied = 2
  /// The app may use them at any time.
  case authorizedAlways = 3
  /// The app may use them while it is in use.
  case authorizedWhenInUse = 4

  /// The former name of ``authorizedAlways``.
  @available(*, deprecated, renamed: "authorizedAlways")
  public static var authorized: CLAuthorizationStatus { .authorizedAlways }
}

/// The accuracy that the app is authorized to use.
@frozen
public enum CLAccuracyAuthorization: Int, Sendable {
  /// Full accuracy, the only value here: beacons have no reduced accuracy.
  case fullAccuracy = 0
  /// Locations within some kilometers.
  case reducedAccuracy = 1
}
