import Logging
import Storage
import Synchronization

/// The database of a manager, read when it is first needed. Without one, all goes on and nothing outlives the
/// process.
final class RegistrationStore: Sendable {
  let configuration: ServiceManager.Configuration
  /// The database, or why there is none; `nil` until it is read.
  private let opened = Mutex<Result<Store?, StorageError>?>(nil)

  init(_ configuration: ServiceManager.Configuration) { self.configuration = configuration }

  var logger: Logger { configuration.logger }

  /// Whether something outlives the process.
  var isPersistent: Bool { configuration.persistence != .none }

  /// The database; `nil` where nothing outlives the process, or nothing can.
  var database: Store? {
    let (opened, isFirst) = open()
    if isFirst, case .failure(let error) = opened {
      logger.warning("\(error); registrations do not outlive the process")
    }
    return try? opened.get()
  }

  /// Why there is no database though there should be one. It is not logged, as the caller knows.
  ///
  /// - Parameter isMade: Whether to wait until the database is made.
  /// - Returns: The reason; `nil` where all is well.
  func failure(waiting isMade: Bool) -> StorageError? {
    do throws(StorageError) {
      let database = try open().result.get()
      if isMade { try database?.writeAndWait([]) }
      return database?.failure
    } catch {
      return error
    }
  }

  private func open() -> (result: Result<Store?, StorageError>, isFirst: Bool) {
    let (result, isFirst) = opened.withLock { opened in
      if let opened { return (opened, false) }
      let limits = configuration.history
      let result = Result { () throws(StorageError) -> Store? in
        switch configuration.persistence {
        case .none: nil
        case .standard:
          try Store(.application(configuration.applicationIdentifier), limits: limits)
        case .file(let path): try Store(.file(path), limits: limits)
        }
      }
      opened = result
      return (result, true)
    }
    if isFirst, case .success(let store?) = result {
      for warning in store.warnings { logger.warning("\(warning)") }
    }
    return (result, isFirst)
  }

  /// What the application was given when it requested authorization.
  var authorization: AuthorizationStatus? {
    database?.authorization.flatMap(AuthorizationStatus.init(rawValue:))
  }

  /// Writes changes; a failure is logged.
  func write(_ changes: [Store.Change]) {
    database?.write(changes) { [logger] error in
      if let error { logger.error("\(error)") }
    }
  }
}
