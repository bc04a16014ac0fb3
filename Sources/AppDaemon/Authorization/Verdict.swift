package import Scanning
package import ServiceCore

/// The decision about an app, and its origin.
package struct Verdict: Hashable, Sendable {
  package enum Origin: String, Codable, Sendable {
    /// The administrator's file, or the access to the device.
    case administrator
    case polkit
    case person
    /// Nobody has decided.
    case nobody
  }

  package var rule: AuthorizationRule
  package var origin: Origin
  /// The user who decided, if it was a person, and the time.
  package var user: UInt32?
  package var since: WallClockTime?

  /// polkit's answers; `nil` where it has not answered.
  struct PolkitAnswers: Codable, Equatable {
    var use: PolkitAuthority.Answer?
    var always: PolkitAuthority.Answer?
  }

  /// A person's permission until the app ends.
  struct Once {
    let since: WallClockTime
    let user: UInt32
  }

  /// Combines those who decide, in this order: the administrator's file, polkit, a person.
  ///
  /// - polkit's `no` to `.use` restricts the app. Its `yes` to `.use` grants when-in-use at least,
  ///   and its `yes` to `.always` grants always. Its `no` to `.always` leaves at most when-in-use.
  /// - A challenge decides nothing.
  init(
    file: AuthorizationRule, polkit: PolkitAnswers = PolkitAnswers(), decision: Decision? = nil,
    once: Once? = nil
  ) {
    self.init(.undecided, .nobody)
    if file != .onRequest {
      self = Verdict(file, .administrator)
    } else if polkit.use == .no {
      self = Verdict(.restricted, .polkit)
    } else if polkit.always == .yes {
      self = Verdict(.granted(.authorizedAlways), .polkit)
    } else {
      if let decision {
        let isDenied = !decision.status.isAuthorized
        self = Verdict(
          isDenied ? .denied : .granted(decision.status), .person, decision.user, decision.since)
      } else if let once {
        self = Verdict(.granted(.authorizedWhenInUse), .person, once.user, once.since)
      }
      let isAlways = rule == .granted(.authorizedAlways)
      if polkit.use == .yes, !isAlways || polkit.always == .no {
        self = Verdict(.granted(.authorizedWhenInUse), .polkit)
      } else if isAlways, polkit.always == .no {
        rule = .granted(.authorizedWhenInUse)
      }
    }
  }

  private init(
    _ rule: AuthorizationRule, _ origin: Origin, _ user: UInt32? = nil,
    _ since: WallClockTime? = nil
  ) {
    self.rule = rule
    self.origin = origin
    self.user = user
    self.since = since
  }

  /// The app's status; a request alone grants nothing.
  package var status: AuthorizationStatus {
    switch rule {
    case .granted(let status): status
    case .denied: .denied
    case .restricted: .restricted
    case .onRequest, .undecided: .notDetermined
    }
  }
}
