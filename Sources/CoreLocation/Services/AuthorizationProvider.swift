public import Scanning

/// Says what an app may do. The system's own is ``SystemAuthorization``.
///
/// docs/authorization.md says what each status means on Linux.
public protocol AuthorizationProvider: AnyObject, Sendable {
  /// What the system lays down for an app, whatever it asks.
  ///
  /// It is asked when services are first used, when the app asks for authorisation, and every few seconds
  /// while something is on: what changes meanwhile is told to the delegates.
  ///
  /// - Parameters:
  ///   - application: The app's identifier.
  ///   - scanner: Whether what hears beacons can be used.
  /// - Returns: The rule.
  func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule
}

/// What a system lays down for an app.
public enum AuthorizationRule: Sendable, Hashable {
  /// The app is given what it asks for, when it asks.
  case onRequest
  /// It is given this without asking.
  case granted(CLAuthorizationStatus)
  /// It is refused, by someone who can change it.
  case denied
  /// It is refused, and the user cannot change it.
  case restricted

  /// What an app's status is under the rule.
  ///
  /// - Parameter granted: What it was given when it asked; `nil` if it did not.
  /// - Returns: The status.
  func status(granted: CLAuthorizationStatus?) -> CLAuthorizationStatus {
    switch self {
    case .onRequest: granted ?? .notDetermined
    case .granted(let status): status
    case .denied: .denied
    case .restricted: .restricted
    }
  }
}
