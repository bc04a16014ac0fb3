import Foundation
import Logging
import Ranging
import Regions
import Scanning
import ServiceCore

// The calls of the delegate, each in the spelling that it implements. They run where the delegate is called.
extension CLLocationManager {
  /// Calls the delegate for an event.
  func deliver(_ delivery: ServiceDelivery) {
    guard let event = delivery.event as? BeaconEvent else { return }
    switch event {
    case .sightings, .refused, .health, .identity: break
    case .ranging(let report): deliver(report)
    case .region(let event): deliver(event, delivery)
    case .regionState(let region, let state):
      deliver(CLRegionState(state), for: CLBeaconRegion(region))
    case .registered(let region):
      delegate?.locationManager(self, didStartMonitoringFor: CLBeaconRegion(region))
    case .ended(let sentence, let isFailure):
      if isFailure { failAll(.rangingFailure, sentence) }
    }
  }

  /// Reports that nothing is received.
  func deliverFault(_ sentence: String) { failAll(.rangingUnavailable, sentence) }

  /// - Returns: Whether there was a delegate.
  @discardableResult
  func deliverAuthorization() -> Bool {
    guard let delegate else { return false }
    _ = wasPassedOver()
    delegate.locationManagerDidChangeAuthorization(self)
    if wasPassedOver() {
      delegate.locationManager(self, didChangeAuthorization: authorizationStatus)
    }
    return true
  }

  /// Delivers to each request its beacons.
  private func deliver(_ report: RangingReport) {
    let limits = services.configuration.ranging.limits
    let beacons = report.beacons.map { beacon in
      let seen = beacon.lastReceived.wallClockTime(report.wallClockOffset)
      return (
        beacon.beacon,
        CLBeacon(beacon, limits: limits, timestamp: Date(seen))
      )
    }
    let requests = services.beacons.rangingRequests(of: client).sorted {
      ($0.constraint?.description ?? "", $0.identifier ?? "")
        < ($1.constraint?.description ?? "", $1.identifier ?? "")
    }
    for request in requests {
      guard let constraint = request.constraint else { continue }
      let matching = beacons.filter { constraint.matches($0.0) }.map(\.1)
        .sorted(by: CLBeacon.isCloser)
      deliver(matching, request.identifier, CLBeaconIdentityConstraint(constraint))
    }
  }

  private func deliver(
    _ beacons: [CLBeacon], _ identifier: String?, _ constraint: CLBeaconIdentityConstraint
  ) {
    guard let delegate else { return }
    let region = Self.region(constraint, identifier)
    let isOldFirst = identifier != nil
    for isOld in [isOldFirst, !isOldFirst] {
      _ = wasPassedOver()
      if isOld {
        delegate.locationManager(self, didRangeBeacons: beacons, in: region)
      } else {
        delegate.locationManager(self, didRange: beacons, satisfying: constraint)
      }
      if !wasPassedOver() { return }
    }
  }

  private static func region(
    _ constraint: CLBeaconIdentityConstraint, _ identifier: String?
  ) -> CLBeaconRegion {
    CLBeaconRegion(
      beaconIdentityConstraint: constraint,
      identifier: identifier ?? "\(BeaconConstraint(constraint))")
  }

  /// Delivers a crossing where the region wants it delivered, and the state.
  private func deliver(_ event: RegionEvent, _ delivery: ServiceDelivery) {
    let region = CLBeaconRegion(event.region)
    switch event.transition.change {
    case .enter where region.notifyOnEntry: delegate?.locationManager(self, didEnterRegion: region)
    case .exit where region.notifyOnExit: delegate?.locationManager(self, didExitRegion: region)
    default: break
    }
    // The crossing is dealt with: a process that ends now does not deliver it again. The state comes again
    // in any case.
    if event.transition.change.isCrossing { delivery.acknowledge() }
    deliver(CLRegionState(event.transition.change.state), for: region)
  }

  func deliver(_ state: CLRegionState, for region: CLRegion) {
    delegate?.locationManager(self, didDetermineState: state, for: region)
  }

  // MARK: Failures

  /// Reports a failure of everything that the manager ranges and monitors.
  private func failAll(_ code: CLError.Code, _ sentence: String) {
    for request in services.beacons.rangingRequests(of: client) {
      guard let constraint = request.constraint else { continue }
      deliverFailure(
        of: CLBeaconIdentityConstraint(constraint), request.identifier, CLError(code, sentence))
    }
    for region in services.beacons.regions(of: client) {
      deliverFailure(of: CLBeaconRegion(region), CLError(.regionMonitoringFailure, sentence))
    }
  }

  func deliverFailure(
    of constraint: CLBeaconIdentityConstraint, _ identifier: String?, _ error: CLError
  ) {
    guard let delegate else { return log(error) }
    let region = Self.region(constraint, identifier)
    let isOldFirst = identifier != nil
    for isOld in [isOldFirst, !isOldFirst] {
      _ = wasPassedOver()
      if isOld {
        delegate.locationManager(self, rangingBeaconsDidFailFor: region, withError: error._nsError)
      } else {
        delegate.locationManager(self, didFailRangingFor: constraint, error: error._nsError)
      }
      if !wasPassedOver() { return }
    }
    log(error)
  }

  func deliverFailure(of region: CLRegion, _ error: CLError) {
    guard let delegate else { return log(error) }
    _ = wasPassedOver()
    delegate.locationManager(self, monitoringDidFailFor: region, withError: error._nsError)
    if wasPassedOver() { log(error) }
  }

  func deliverFailure(_ error: CLError) {
    guard let delegate else { return log(error) }
    _ = wasPassedOver()
    delegate.locationManager(self, didFailWithError: error._nsError)
    if wasPassedOver() { log(error) }
  }

  /// Logs a failure that no method of a delegate received.
  private func log(_ error: CLError) {
    services.configuration.logger.error("\(error._nsError.localizedDescription)")
  }
}
