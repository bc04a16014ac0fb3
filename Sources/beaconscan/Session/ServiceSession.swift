import Dispatch
import Frontends
import Glibc
import Scanning
import ServiceCore

enum Verdict { case more, enough }

/// A manager of services, and the command's client, which states its demand before the start.
final class ServiceSession {
  let manager: ServiceManager
  /// The client, which is created on first use, after the services were added.
  private(set) lazy var client = manager.addClient(isReceiving: false)
  private let authorization = AuthorizationOnStart()
  /// The current event. A recording waits until the next one is requested, so that its state at the
  /// end does not change while it is shown.
  private var current: ServiceDelivery?

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

  /// Receives events of all services until `consume` has enough, `isWanted` returns `false`, or the
  /// user interrupts. `isWanted` is called repeatedly on any thread. An event counts as delivered
  /// when `consume` returns.
  func run(
    while isWanted: (@Sendable () -> Bool)?, every pause: Duration = .milliseconds(100),
    _ consume: (any ServiceEvent) throws -> Verdict
  ) async throws {
    let client = client
    client.setReceiving(true)
    authorization.start()
    manager.requestAuthorization(.authorizedAlways)
    guard manager.authorizationStatus.isAuthorized else { throw Self.forbidden }
    // Removing the client ends its events.
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
    // A controller would continue to scan without its host.
    await manager.stop()
  }

  static var forbidden: CommandError {
    CommandError(
      .noPermission,
      "the administrator does not allow beaconscan to receive; see \(SystemAuthorization.path)")
  }
}
