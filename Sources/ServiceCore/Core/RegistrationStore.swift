import Logging
import Storage
import Synchronization

/// The database of a manager, read when it is first needed. Without one, all goes on and nothing outlives the
/// process.
final class RegistrationStore: Sendable {
  private let configuration: ServiceManager.Configuration
  /// The database, or why there is none; `nil` until it is read.
  private let opened = Mutex<Result<ServiceStore?, StorageError>?>(nil)
  /// The number of the latest event without a database.
  private let latestSerial = Atomic<Int64>(0)

  init(_ configuration: ServiceManager.Configuration) { self.configuration = configuration }

  var logger: Logger { configuration.logger }

  /// The database; `nil` where nothing outlives the process, or nothing can.
  var database: ServiceStore? {
    let (opened, isFirst) = open()
    if isFirst, case .failure(let error) = opened {
      logger.warning("\(error); registrations do not outlive the process")
    }
    return try? opened.get()
  }

  /// Why there is no database though there should be one. It is not logged, as the caller knows.
  var failure: StorageError? {
    do throws(StorageError) {
      try open().result.get()?.writeAndWait([])
      return nil
    } catch {
      return error
    }
  }

  private func open() -> (result: Result<ServiceStore?, StorageError>, isFirst: Bool) {
    let (result, isFirst) = opened.withLock { opened in
      if let opened { return (opened, false) }
      let result = Result { () throws(StorageError) -> ServiceStore? in
        switch configuration.persistence {
        case .none: nil
        case .standard: try ServiceStore(.application(configuration.applicationIdentifier))
        case .file(let path): try ServiceStore(.file(path))
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

  /// Returns the number of a new event, higher than those of earlier ones.
  func nextSerial() -> Int64 {
    database?.nextSerial() ?? latestSerial.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Writes changes, soon; a failure is logged. The completion follows those of earlier writes.
  func write(_ changes: [ServiceStore.Change], then completion: @escaping @Sendable () -> Void = {})
  {
    guard let database else { return completion() }
    database.write(changes) { [logger] error in
      if let error { logger.error("\(error)") }
      completion()
    }
  }

  /// Writes changes before it returns; a failure is logged.
  func writeAndWait(_ changes: [ServiceStore.Change]) {
    guard !changes.isEmpty else { return }
    do throws(StorageError) {
      try database?.writeAndWait(changes)
    } catch {
      logger.error("\(error)")
    }
  }
}
