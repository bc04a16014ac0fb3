import ServiceCore
import Synchronization

/// A requested authorization, and the iterations over its changes.
final class AuthorizationObserver: Sendable {
  private let services: LocationServices
  /// The iterations, by the identifiers of their clients; `nil` after the end.
  private let iterations = Mutex<
    [ClientIdentifier: AsyncStream<CLAuthorizationStatus>.Continuation]?
  >([:])

  init(
    requesting requirement: CLServiceSession.AuthorizationRequirement, of services: LocationServices
  ) {
    self.services = services
    switch requirement {
    case .none: break
    case .whenInUse: services.core.requestAuthorization(.authorizedWhenInUse)
    case .always: services.core.requestAuthorization(.authorizedAlways)
    }
  }

  /// Returns the current status, and its changes, of which only the latest waits.
  func statuses() -> AsyncStream<CLAuthorizationStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      guard iterations.withLock({ $0 != nil }) else { return continuation.finish() }
      let client = services.core.addClient(in: .observers, isReceiving: false) { delivery in
        if let event = delivery.event as? AuthorizationEvent {
          continuation.yield(CLAuthorizationStatus(event.status))
        }
        delivery.complete()
      }
      // The stream keeps the observer, and releases it when the iteration ends.
      continuation.onTermination = { [self] _ in
        client.remove()
        _ = iterations.withLock { $0?.removeValue(forKey: client.identifier) }
      }
      let isEnded = iterations.withLock { iterations in
        iterations?[client.identifier] = continuation
        return iterations == nil
      }
      if isEnded { continuation.finish() }
    }
  }

  func end() {
    let ended = iterations.withLock { iterations in
      defer { iterations = nil }
      return iterations ?? [:]
    }
    for continuation in ended.values { continuation.finish() }
  }
}
