public import Scanning

/// What an application may do.
public enum AuthorizationStatus: String, Sendable, Codable, Hashable {
  /// The application has not requested authorization yet.
  case notDetermined
  /// The application is refused, and the user cannot change that.
  case restricted
  /// The application is refused by a person who can change that.
  case denied
  /// The application may use services at any time.
  case authorizedAlways
  /// The application may use services while it is in use.
  case authorizedWhenInUse

  /// Whether services may deliver.
  public var isAuthorized: Bool { self == .authorizedAlways || self == .authorizedWhenInUse }
}

/// Reports a change of the application's authorization, and the status at the client's start. A client that is slow
/// receives the latest status alone.
public struct AuthorizationEvent: ServiceEvent, Hashable {
  /// The status from now on.
  public let status: AuthorizationStatus
}

/// The part of the system that decides what an application may do. The default is ``SystemAuthorization``.
///
/// docs/authorization.md says what each status means on Linux.
public protocol AuthorizationProvider: AnyObject, Sendable {
  /// Returns what the system decides for an application, whatever it requests.
  ///
  /// The manager calls it when services are first used, when the application requests authorization, and every two
  /// seconds while it has clients; a change is reported to all of them. `scanner` says whether the sources can be
  /// used.
  func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule
}

/// What a system decides for an application.
public enum AuthorizationRule: Sendable, Hashable {
  /// The application is given what it requests, when it requests it.
  case onRequest
  /// The application is given this without a request.
  case granted(AuthorizationStatus)
  /// The application is refused by a person who can change that.
  case denied
  /// The application is refused, and the user cannot change that.
  case restricted

  /// Returns an application's status under the rule, where it was given something when it requested authorization.
  func status(granted: AuthorizationStatus?) -> AuthorizationStatus {
    switch self {
    case .onRequest: granted ?? .notDetermined
    case .granted(let status): status
    case .denied: .denied
    case .restricted: .restricted
    }
  }
}
