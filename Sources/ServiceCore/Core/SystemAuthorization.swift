import FoundationEssentials
public import Scanning

/// Authorization by an administrator's file and by access to the device.
///
/// The file is a JSON object of application identifiers, with `*` for all others:
///
/// ```json
/// {"com.example.kiosk": "always", "com.example.game": "denied", "*": "onRequest"}
/// ```
///
/// The values are `onRequest`, `whenInUse`, `always`, `denied` and `restricted`. Without a file, an
/// application is granted what it requests; an unreadable one restricts every application.
public final class SystemAuthorization: AuthorizationProvider {
  /// The default path of the administrator's file.
  public static let path = "/etc/corelocation/authorization.json"

  private let path: String

  /// Creates a provider with an administrator's file, which need not exist.
  public init(path: String = SystemAuthorization.path) { self.path = path }

  /// Returns the file's rule, unless the device is refused.
  public func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
    guard let rules = rules() else { return .restricted }
    // A missing device does not restrict anything.
    let access: AuthorizationRule =
      if case .notPermitted = scanner { .denied } else { .onRequest }
    switch rules[application] ?? rules["*"] {
    case nil: return access
    case .denied?: return .denied
    case .restricted?: return .restricted
    case let rule?: return access == .denied ? .denied : rule
    }
  }

  /// Returns the file's rules: none without a file, `nil` for an invalid one.
  private func rules() -> [String: AuthorizationRule]? {
    guard let file = FileManager.default.contents(atPath: path) else {
      return FileManager.default.fileExists(atPath: path) ? nil : [:]
    }
    let names = try? JSONDecoder().decode([String: String].self, from: file)
    let rules = names?.compactMapValues { Self.rules[$0] }
    return rules?.count == names?.count ? rules : nil
  }

  private static let rules: [String: AuthorizationRule] = [
    "onRequest": .onRequest, "whenInUse": .granted(.authorizedWhenInUse),
    "always": .granted(.authorizedAlways), "denied": .denied, "restricted": .restricted,
  ]
}
