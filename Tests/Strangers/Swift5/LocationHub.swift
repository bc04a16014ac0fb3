// The object that an app keeps for its whole life: closures for its screens, and permission on the way.
import CoreLocation

public final class LocationHub: NSObject {
  public static let shared = LocationHub()

  public var onStatus: ((CLAuthorizationStatus) -> Void)?
  public var onLocation: ((CLLocation) -> Void)?
  public var onError: ((CLError.Code) -> Void)?
  public private(set) var lastLocation: CLLocation?
  private let manager: CLLocationManager
  private var isWanted = false

  public init(manager: CLLocationManager = CLLocationManager()) {
    self.manager = manager
    super.init()
    self.manager.delegate = self
    self.manager.desiredAccuracy = kCLLocationAccuracyBest
    self.manager.distanceFilter = 10
    self.manager.allowsBackgroundLocationUpdates = true
    self.manager.pausesLocationUpdatesAutomatically = false
  }

  public func start() {
    isWanted = true
    switch manager.authorizationStatus {
    case .notDetermined: manager.requestWhenInUseAuthorization()
    case .authorizedWhenInUse, .authorizedAlways: manager.startUpdatingLocation()
    case .denied, .restricted: onStatus?(manager.authorizationStatus)
    @unknown default: assertionFailure()
    }
  }

  public func stop() {
    isWanted = false
    manager.stopUpdatingLocation()
  }
}

extension LocationHub: CLLocationManagerDelegate {
  public func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    onStatus?(manager.authorizationStatus)
    if isWanted, manager.authorizationStatus != .notDetermined { start() }
  }

  public func locationManager(
    _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
  ) {
    dispatchPrecondition(condition: .onQueue(.main))
    guard let location = locations.last else { return }
    lastLocation = location
    onLocation?(location)
  }

  public func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    guard let error = error as? CLError else { return }
    if error.code == .denied { stop() }
    onError?(error.code)
  }
}
