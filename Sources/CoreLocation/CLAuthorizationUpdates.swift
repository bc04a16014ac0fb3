import Foundation
import Synchronization

/// An asynchronous sequence with one element for the authorization at the start of an iteration, and one for every
/// change: the type of ``CLLocationUpdate/Updates``, ``CLServiceSession/Diagnostics`` and
/// ``CLBackgroundActivitySession/Diagnostics``.
public struct CLAuthorizationUpdates<Element: Sendable>: AsyncSequence, Sendable {
  let observer: @Sendable () -> AuthorizationObserver
  let element: @Sendable (CLAuthorizationStatus) -> Element

  /// Starts an iteration.
  public func makeAsyncIterator() -> Iterator {
    let observer = observer()
    return Iterator(
      observer: observer, statuses: observer.statuses().makeAsyncIterator(), element: element)
  }

  /// The iterator of the sequence.
  public struct Iterator: AsyncIteratorProtocol {
    // Keeps the observer, which has a delegate's weak reference to it, for as long as the iteration lasts.
    let observer: AuthorizationObserver
    var statuses: AsyncStream<CLAuthorizationStatus>.AsyncIterator
    let element: @Sendable (CLAuthorizationStatus) -> Element

    /// Returns the next element; `nil` after the task was canceled or the session was invalidated.
    public mutating func next() async throws -> Element? { try await next(isolation: nil) }

    /// Returns the next element; `nil` after the task was canceled or the session was invalidated.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(any Error) -> Element? {
      await statuses.next(isolation: actor).map(element)
    }
  }
}

/// Requests an authorization and reports its status to any number of iterations.
final class AuthorizationObserver: CLLocationManagerDelegate, @unchecked Sendable {
  // Sendable: the manager is used only in the initializer; what changes is in the mutex.
  private let manager: CLLocationManager
  private let state = Mutex(State())

  private struct State {
    var status: CLAuthorizationStatus?
    var listeners: [UInt64: AsyncStream<CLAuthorizationStatus>.Continuation] = [:]
    var latestListener: UInt64 = 0
    var isEnded = false
  }

  init(
    requesting requirement: CLServiceSession.AuthorizationRequirement, of manager: CLLocationManager
  ) {
    self.manager = manager
    manager.delegateQueue = DispatchQueue(label: "CoreLocation.authorization")
    manager.delegate = self
    switch requirement {
    case .none: break
    case .whenInUse: manager.requestWhenInUseAuthorization()
    case .always: manager.requestAlwaysAuthorization()
    }
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    let status = manager.authorizationStatus
    let listeners = state.withLock { state in
      state.status = status
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.yield(status) }
  }

  /// Returns the status now, as soon as it is known, and its changes. Only the latest one waits.
  func statuses() -> AsyncStream<CLAuthorizationStatus> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: CLAuthorizationStatus.self, bufferingPolicy: .bufferingNewest(1))
    let id = state.withLock { state -> UInt64? in
      guard !state.isEnded else { return nil }
      state.latestListener += 1
      state.listeners[state.latestListener] = continuation
      if let status = state.status { continuation.yield(status) }
      return state.latestListener
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
    }
    return stream
  }

  /// Ends every iteration.
  func end() {
    let listeners = state.withLock { state in
      state.isEnded = true
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }
}
