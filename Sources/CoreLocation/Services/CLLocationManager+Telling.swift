import Foundation
import Regions
import Scanning

// Calls of the delegate, each in the spelling that it has. They run where the delegate is called.
extension CLLocationManager {
  func tell(_ status: CLAuthorizationStatus) {
    guard let delegate else { return }
    _ = wasPassedOver()
    delegate.locationManagerDidChangeAuthorization(self)
    if wasPassedOver() { delegate.locationManager(self, didChangeAuthorization: status) }
  }

  /// Of beacons that were asked for by a constraint.
  func tell(_ beacons: [CLBeacon], satisfying constraint: CLBeaconIdentityConstraint) {
    guard let delegate else { return }
    _ = wasPassedOver()
    delegate.locationManager(self, didRange: beacons, satisfying: constraint)
    guard wasPassedOver() else { return }
    let region = CLBeaconRegion(
      beaconIdentityConstraint: constraint, identifier: "\(BeaconConstraint(constraint))")
    delegate.locationManager(self, didRangeBeacons: beacons, in: region)
  }

  /// Of beacons that were asked for by a region, in the old way.
  func tell(_ beacons: [CLBeacon], in region: CLBeaconRegion) {
    guard let delegate else { return }
    _ = wasPassedOver()
    delegate.locationManager(self, didRangeBeacons: beacons, in: region)
    guard wasPassedOver() else { return }
    delegate.locationManager(
      self, didRange: beacons, satisfying: region.beaconIdentityConstraint)
  }

  func tellFailure(
    of constraint: CLBeaconIdentityConstraint, in region: CLBeaconRegion?, _ error: CLError
  ) {
    guard let delegate else { return }
    let asked =
      region
      ?? CLBeaconRegion(
        beaconIdentityConstraint: constraint, identifier: "\(BeaconConstraint(constraint))")
    let tellOld = {
      delegate.locationManager(self, rangingBeaconsDidFailFor: asked, withError: error._nsError)
    }
    let tellNew = {
      delegate.locationManager(self, didFailRangingFor: constraint, error: error._nsError)
    }
    _ = wasPassedOver()
    region == nil ? tellNew() : tellOld()
    if wasPassedOver() { region == nil ? tellOld() : tellNew() }
  }

  func tellStart(of region: CLRegion) {
    delegate?.locationManager(self, didStartMonitoringFor: region)
  }

  func tellFailure(of region: CLRegion, _ error: CLError) {
    delegate?.locationManager(self, monitoringDidFailFor: region, withError: error._nsError)
  }

  /// Of a crossing, where the region wants it told.
  func tell(_ change: RegionTransition.Change, of region: CLRegion) {
    switch change {
    case .enter where region.notifyOnEntry:
      delegate?.locationManager(self, didEnterRegion: region)
    case .exit where region.notifyOnExit:
      delegate?.locationManager(self, didExitRegion: region)
    default: break
    }
  }

  func tell(_ state: CLRegionState, for region: CLRegion) {
    delegate?.locationManager(self, didDetermineState: state, for: region)
  }

  func tellFailure(_ error: CLError) {
    delegate?.locationManager(self, didFailWithError: error._nsError)
  }
}
