// As in 2016: a singleton, implicitly unwrapped, notifications, every old initialiser.
import CoreLocation

public let beaconsDidChangeNotification = Notification.Name("beaconsDidChange")

open class BeaconSingleton: NSObject, CLLocationManagerDelegate {
  public static let sharedInstance = BeaconSingleton()

  var locationManager: CLLocationManager!
  var region: CLBeaconRegion?
  public var lastBeacons = [CLBeacon]()
  public var lastState = "none"

  private override init() {
    super.init()
    self.locationManager = CLLocationManager()
    self.locationManager.delegate = self
    self.locationManager.pausesLocationUpdatesAutomatically = false
    self.locationManager.desiredAccuracy = kCLLocationAccuracyBest
    self.locationManager.distanceFilter = kCLDistanceFilterNone
    if CLLocationManager.authorizationStatus() == .notDetermined {
      self.locationManager.requestAlwaysAuthorization()
    }
  }

  func begin() {
    guard let uuid = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0") else { return }
    let all = CLBeaconRegion(proximityUUID: uuid, identifier: "all")
    let group = CLBeaconRegion(proximityUUID: uuid, major: 1, identifier: "group")
    region = CLBeaconRegion(
      proximityUUID: uuid, major: CLBeaconMajorValue(1), minor: CLBeaconMinorValue(2),
      identifier: "one")
    region?.notifyOnEntry = true
    region!.notifyOnExit = true
    region?.notifyEntryStateOnDisplay = true
    for each in [all, group, region!] {
      locationManager.startMonitoring(for: each)
      locationManager.startRangingBeacons(in: each)
      locationManager.requestState(for: each)
    }
  }

  func end() {
    for region in locationManager.monitoredRegions {
      locationManager.stopMonitoring(for: region)
    }
    for case let region as CLBeaconRegion in locationManager.rangedRegions {
      locationManager.stopRangingBeacons(in: region)
    }
  }

  public func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) {
    if status == .authorizedAlways || status == .authorizedWhenInUse || status == .authorized {
      if CLLocationManager.isMonitoringAvailable(for: CLBeaconRegion.self) {
        if CLLocationManager.isRangingAvailable() { begin() }
      }
    }
  }

  public func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) {
    let known = beacons.filter { $0.proximity != CLProximity.unknown }
    lastBeacons = known
    if known.count > 0 {
      let closest = known[0] as CLBeacon
      NotificationCenter.default.post(
        name: beaconsDidChangeNotification, object: self,
        userInfo: ["major": closest.major.intValue, "uuid": closest.proximityUUID.uuidString])
    }
  }

  public func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    lastState = "in \(region.identifier)"
    if let beaconRegion = region as? CLBeaconRegion {
      manager.startRangingBeacons(in: beaconRegion)
    }
  }

  public func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    lastState = "out \(region.identifier)"
    guard region is CLBeaconRegion else { return }
    manager.stopRangingBeacons(in: region as! CLBeaconRegion)
  }

  public func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    switch state {
    case .inside: lastState = "inside"
    case .outside: lastState = "outside"
    case .unknown: lastState = "unknown"
    }
  }

  public func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: Error
  ) {
    print("ranging failed: \(error.localizedDescription)")
  }

  public func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: Error
  ) {
    print("Failed monitoring region: \(region?.identifier ?? "?") \(error)")
  }

  public func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    print("Location manager failed: \(error.localizedDescription)")
  }
}
