package import Scanning
package import ServiceCore
import Synchronization

/// The system's authorization, withheld until the start. Otherwise a source could start with the
/// first of several requests, before the others are made.
package final class AuthorizationOnStart: AuthorizationProvider {
  private let system = SystemAuthorization()
  private let hasStarted = Atomic<Bool>(false)

  package init() {}

  package func start() { hasStarted.store(true, ordering: .releasing) }

  package func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
    hasStarted.load(ordering: .acquiring)
      ? system.rule(for: application, scanner: scanner) : .granted(.notDetermined)
  }
}
