import CoreLocation
import Synchronization
import TestSupport

/// A delegate that has every method, in every spelling, and notes which is called, with an error's number.
final class FullListener: CLLocationManagerDelegate, Sendable {
  private let told = Mutex<[String]>([])

  /// Waits until a line has come.
  ///
  /// - Returns: The lines before it. They are forgotten.
  func lines(before last: String) async -> [String]? {
    var found: [String]?
    await eventually {
      found = told.withLock { told in
        guard let end = told.firstIndex(of: last) else { return nil }
        defer { told.removeFirst(end + 1) }
        return Array(told[..<end])
      }
      return found != nil
    }
    return found
  }

  func note(_ line: String, _ error: (any Error)? = nil) {
    let code = (error as? CLError).map { " \($0.code.rawValue)" } ?? ""
    told.withLock { $0.append(line + code) }
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    note("didChangeAuthorization")
  }
  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) { note("didChangeAuthorization, old") }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    note("didFailWithError", error)
  }
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    note("didStartMonitoringFor")
  }
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) { note("monitoringDidFailFor", error) }
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    note("didEnterRegion")
  }
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    note("didExitRegion")
  }
  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) { note("didDetermineState") }
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) { note("didRange") }
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) { note("didFailRangingFor", error) }
  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) { note("didRange, old") }
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error
  ) { note("didFailRangingFor, old", error) }
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    note("didUpdateLocations")
  }
  func locationManager(
    _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation, from oldLocation: CLLocation
  ) { note("didUpdateTo") }
  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) { note("didPause") }
  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) { note("didResume") }
  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) { note("didFinishDeferred", error) }
  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    note("didUpdateHeading")
  }
  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool {
    note("shouldDisplay")
    return true
  }
  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) { note("didVisit") }
}
