import Dispatch
import Frontends
import Glibc
import Scanning
import ServiceCore

/// A manager of services, and the client through which the command uses them.
///
/// The sources start with ``run(while:every:_:)``: until then the client states what it needs.
final class ServiceSession {
  /// What a consumer of events wants next.
  enum Verdict { case more, enough }

  let manager: ServiceManager
  /// The client, which is added when it is used first: services are added before.
  private(set) lazy var client = manager.addClient(isReceiving: false)
  private let authorization = AuthorizationOnStart()
  /// The event that is being dealt with. A recording stands still until the next event is requested, so that what
  /// is shown of it at the end does not change meanwhile.
  private var current: ServiceDelivery?

  /// Creates a manager, with a file that keeps registered regions.
  ///
  /// - Throws: `CommandError` where the file cannot be used.
  init(
    stateFile: String? = nil, report: @escaping @Sendable (String) -> Void
  ) throws {
    var settings = ServiceManager.Configuration()
    settings.applicationIdentifier = "beaconscan"
    settings.persistence = stateFile.map { .file($0) } ?? .none
    settings.authorization = authorization
    settings.logger = diagnostics(to: report)
    manager = ServiceManager(settings)
    if let fault = manager.storageFault(waiting: true) {
      throw CommandError(.cannotCreate, fault.sentence)
    }
  }

  deinit { current?.finish() }

  /// Receives events of every service until it is enough, or until an interrupt. `isWanted` is called again and
  /// again, on any thread: where it returns `false`, the events end. An event counts as delivered when `consume`
  /// returns.
  ///
  /// - Throws: What `consume` throws, and ``CommandError/Status/noPermission`` where the system's rules forbid it.
  func run(
    while isWanted: (@Sendable () -> Bool)?, every pause: Duration = .milliseconds(100),
    _ consume: (any ServiceEvent) throws -> Verdict
  ) async throws {
    let client = client
    client.setReceiving(true)
    authorization.start()
    manager.requestAuthorization(.authorizedAlways)
    guard manager.authorizationStatus.isAuthorized else { throw Self.forbidden }
    // Without the client, its events end.
    let interrupt = Interrupt.onRequest { client.remove() }
    let watch = isWanted.map { isWanted in
      Task.detached {
        while isWanted(), !Task.isCancelled { try? await Task.sleep(for: pause) }
        if !Task.isCancelled { client.remove() }
      }
    }
    defer {
      interrupt.cancel()
      watch?.cancel()
      manager.flush()
    }
    do {
      while !Interrupt.isRequested {
        current?.finish()
        current = nil
        guard let delivery = await client.nextDelivery() else { break }
        current = delivery
        let verdict = try consume(delivery.event)
        delivery.acknowledge()
        if verdict == .enough { break }
      }
    } catch {
      await manager.stop()
      throw error
    }
    // A controller scans on without its host.
    await manager.stop()
  }

  /// The system's rules do not allow the services.
  static var forbidden: CommandError {
    CommandError(
      .noPermission,
      "the administrator does not allow beaconscan to receive; see \(SystemAuthorization.path)")
  }
}
