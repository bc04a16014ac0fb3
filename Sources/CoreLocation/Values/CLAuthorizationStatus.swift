/// Whether this app may use location services.
///
/// Unlike Apple's, it cannot hold a raw value that is none of these.
@frozen
public enum CLAuthorizationStatus: Int32, Sendable {
  /// Nobody has decided yet.
  case notDetermined = 0
  /// It may not, and the user cannot change that.
  case restricted = 1
  /// It may not: refused, or location services are off.
  case denied = 2
  /// It may at any time.
  case authorizedAlways = 3
  /// It may while it is in use.
  case authorizedWhenInUse = 4

  /// The old name of ``authorizedAlways``.
  @available(*, deprecated, renamed: "authorizedAlways")
  public static var authorized: CLAuthorizationStatus { .authorizedAlways }
}

/// Whether this app may know the exact place.
@frozen
public enum CLAccuracyAuthorization: Int, Sendable {
  /// It may. The only one that this module gives: beacons have no reduced accuracy.
  case fullAccuracy = 0
  /// It gets places within some kilometres.
  case reducedAccuracy = 1
}
