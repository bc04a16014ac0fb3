// More places than an app may monitor: the nearest ones are monitored, and exchanged on the way.
import CoreLocation

struct Shop {
  let name: String
  let center: CLLocationCoordinate2D
  var radius: CLLocationDistance = 100

  var region: CLCircularRegion {
    let region = CLCircularRegion(center: center, radius: radius, identifier: "shop." + name)
    region.notifyOnEntry = true
    region.notifyOnExit = true
    return region
  }
}

final class NearestGeofences: NSObject, CLLocationManagerDelegate {
  static let limit = 20

  let shops: [Shop]
  private(set) var diary: [String] = []
  private(set) var mostMonitored = 0
  private(set) var exchanges = 0
  private let manager: CLLocationManager

  init(shops: [Shop], manager: CLLocationManager = CLLocationManager()) {
    self.shops = shops
    self.manager = manager
    super.init()
    manager.delegate = self
    manager.distanceFilter = 500
    manager.desiredAccuracy = kCLLocationAccuracyNearestTenMeters
    manager.activityType = .automotiveNavigation
    manager.requestAlwaysAuthorization()
  }

  func start() { manager.startUpdatingLocation() }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    guard let here = locations.last else { return }
    let nearest = shops.map { ($0, distance($0, here)) }.sorted { $0.1 < $1.1 }
      .prefix(Self.limit).map { $0.0 }
    let wanted = Set(nearest.map { $0.region.identifier })
    let monitored = manager.monitoredRegions.compactMap { $0 as? CLCircularRegion }
    for region in monitored where !wanted.contains(region.identifier) {
      manager.stopMonitoring(for: region)
      exchanges += 1
    }
    let known = Set(monitored.map { $0.identifier })
    for shop in nearest where !known.contains(shop.region.identifier) {
      manager.startMonitoring(for: shop.region)
    }
    mostMonitored = max(mostMonitored, manager.monitoredRegions.count)
  }

  private func distance(_ shop: Shop, _ here: CLLocation) -> CLLocationDistance {
    return here.distance(
      from: CLLocation(latitude: shop.center.latitude, longitude: shop.center.longitude))
  }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    guard let circle = region as? CLCircularRegion, circle.radius == 100 else { return }
    diary.append("in " + circle.identifier)
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    if region is CLCircularRegion { diary.append("out " + region.identifier) }
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: Error
  ) {
    diary.append("failed " + (region?.identifier ?? "?"))
  }
}
