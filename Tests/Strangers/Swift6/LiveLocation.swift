// Live updates, sessions and an observable model, with no other import.
import CoreLocation

@Observable @MainActor
final class LiveLocation {
  private(set) var place: CLLocation?
  private(set) var isMoving = false
  private(set) var problem: String?
  private var task: Task<Void, Never>?
  private var session: CLServiceSession?
  private var background: CLBackgroundActivitySession?

  func start() {
    session = CLServiceSession(authorization: .whenInUse, fullAccuracyPurposeKey: "navigation")
    background = CLBackgroundActivitySession()
    task = Task {
      do {
        for try await update in CLLocationUpdate.liveUpdates(.automotiveNavigation) {
          if let location = update.location { place = location }
          isMoving = !update.isStationary && !update.stationary
          problem = Self.problem(update)
        }
      } catch {
        problem = error.localizedDescription
      }
    }
  }

  func stop() {
    task?.cancel()
    session?.invalidate()
    background?.invalidate()
    (session, background) = (nil, nil)
  }

  nonisolated static func problem(_ update: CLLocationUpdate) -> String? {
    if update.authorizationDenied || update.authorizationDeniedGlobally { return "denied" }
    if update.authorizationRestricted { return "restricted" }
    if update.authorizationRequestInProgress { return "asking" }
    if update.insufficientlyInUse || update.serviceSessionRequired { return "not in use" }
    if update.accuracyLimited { return "approximate" }
    return update.locationUnavailable ? "unavailable" : nil
  }
}

func watch(_ session: CLServiceSession) async throws -> Bool {
  for try await diagnostic in session.diagnostics {
    if diagnostic.authorizationRequestInProgress { continue }
    return diagnostic.authorizationDenied || diagnostic.alwaysAuthorizationDenied
      || diagnostic.fullAccuracyDenied || diagnostic.serviceSessionRequired
      || diagnostic.insufficientlyInUse || diagnostic.authorizationDeniedGlobally
      || diagnostic.authorizationRestricted
  }
  return true
}

func watchBackground(_ session: CLBackgroundActivitySession) async throws {
  for try await diagnostic in session.diagnostics where diagnostic.authorizationDenied { return }
}

func places() -> AsyncThrowingCompactMapSequence<CLLocationUpdate.Updates, CLLocation> {
  CLLocationUpdate.liveUpdates().compactMap { $0.location }
}

func requirement(_ always: Bool) -> CLServiceSession.AuthorizationRequirement {
  always ? .always : .none
}

final class CountingManager6: CLLocationManager { var x = 0 }

final class PreparedManager: CLLocationManager {
  let started: Date
  init(started: Date) { self.started = started }
}

protocol LocationManaging: AnyObject {
  var delegate: (any CLLocationManagerDelegate)? { get set }
  func requestTemporaryFullAccuracyAuthorization(withPurposeKey: String)
  func requestTemporaryFullAccuracyAuthorization(withPurposeKey: String) async throws
  func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey: String, completion: (((any Error)?) -> Void)?)
}
extension CLLocationManager: LocationManaging {}
