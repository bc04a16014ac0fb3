/// An update of the location, or of the reasons why there is none.
///
/// No service of this system finds locations yet: every update has ``locationUnavailable`` set, and ``location`` is
/// `nil`. An iteration gets one update at its start and one for every change of the authorization, and it goes on
/// until its task is canceled.
public struct CLLocationUpdate: Sendable {
  /// The kind of movement that updates are made for.
  public enum LiveConfiguration: Hashable, Sendable {
    /// No particular kind of movement.
    case `default`
    /// Driving on roads.
    case automotiveNavigation
    /// Movement by boat, by train or off the road.
    case otherNavigation
    /// Walking, running and cycling as a sport.
    case fitness
    /// Flying.
    case airborne
  }

  /// The asynchronous sequence of updates.
  public typealias Updates = CLAuthorizationUpdates<CLLocationUpdate>

  /// The location; `nil` if it is not available.
  public let location: CLLocation?
  /// A Boolean value that indicates whether the device does not move.
  public let isStationary: Bool
  /// A Boolean value that indicates whether the device does not move.
  public var stationary: Bool { isStationary }
  /// A Boolean value that indicates whether the app may not use location services.
  public let authorizationDenied: Bool
  /// A Boolean value that indicates whether location services are off for the device: `false` here.
  public var authorizationDeniedGlobally: Bool { false }
  /// A Boolean value that indicates whether location services are restricted for the app.
  public let authorizationRestricted: Bool
  /// A Boolean value that indicates whether the app has only an approximate location: `false` here.
  public var accuracyLimited: Bool { false }
  /// A Boolean value that indicates whether the app is not enough in use: `false` here.
  public var insufficientlyInUse: Bool { false }
  /// A Boolean value that indicates whether the location cannot be found now.
  public let locationUnavailable: Bool
  /// A Boolean value that indicates whether a service session is required: `false` here.
  public var serviceSessionRequired: Bool { false }
  /// A Boolean value that indicates whether the authorization is not decided yet.
  public let authorizationRequestInProgress: Bool

  /// Starts location updates for every iteration of the result.
  ///
  /// As on Apple's systems, an iteration requests the authorization when in use. The configuration has no effect
  /// yet.
  public static func liveUpdates(_ configuration: LiveConfiguration = .default) -> Updates {
    liveUpdates { CLLocationManager(using: .shared, in: .observers) }
  }

  static func liveUpdates(_ manager: @escaping @Sendable () -> CLLocationManager) -> Updates {
    Updates(
      observer: { AuthorizationObserver(requesting: .whenInUse, of: manager()) },
      element: { status in
        CLLocationUpdate(
          location: nil, isStationary: false, authorizationDenied: status == .denied,
          authorizationRestricted: status == .restricted, locationUnavailable: true,
          authorizationRequestInProgress: status == .notDetermined)
      })
  }
}
