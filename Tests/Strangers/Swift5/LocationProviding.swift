// The manager behind a protocol, so that tests need no satellites.
import CoreLocation

protocol LocationProviding: AnyObject {
  var delegate: CLLocationManagerDelegate? { get set }
  var location: CLLocation? { get }
  var desiredAccuracy: CLLocationAccuracy { get set }
  var distanceFilter: CLLocationDistance { get set }
  var authorizationStatus: CLAuthorizationStatus { get }
  func requestWhenInUseAuthorization()
  func startUpdatingLocation()
  func stopUpdatingLocation()
}

extension CLLocationManager: LocationProviding {}

/// Plays a list of locations to its delegate, as tests have it.
final class PlayedManager: LocationProviding {
  weak var delegate: CLLocationManagerDelegate?
  var desiredAccuracy = kCLLocationAccuracyBest
  var distanceFilter = kCLDistanceFilterNone
  private(set) var location: CLLocation?
  private(set) var authorizationStatus: CLAuthorizationStatus = .notDetermined
  private let script: [CLLocation]
  private let real = CLLocationManager()

  init(_ script: [CLLocation]) { self.script = script }

  func requestWhenInUseAuthorization() { authorizationStatus = .authorizedWhenInUse }

  func startUpdatingLocation() {
    for location in script {
      self.location = location
      delegate?.locationManager?(real, didUpdateLocations: [location])
    }
  }

  func stopUpdatingLocation() {}
}

/// Says how far it is to a place: the same with any provider.
final class DistanceLeft: NSObject, CLLocationManagerDelegate {
  let target: CLLocation
  private(set) var distances: [CLLocationDistance] = []
  private let provider: LocationProviding

  init(to target: CLLocation, provider: LocationProviding) {
    self.target = target
    self.provider = provider
    super.init()
    provider.delegate = self
    provider.requestWhenInUseAuthorization()
    provider.startUpdatingLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    distances += locations.map { target.distance(from: $0) }
    if let last = distances.last, last < 50 { provider.stopUpdatingLocation() }
  }
}
