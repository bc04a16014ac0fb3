import Foundation
public import Scanning
import Synchronization

/// Authorisation by what the system allows: the administrator's file, then access to the device.
///
/// The file is JSON, an object of application identifiers, with `*` for all others:
///
/// ```json
/// {"com.example.kiosk": "always", "com.example.game": "denied", "*": "onRequest"}
/// ```
///
/// The values are `onRequest`, `whenInUse`, `always`, `denied` and `restricted`. Without a file, an app is
/// given what it asks for. A file that cannot be understood restricts every app: an administrator meant to
/// say something.
public final class SystemAuthorization: AuthorizationProvider {
  /// Where the administrator's file stands unless told otherwise.
  public static let path = "/etc/corelocation/authorization.json"

  private let path: String
  private let latest = Mutex<(stamp: Stamp, rules: [String: AuthorizationRule]?)?>(nil)

  /// What tells a file that was written anew.
  private struct Stamp: Equatable {
    var modified: Date?
    var size: UInt64?
    var number: UInt64?
  }

  /// Reads an administrator's file.
  ///
  /// - Parameter path: The file; it need not exist.
  public init(path: String = SystemAuthorization.path) {
    self.path = path
  }

  /// What the file says, unless the device is refused.
  public func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
    if let rules = rules() {
      guard let rule = rules[application] ?? rules["*"] else { return byAccess(scanner) }
      if case .denied = rule { return .denied }
      if case .restricted = rule { return .restricted }
      return byAccess(scanner) == .denied ? .denied : rule
    }
    return .restricted
  }

  /// What device access alone says. A missing device says nothing of what is allowed.
  private func byAccess(_ scanner: ScannerAvailability) -> AuthorizationRule {
    if case .notPermitted = scanner { .denied } else { .onRequest }
  }

  /// The file's rules, read again when it has changed: none without a file, `nil` for a bad one.
  private func rules() -> [String: AuthorizationRule]? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    let stamp = Stamp(
      modified: attributes?[.modificationDate] as? Date,
      size: (attributes?[.size] as? NSNumber)?.uint64Value,
      number: (attributes?[.systemFileNumber] as? NSNumber)?.uint64Value)
    return latest.withLock { latest in
      if let latest, latest.stamp == stamp { return latest.rules }
      let rules = attributes == nil ? [:] : Self.read(path)
      latest = (stamp, rules)
      return rules
    }
  }

  private static func read(_ path: String) -> [String: AuthorizationRule]? {
    guard let data = FileManager.default.contents(atPath: path),
      let names = try? JSONDecoder().decode([String: String].self, from: data)
    else { return nil }
    var rules: [String: AuthorizationRule] = [:]
    for (application, name) in names {
      guard let rule = AuthorizationRule(name: name) else { return nil }
      rules[application] = rule
    }
    return rules
  }
}

extension AuthorizationRule {
  /// The rule by its name in the administrator's file.
  fileprivate init?(name: String) {
    switch name {
    case "onRequest": self = .onRequest
    case "whenInUse": self = .granted(.authorizedWhenInUse)
    case "always": self = .granted(.authorizedAlways)
    case "denied": self = .denied
    case "restricted": self = .restricted
    default: return nil
    }
  }
}
