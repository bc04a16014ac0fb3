import Logging
import Storage
import Synchronization

/// The database of a manager, opened at its first use. Without it, nothing outlives the process.
final class RegistrationStore: Sendable {
  let configuration: ServiceManager.Configuration
  /// The database or the reason why there is none; `nil` until it is opened.
  private let opened = Mutex<Result<Store?, StorageError>?>(nil)

  init(_ configuration: ServiceManager.Configuration) { self.configuration = configuration }

  var logger: Logger { configuration.logger }

  var isPersistent: Bool { configuration.persistence != .none }

  var database: Store? {
    let (opened, isFirst) = open()
    if isFirst, case .failure(let error) = opened {
      logger.warning("\(error); registrations do not outlive the process")
    }
    return try? opened.get()
  }

  /// Returns why the database does not work, or `nil`. With `isMade`, waits until it exists.
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

  var authorization: AuthorizationStatus? {
    database?.authorization.flatMap(AuthorizationStatus.init(rawValue:))
  }

  func write(_ changes: [Store.Change]) {
    database?.write(changes) { [logger] error in
      if let error { logger.error("\(error)") }
    }
  }
}
