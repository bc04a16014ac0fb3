// Delegates that have a property of their own named locationManager, in all the ways there are.
import CoreLocation

class Plain: NSObject, CLLocationManagerDelegate {
  let locationManager = CLLocationManager()
  override init() {
    super.init()
    locationManager.delegate = self
    self.locationManager.requestWhenInUseAuthorization()
  }
  func use() {
    let manager = locationManager
    manager.startUpdatingLocation()
    let other: CLLocationManager? = locationManager
    other?.stopUpdatingLocation()
    print(locationManager, "\(locationManager)", locationManager === manager)
    if locationManager == manager, locationManager.delegate === self { take(locationManager) }
    [locationManager, manager].forEach { $0.requestLocation() }
    let status = type(of: locationManager).authorizationStatus()
    if status == .denied { locationManager(locationManager, didFailWithError: CLError(.denied)) }
    DispatchQueue.main.async { self.locationManager.startUpdatingLocation() }
    DispatchQueue.main.async { [weak self] in self?.locationManager.stopUpdatingLocation() }
    DispatchQueue.main.async { [unowned self] in take(self.locationManager) }
    let path = \Plain.locationManager
    self[keyPath: path].stopUpdatingLocation()
    let regions = locationManager.monitoredRegions.map { $0.identifier }
    print(regions.joined(separator: ","), locationManager.monitoredRegions.count)
  }
  func take(_ manager: CLLocationManager) {}
  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    if manager == locationManager { locationManager.stopUpdatingLocation() }
  }
}

class Unwrapped: NSObject, CLLocationManagerDelegate {
  @IBOutletLike var locationManager: CLLocationManager! = nil
  func use() {
    if locationManager == nil { locationManager = CLLocationManager() }
    locationManager.delegate = self
    locationManager?.startUpdatingLocation()
    locationManager!.stopUpdatingLocation()
    guard let locationManager = locationManager else { return }
    locationManager.requestLocation()
    self.locationManager.startUpdatingHeading()
  }
}

@propertyWrapper
struct IBOutletLike<Value> {
  var wrappedValue: Value
}

class Optional1: NSObject, CLLocationManagerDelegate {
  private var locationManager: CLLocationManager?
  weak var shared: CLLocationManager?
  func use() {
    locationManager = CLLocationManager()
    locationManager?.delegate = self
    locationManager?.desiredAccuracy = kCLLocationAccuracyNearestTenMeters
    if locationManager != nil { locationManager?.startUpdatingLocation() }
    if let manager = locationManager { manager.requestAlwaysAuthorization() }
    if let locationManager { locationManager.requestAlwaysAuthorization() }
    guard let manager = self.locationManager, manager.delegate === self else { return }
    (locationManager ?? manager).stopUpdatingLocation()
    locationManager.map { $0.stopUpdatingHeading() }
    switch locationManager {
    case .some(let manager): manager.requestLocation()
    case .none: break
    }
    let status = locationManager?.authorizationStatus ?? .notDetermined
    print(status.rawValue)
    locationManager = nil
  }
  deinit { locationManager?.stopUpdatingLocation() }
}

class Observed: NSObject, CLLocationManagerDelegate {
  var locationManager: CLLocationManager = CLLocationManager() {
    didSet { locationManager.delegate = self }
  }
  static let shared = Observed()
  static var locationManager: CLLocationManager { return shared.locationManager }
  fileprivate(set) lazy var second: CLLocationManager = self.locationManager
}

class Computed: NSObject, CLLocationManagerDelegate {
  private let _manager = CLLocationManager()
  var locationManager: CLLocationManager {
    get { return _manager }
    set { newValue.delegate = self }
  }
  func use() {
    locationManager.delegate = self
    locationManager = CLLocationManager()
    self.locationManager.pausesLocationUpdatesAutomatically = true
  }
}

class BaseController: NSObject {
  let locationManager = CLLocationManager()
}

class DerivedController: BaseController, CLLocationManagerDelegate {
  func use() {
    locationManager.delegate = self
    super.locationManager.startUpdatingLocation()
    let manager = locationManager
    manager.stopUpdatingLocation()
  }
}

class Generic<T>: NSObject, CLLocationManagerDelegate {
  var items: [T] = []
  var locationManager: CLLocationManager
  init(locationManager: CLLocationManager) {
    self.locationManager = locationManager
    super.init()
    locationManager.delegate = self
    let mine = self.locationManager
    mine.requestLocation()
  }
}

protocol HasManager { var locationManager: CLLocationManager { get } }
extension HasManager {
  func go() { locationManager.startUpdatingLocation() }
}
class Holder: NSObject, HasManager, CLLocationManagerDelegate {
  let locationManager: CLLocationManager = .init()
}

final class NotAnNSObject: CLLocationManagerDelegate {
  private let locationManager = FakeManager()
  var count = 0
  func use() {
    locationManager.delegate = self
    locationManager.simulateEnter(CLRegion())
    count += locationManager.started.count
  }
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    count += 1
  }
}

func useAll(_ plain: Plain, _ unwrapped: Unwrapped, _ derived: DerivedController) {
  plain.locationManager.startUpdatingLocation()
  unwrapped.locationManager?.startUpdatingLocation()
  unwrapped.locationManager = nil
  let manager = derived.locationManager
  manager.stopUpdatingLocation()
  [plain].map { $0.locationManager }.forEach { $0.stopUpdatingLocation() }
  [plain].map(\.locationManager).forEach { $0.stopUpdatingLocation() }
  plain.locationManager(manager, didFailWithError: CLError(.network))
  plain.locationManager(plain.locationManager, didUpdateLocations: [])
}
