public import Scanning

/// The authorization of an application.
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

  /// Whether services deliver events.
  public var isAuthorized: Bool { self == .authorizedAlways || self == .authorizedWhenInUse }
}

/// A change of the authorization, or the status at the client's start; the latest replaces others.
public struct AuthorizationEvent: ServiceEvent, Hashable {
  /// The status from now on.
  public let status: AuthorizationStatus
}

/// The part of the system that decides what an application may do; see docs/authorization.md.
public protocol AuthorizationProvider: AnyObject, Sendable {
  /// Returns the system's decision for an application, whatever it requests.
  ///
  /// The manager calls this at least every ten seconds while it has clients. `scanner` is the
  /// availability of the sources.
  func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule

  /// Records that an application requests an authorization, so a person can be asked. The manager
  /// then calls ``rule(for:scanner:)``. By default, nothing happens.
  func request(_ wanted: AuthorizationStatus, for application: String)
}

extension AuthorizationProvider {
  /// Does nothing.
  public func request(_ wanted: AuthorizationStatus, for application: String) {}
}

/// The decision of a system for an application.
public enum AuthorizationRule: Sendable, Hashable {
  /// The application is granted what it requests.
  case onRequest
  /// Nobody has decided yet: a request alone grants nothing.
  case undecided
  /// The application has this status without a request.
  case granted(AuthorizationStatus)
  /// The application is refused by a person who can change that.
  case denied
  /// The application is refused, and the user cannot change that.
  case restricted

  /// Returns the status of an application that was granted another one, or none, on request.
  func status(granted: AuthorizationStatus?) -> AuthorizationStatus {
    switch self {
    case .onRequest: granted ?? .notDetermined
    case .undecided: .notDetermined
    case .granted(let status): status
    case .denied: .denied
    case .restricted: .restricted
    }
  }
}
