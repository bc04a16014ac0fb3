package import Scanning
package import ServiceCore
import Synchronization

/// The system's authorization, but nothing before the start: a source that starts with the first of several
/// requests would be ahead of the others.
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
