// A dependency of closures: the live one has a manager, others are made up.
import CoreLocation

struct LocationClient: Sendable {
  enum Event: Sendable, Equatable {
    case authorization(CLAuthorizationStatus)
    case locations([Double])
    case entered(String)
    case exited(String)
    case visited(isArrival: Bool)
    case failed(CLError.Code)
  }

  var events: @Sendable () -> AsyncStream<Event>
  var requestAuthorization: @Sendable () async -> Void
  var startUpdates: @Sendable () async -> Void
  var stopUpdates: @Sendable () async -> Void
  var monitor: @Sendable (CLCircularRegion) async -> Void
}

extension LocationClient {
  @MainActor
  static func live(_ makeManager: () -> CLLocationManager = { CLLocationManager() }) -> Self {
    let manager = makeManager()
    let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
    let delegate = Delegate(continuation)
    manager.delegate = delegate
    return Self(
      events: { [delegate] in
        _ = delegate
        return stream
      },
      requestAuthorization: { @MainActor in manager.requestAlwaysAuthorization() },
      startUpdates: { @MainActor in manager.startUpdatingLocation() },
      stopUpdates: { @MainActor in manager.stopUpdatingLocation() },
      monitor: { @MainActor in manager.startMonitoring(for: $0) })
  }

  static func scripted(_ events: [Event]) -> Self {
    Self(
      events: {
        AsyncStream { continuation in
          for event in events { continuation.yield(event) }
          continuation.finish()
        }
      }, requestAuthorization: {}, startUpdates: {}, stopUpdates: {}, monitor: { _ in })
  }

  private final class Delegate: NSObject, CLLocationManagerDelegate, Sendable {
    let continuation: AsyncStream<Event>.Continuation

    init(_ continuation: AsyncStream<Event>.Continuation) { self.continuation = continuation }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
      continuation.yield(.authorization(manager.authorizationStatus))
    }
    func locationManager(
      _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
    ) {
      continuation.yield(.locations(locations.map(\.coordinate.latitude)))
    }
    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
      continuation.yield(.entered(region.identifier))
    }
    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
      continuation.yield(.exited(region.identifier))
    }
    func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
      continuation.yield(.visited(isArrival: visit.departureDate == .distantFuture))
    }
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
      continuation.yield(.failed((error as? CLError)?.code ?? .locationUnknown))
    }
  }
}
