import Foundation

/// Beacons that were ranged at a moment, for those who would rather iterate than be a delegate.
///
/// ```swift
/// let lobby = CLBeaconIdentityConstraint(uuid: uuid, major: 1)
/// for try await update in CLBeaconUpdate.liveUpdates(satisfying: lobby) {
///   show(update.beacons.first)
/// }
/// ```
///
/// Apple's systems have no such type; it is made as their `CLLocationUpdate` is.
public struct CLBeaconUpdate: Sendable {
  /// The beacons, the closest first, those of unknown proximity last.
  public let beacons: [CLBeacon]
  /// Which beacons were asked for.
  public let constraint: CLBeaconIdentityConstraint

  /// Ranges beacons as long as somebody iterates: an update comes once a second, with an empty list too.
  ///
  /// An iteration that lags behind finds the latest ``mostWaiting`` updates.
  ///
  /// - Parameters:
  ///   - constraint: Which beacons.
  ///   - services: The services, where they are not the process's own, as in tests.
  /// - Returns: The updates. It ends by ``CLError`` where ranging is refused or fails.
  public static func liveUpdates(
    satisfying constraint: CLBeaconIdentityConstraint, services: LocationServices? = nil
  ) -> Updates {
    Updates(constraint: constraint, services: services ?? .shared)
  }

  /// The most updates that wait for a slow iteration: a minute of them.
  public static let mostWaiting = 60

  /// The updates of a constraint.
  public struct Updates: AsyncSequence, Sendable {
    /// What it gives.
    public typealias Element = CLBeaconUpdate

    let constraint: CLBeaconIdentityConstraint
    let services: LocationServices

    /// Begins to range.
    ///
    /// - Returns: What gives the updates; ranging ends when it is let go of.
    public func makeAsyncIterator() -> Iterator {
      let (stream, continuation) = AsyncThrowingStream.makeStream(
        of: CLBeaconUpdate.self, bufferingPolicy: .bufferingNewest(CLBeaconUpdate.mostWaiting))
      let ranging = Ranging(constraint, services, continuation)
      // The stream keeps what ranges, and lets go of it when the iteration ends.
      continuation.onTermination = { _ in ranging.end() }
      return Iterator(base: stream.makeAsyncIterator())
    }

    /// Gives one update after the other.
    public struct Iterator: AsyncIteratorProtocol {
      var base: AsyncThrowingStream<CLBeaconUpdate, any Error>.AsyncIterator

      /// The next update; `nil` when the task is cancelled.
      ///
      /// - Returns: The update.
      /// - Throws: ``CLError`` where ranging is refused or fails.
      public mutating func next() async throws -> CLBeaconUpdate? {
        try await next(isolation: nil)
      }

      /// The next update; `nil` when the task is cancelled.
      ///
      /// - Parameter actor: Where it is called from.
      /// - Returns: The update.
      /// - Throws: ``CLError`` where ranging is refused or fails.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(any Error) -> CLBeaconUpdate? {
        try await base.next(isolation: actor)
      }
    }
  }
}

/// A manager and its delegate, for one iteration.
private final class Ranging: CLLocationManagerDelegate, @unchecked Sendable {
  // Sendable: nothing stored here changes, and the manager's own methods can be called on any thread.
  private let manager: CLLocationManager
  private let constraint: CLBeaconIdentityConstraint
  private let continuation: AsyncThrowingStream<CLBeaconUpdate, any Error>.Continuation

  init(
    _ constraint: CLBeaconIdentityConstraint, _ services: LocationServices,
    _ continuation: AsyncThrowingStream<CLBeaconUpdate, any Error>.Continuation
  ) {
    (self.constraint, self.continuation) = (constraint, continuation)
    manager = CLLocationManager(services: services)
    manager.delegateQueue = DispatchQueue(label: "CoreLocation.updates")
    manager.delegate = self
    manager.startRangingBeacons(satisfying: constraint)
  }

  func end() {
    manager.stopRangingBeacons(satisfying: constraint)
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    switch manager.authorizationStatus {
    case .denied, .restricted: continuation.finish(throwing: CLError(.denied)._nsError)
    case .notDetermined, .authorizedWhenInUse, .authorizedAlways: break
    }
  }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    continuation.yield(CLBeaconUpdate(beacons: beacons, constraint: constraint))
  }

  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) {
    continuation.finish(throwing: error)
  }
}
