import ServiceCore
import Synchronization

/// An update of the location, or of the reasons that there is none.
///
/// An iteration gets an update for each location, and one without a location at its start, after
/// each change of the authorization, and when the location can no longer be found. When updates
/// pause because the device does not move, it gets one with the last location that
/// ``isStationary``.
public struct CLLocationUpdate: Sendable {
  /// The kind of movement that updates suit.
  public enum LiveConfiguration: Hashable, Sendable {
    /// No particular kind of movement.
    case `default`
    /// Driving on roads.
    case automotiveNavigation
    /// Movement by boat, by train or off the road.
    case otherNavigation
    /// Walking, running and cycling as a sport.
    case fitness
    /// Flying.
    case airborne
  }

  /// The asynchronous sequence of updates.
  public typealias Updates = CLUpdates<CLLocationUpdate>

  /// The location; `nil` if it is not available.
  public let location: CLLocation?
  /// A Boolean value that indicates whether the device does not move.
  public let isStationary: Bool
  /// A Boolean value that indicates whether the device does not move.
  public var stationary: Bool { isStationary }
  /// A Boolean value that indicates whether the app may not use location services.
  public var authorizationDenied: Bool { status == .denied }
  /// A Boolean value that indicates whether the device's location services are off: `false` here.
  public var authorizationDeniedGlobally: Bool { false }
  /// A Boolean value that indicates whether location services are restricted for the app.
  public var authorizationRestricted: Bool { status == .restricted }
  /// A Boolean value that indicates whether the app has only an approximate location: `false` here.
  public var accuracyLimited: Bool { false }
  /// A Boolean value that indicates whether the app is not enough in use: `false` here.
  public var insufficientlyInUse: Bool { false }
  /// A Boolean value that indicates whether the location cannot be found now.
  public var locationUnavailable: Bool { location == nil }
  /// A Boolean value that indicates whether a service session is required: `false` here.
  public var serviceSessionRequired: Bool { false }
  /// A Boolean value that indicates whether the authorization is not decided yet.
  public var authorizationRequestInProgress: Bool { status == .notDetermined }

  let status: CLAuthorizationStatus

  /// Starts location updates for every iteration of the result, and requests the authorization when
  /// in use.
  ///
  /// The configuration determines when updates pause. The latest 60 updates wait for a slow
  /// iteration; a recording waits for it.
  public static func liveUpdates(_ configuration: LiveConfiguration = .default) -> Updates {
    liveUpdates(configuration, of: { .shared })
  }

  static func liveUpdates(
    _ configuration: LiveConfiguration = .default,
    of services: @escaping @Sendable () -> LocationServices
  ) -> Updates {
    Updates {
      let (stream, continuation) = AsyncStream.makeStream(
        of: CLLocationUpdate.self, bufferingPolicy: .bufferingNewest(maximumWaiting))
      let locating = Locating(configuration, services(), continuation)
      continuation.onTermination = { _ in locating.end() }
      var updates = stream.makeAsyncIterator()
      return { [pace = locating.pace] in
        pace?.request()
        return await updates.next(isolation: #isolation)
      }
    }
  }

  /// The maximum number of updates that wait for a slow iteration: those of a minute.
  static let maximumWaiting = 60
}

/// A manager and its delegate, for one iteration.
private final class Locating: CLLocationManagerDelegate, @unchecked Sendable {
  // Sendable: `latest` is locked, and the manager is configured before it has a delegate.
  private let manager: CLLocationManager
  private let continuation: AsyncStream<CLLocationUpdate>.Continuation
  /// The pace of the iteration if a recording waits for it; otherwise `nil`.
  let pace: IterationPace?
  private let latest = Mutex<(location: CLLocation?, status: CLAuthorizationStatus)>(
    (nil, .notDetermined))

  init(
    _ configuration: CLLocationUpdate.LiveConfiguration, _ services: LocationServices,
    _ continuation: AsyncStream<CLLocationUpdate>.Continuation
  ) {
    self.continuation = continuation
    pace = services.locations.isRecorded ? IterationPace() : nil
    manager = CLLocationManager(using: services, in: .observers)
    manager.delegateQueue = DispatchQueue(label: "CoreLocation.updates")
    manager.activityType =
      switch configuration {
      case .default: .other
      case .automotiveNavigation: .automotiveNavigation
      case .otherNavigation: .otherNavigation
      case .fitness: .fitness
      case .airborne: .airborne
      }
    manager.delegate = self
    manager.requestWhenInUseAuthorization()
  }

  func end() {
    manager.stopUpdatingLocation()
    pace?.end()
  }

  private func yield(
    _ location: CLLocation? = nil, isStationary: Bool = false,
    _ status: CLAuthorizationStatus? = nil
  ) {
    continuation.yield(
      CLLocationUpdate(
        location: location, isStationary: isStationary,
        status: status ?? latest.withLock { $0.status }))
    pace?.wait()
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    let status = manager.authorizationStatus
    latest.withLock { $0.status = status }
    yield()
    switch status {
    case .authorizedWhenInUse, .authorizedAlways: manager.startUpdatingLocation()
    case .notDetermined, .denied, .restricted: break
    }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    for location in locations { yield(location) }
    latest.withLock { $0.location = locations.last }
  }

  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {
    yield(latest.withLock { $0.location }, isStationary: true)
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    // A change of the authorization has its own update; a refusal by the source has none.
    let isRefused = (error as? CLError)?.code == .denied
    let status = latest.withLock { $0.status }
    if isRefused, status == .denied || status == .restricted { return }
    yield(nil, isRefused ? .denied : nil)
  }
}

/// The pace of an iteration, for which a recording waits as it waits for delegates.
private final class IterationPace: Sendable {
  private let state = Mutex((hasStarted: false, isOver: false))
  private let isRequested = DispatchSemaphore(value: 0)

  /// Records that the iteration requests its next element: it has dealt with the one before.
  func request() {
    let isFirst = state.withLock { state in
      defer { state.hasStarted = true }
      return !state.hasStarted
    }
    if !isFirst { isRequested.signal() }
  }

  /// Waits until the iteration has dealt with the last element. One thread at a time may wait.
  func wait() {
    guard state.withLock({ !$0.isOver }) else { return }
    isRequested.wait()
  }

  func end() {
    state.withLock { $0.isOver = true }
    isRequested.signal()
  }
}
