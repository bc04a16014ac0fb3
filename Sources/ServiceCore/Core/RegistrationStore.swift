import Logging
import Storage
import Synchronization

/// The database of a manager, opened when it is first needed. Without one, all goes on and nothing outlives
/// the process.
final class RegistrationStore: Sendable {
  private enum State {
    case unopened
    case open(ServiceStore)
    case closed(StorageError?)
  }

  private let configuration: ServiceManager.Configuration
  private let state = Mutex(State.unopened)

  init(_ configuration: ServiceManager.Configuration) { self.configuration = configuration }

  var logger: Logger { configuration.logger }

  /// The database; `nil` where nothing outlives the process, or nothing can.
  var database: ServiceStore? { open(logsFailure: true) }

  /// Opens the database, once.
  private func open(logsFailure: Bool) -> ServiceStore? {
    let (store, warnings): (ServiceStore?, [String]) = state.withLock { state in
      switch state {
      case .open(let store): return (store, [])
      case .closed: return (nil, [])
      case .unopened: break
      }
      do throws(StorageError) {
        let store: ServiceStore
        switch configuration.persistence {
        case .none:
          state = .closed(nil)
          return (nil, [])
        case .standard: store = try ServiceStore(.application(configuration.applicationIdentifier))
        case .file(let path): store = try ServiceStore(.file(path))
        }
        state = .open(store)
        return (store, store.warnings)
      } catch {
        state = .closed(error)
        return (nil, logsFailure ? ["\(error); registrations do not outlive the process"] : [])
      }
    }
    for warning in warnings { logger.warning("\(warning)") }
    return store
  }

  /// Why there is no database though there should be one. It is not logged, as the caller knows.
  var failure: String? {
    _ = open(logsFailure: false)
    return state.withLock { state in
      if case .closed(let error?) = state { "\(error)" } else { nil }
    }
  }

  /// What the application was given when it requested authorization.
  var authorization: AuthorizationStatus? {
    database?.authorization.flatMap(AuthorizationStatus.init(stored:))
  }

  func setAuthorization(_ status: AuthorizationStatus) { write([.setAuthorization(status.stored)]) }

  /// Writes changes, soon; a failure is logged. The completion follows those of earlier writes.
  func write(_ changes: [ServiceStore.Change], then completion: (@Sendable () -> Void)? = nil) {
    guard let database else {
      completion?()
      return
    }
    database.write(changes) { [logger] error in
      if let error { logger.error("\(error)") }
      completion?()
    }
  }

  /// Writes changes before it returns; a failure is logged.
  func writeAndWait(_ changes: [ServiceStore.Change]) {
    guard let database, !changes.isEmpty else { return }
    do throws(StorageError) {
      try database.writeAndWait(changes)
    } catch {
      logger.error("\(error)")
    }
  }

  func markDelivered(_ serial: Int64) { database?.markDelivered(serial) }

  func flush() {
    if case .open(let store) = state.withLock({ $0 }) { store.flush() }
  }
}

extension AuthorizationStatus {
  init?(stored name: String) {
    switch name {
    case "always": self = .authorizedAlways
    case "whenInUse": self = .authorizedWhenInUse
    default: return nil
    }
  }

  /// The name under which the store keeps what an application was given.
  var stored: String? {
    switch self {
    case .authorizedAlways: "always"
    case .authorizedWhenInUse: "whenInUse"
    case .notDetermined, .restricted, .denied: nil
    }
  }
}
