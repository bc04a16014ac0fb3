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
  public typealias Updates = CLUpdates<CLLocationUpdate>

  /// The location; `nil` if it is not available.
  public var location: CLLocation? { nil }
  /// A Boolean value that indicates whether the device does not move.
  public var isStationary: Bool { false }
  /// A Boolean value that indicates whether the device does not move.
  public var stationary: Bool { isStationary }
  /// A Boolean value that indicates whether the app may not use location services.
  public var authorizationDenied: Bool { status == .denied }
  /// A Boolean value that indicates whether location services are off for the device: `false` here.
  public var authorizationDeniedGlobally: Bool { false }
  /// A Boolean value that indicates whether location services are restricted for the app.
  public var authorizationRestricted: Bool { status == .restricted }
  /// A Boolean value that indicates whether the app has only an approximate location: `false` here.
  public var accuracyLimited: Bool { false }
  /// A Boolean value that indicates whether the app is not enough in use: `false` here.
  public var insufficientlyInUse: Bool { false }
  /// A Boolean value that indicates whether the location cannot be found now.
  public var locationUnavailable: Bool { true }
  /// A Boolean value that indicates whether a service session is required: `false` here.
  public var serviceSessionRequired: Bool { false }
  /// A Boolean value that indicates whether the authorization is not decided yet.
  public var authorizationRequestInProgress: Bool { status == .notDetermined }

  let status: CLAuthorizationStatus

  /// Starts location updates for every iteration of the result.
  ///
  /// As on Apple's systems, an iteration requests the authorization when in use. The configuration has no effect
  /// yet.
  public static func liveUpdates(_ configuration: LiveConfiguration = .default) -> Updates {
    liveUpdates(of: { .shared })
  }

  static func liveUpdates(of services: @escaping @Sendable () -> LocationServices) -> Updates {
    Updates({ AuthorizationObserver(requesting: .whenInUse, of: services()).statuses() }) {
      CLLocationUpdate(status: $0)
    }
  }
}
