/// A session that requests the authorization when in use, as Apple's does, and has no other effect.
public final class CLBackgroundActivitySession: Sendable {
  /// The state of the session's authorization.
  public struct Diagnostic: Sendable {
    /// A Boolean value that indicates whether the app may not use location services.
    public var authorizationDenied: Bool { status == .denied }
    /// A Boolean value that indicates whether the device's location services are off: `false` here.
    public var authorizationDeniedGlobally: Bool { false }
    /// A Boolean value that indicates whether the authorization is not decided yet.
    public var authorizationRequestInProgress: Bool { status == .notDetermined }
    /// A Boolean value that indicates whether location services are restricted for the app.
    public var authorizationRestricted: Bool { status == .restricted }
    /// A Boolean value that indicates whether the app is not enough in use: `false` here.
    public var insufficientlyInUse: Bool { false }
    /// A Boolean value that indicates whether a service session is required: `false` here.
    public var serviceSessionRequired: Bool { false }

    let status: CLAuthorizationStatus
  }

  /// The asynchronous sequence of diagnostics.
  public typealias Diagnostics = CLUpdates<Diagnostic>

  /// The state of the authorization now, and its changes. The sequence ends with the session.
  public let diagnostics: Diagnostics

  private let observer: AuthorizationObserver

  /// Starts a session.
  public convenience init() { self.init(of: .shared) }

  init(of services: LocationServices) {
    let observer = AuthorizationObserver(requesting: .whenInUse, of: services)
    self.observer = observer
    diagnostics = Diagnostics({ observer.statuses() }) { Diagnostic(status: $0) }
  }

  deinit { observer.end() }

  /// Ends the session and the iterations of its ``diagnostics``.
  public func invalidate() { observer.end() }
}
