/// A request for an authorization, in effect for as long as the app keeps the object.
///
/// ```swift
/// let session = CLServiceSession(authorization: .whenInUse)
/// for try await diagnostic in session.diagnostics where diagnostic.authorizationDenied {
///   explain()
/// }
/// ```
public final class CLServiceSession: Sendable {
  /// The authorization that the app needs.
  public enum AuthorizationRequirement: Hashable, Sendable {
    /// No authorization.
    case none
    /// The authorization while the app is in use.
    case whenInUse
    /// The authorization at any time.
    case always
  }

  /// The state of the session's authorization.
  public struct Diagnostic: Sendable {
    /// A Boolean value that indicates whether the app needs and lacks authorization at any time.
    public var alwaysAuthorizationDenied: Bool {
      requirement == .always && status != .authorizedAlways && status != .notDetermined
    }
    /// A Boolean value that indicates whether the app may not use location services.
    public var authorizationDenied: Bool { status == .denied }
    /// A Boolean value that indicates whether the device's location services are off: `false` here.
    public var authorizationDeniedGlobally: Bool { false }
    /// A Boolean value that indicates whether the authorization is not decided yet.
    public var authorizationRequestInProgress: Bool {
      status == .notDetermined && requirement != .none
    }
    /// A Boolean value that indicates whether location services are restricted for the app.
    public var authorizationRestricted: Bool { status == .restricted }
    /// A Boolean value that indicates whether full accuracy was refused: `false` here.
    public var fullAccuracyDenied: Bool { false }
    /// A Boolean value that indicates whether the app is not enough in use: `false` here.
    public var insufficientlyInUse: Bool { false }
    /// A Boolean value that indicates whether a service session is required: `false` here.
    public var serviceSessionRequired: Bool { false }

    let status: CLAuthorizationStatus
    let requirement: AuthorizationRequirement
  }

  /// The asynchronous sequence of diagnostics.
  public typealias Diagnostics = CLUpdates<Diagnostic>

  /// The state of the authorization now, and its changes. The sequence ends with the session.
  public let diagnostics: Diagnostics

  private let observer: AuthorizationObserver

  /// Requests an authorization.
  public convenience init(authorization: AuthorizationRequirement) {
    self.init(authorization: authorization, of: .shared)
  }

  /// Requests an authorization. Every app has full accuracy here, so the purpose has no effect.
  public convenience init(
    authorization: AuthorizationRequirement, fullAccuracyPurposeKey: String
  ) { self.init(authorization: authorization) }

  init(authorization: AuthorizationRequirement, of services: LocationServices) {
    let observer = AuthorizationObserver(requesting: authorization, of: services)
    self.observer = observer
    diagnostics = Diagnostics({ observer.statuses() }) {
      Diagnostic(status: $0, requirement: authorization)
    }
  }

  deinit { observer.end() }

  /// Ends the session and the iterations of its ``diagnostics``.
  public func invalidate() { observer.end() }
}
