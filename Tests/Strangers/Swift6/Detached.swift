// Values that cross from one task to another.
import CoreLocation

func detached(_ beacon: CLBeacon, _ location: CLLocation) async -> (Int, Double) {
  let task = Task.detached { (beacon.rssi, location.coordinate.latitude) }
  return await task.value
}

actor Log {
  var regions: [CLRegion: Date] = [:]
  var errors: [CLError] = []
  func note(_ region: CLRegion, at date: Date = Date()) { regions[region] = date }
  func note(_ error: any Error) { if let error = error as? CLError { errors.append(error) } }
}

final class Forwarder: NSObject, CLLocationManagerDelegate {
  let log = Log()
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    let log = log
    Task { await log.note(region) }
  }
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) {
    Task { [log] in await log.note(error) }
    Task.detached { manager.stopMonitoring(for: region ?? CLRegion()) }
  }
}

func settled(_ manager: CLLocationManager, queue: DispatchQueue) {
  queue.async { manager.startUpdatingLocation() }
}

@available(macOS 14, iOS 17, *)
func available() -> Bool {
  if #available(iOS 14.0, *) { return CLLocationManager().authorizationStatus == .denied }
  return false
}
