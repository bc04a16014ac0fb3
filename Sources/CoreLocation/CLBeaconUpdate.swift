import Foundation
import Scanning

/// A report of ranged beacons, or of the reason that there is none, in an asynchronous sequence.
///
/// ```swift
/// let lobby = CLBeaconIdentityConstraint(uuid: uuid, major: 1)
/// for try await update in CLBeaconUpdate.liveUpdates(satisfying: lobby) {
///   show(update.beacons.first)
/// }
/// ```
///
/// Apple's systems have no such type; it follows their `CLLocationUpdate`.
public struct CLBeaconUpdate: Sendable {
  /// The beacons, the closest first, those of unknown proximity last.
  public let beacons: [CLBeacon]
  /// The constraint that the beacons satisfy.
  public let constraint: CLBeaconIdentityConstraint
  /// The reason that beacons cannot be ranged now, as a sentence; `nil` while they are ranged.
  public let error: CLError?
  /// A Boolean value that indicates whether the app may not use location services.
  public var authorizationDenied: Bool { status == .denied }
  /// A Boolean value that indicates whether location services are restricted for the app.
  public var authorizationRestricted: Bool { status == .restricted }
  /// A Boolean value that indicates whether the authorization is not decided yet.
  public var authorizationRequestInProgress: Bool { status == .notDetermined }

  let status: CLAuthorizationStatus

  /// Ranges beacons during an iteration, with the process's own services unless others are given.
  ///
  /// An update comes once a second, also with an empty list. While beacons cannot be ranged, each
  /// reason produces one update without beacons and with the ``error``; lists resume when the
  /// reason is gone. The latest ``maximumWaiting`` updates wait for a slow iteration; a recording
  /// waits for the iteration, so it loses none.
  public static func liveUpdates(
    satisfying constraint: CLBeaconIdentityConstraint, services: LocationServices? = nil
  ) -> Updates {
    let services = services ?? .shared
    return Updates(paced: { pace in
      AsyncStream(bufferingPolicy: .bufferingNewest(maximumWaiting)) { continuation in
        let ranging = Ranging(constraint, services, continuation, pace)
        // The stream keeps `ranging`, and releases it when the iteration ends.
        continuation.onTermination = { _ in
          ranging.end()
          pace.end()
        }
      }
    })
  }

  /// The maximum number of updates that wait for a slow iteration: those of a minute.
  public static let maximumWaiting = 60

  /// The asynchronous sequence of updates.
  public typealias Updates = CLUpdates<CLBeaconUpdate>
}

/// A manager and its delegate, for one iteration.
private final class Ranging: CLLocationManagerDelegate, @unchecked Sendable {
  // Sendable: no stored value changes, and the manager's methods can be called on any thread.
  private let manager: CLLocationManager
  private let constraint: CLBeaconIdentityConstraint
  private let continuation: AsyncStream<CLBeaconUpdate>.Continuation
  /// The pace of the iteration if a recording waits for it; otherwise `nil`.
  private let pace: IterationPace?

  init(
    _ constraint: CLBeaconIdentityConstraint, _ services: LocationServices,
    _ continuation: AsyncStream<CLBeaconUpdate>.Continuation, _ pace: IterationPace
  ) {
    (self.constraint, self.continuation) = (constraint, continuation)
    self.pace = services.scanner?.isRecorded == true ? pace : nil
    manager = CLLocationManager(using: services, in: .observers)
    manager.delegateQueue = DispatchQueue(label: "CoreLocation.updates")
    manager.delegate = self
    manager.startRangingBeacons(satisfying: constraint)
  }

  func end() { manager.stopRangingBeacons(satisfying: constraint) }

  private func yield(_ beacons: [CLBeacon], _ error: CLError? = nil) {
    continuation.yield(
      CLBeaconUpdate(
        beacons: beacons, constraint: constraint, error: error,
        status: manager.authorizationStatus))
    pace?.wait()
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    switch manager.authorizationStatus {
    case .denied, .restricted: yield([], CLError(.denied))
    case .notDetermined: yield([])
    // A start that was refused before must be repeated.
    case .authorizedWhenInUse, .authorizedAlways:
      manager.startRangingBeacons(satisfying: constraint)
    }
  }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) { yield(beacons) }

  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) {
    // A change of the authorization has its own update.
    guard let error = error as? CLError, error.code != .denied else { return }
    yield([], error)
  }
}
