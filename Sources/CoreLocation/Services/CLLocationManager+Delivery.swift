import Foundation
import Logging
import Ranging
import Regions
import Scanning
import ServiceCore

// The calls of the delegate's methods, made on the run loop or queue of the delegate.
extension CLLocationManager {
  func deliver(_ delivery: ServiceDelivery) {
    if let event = delivery.event as? LocationEvent { return deliver(event, delivery) }
    guard let event = delivery.event as? BeaconEvent else { return }
    switch event {
    case .sightings, .health, .identity: break
    case .refused: failAll(CLError(.denied), regions: CLError(.regionMonitoringDenied))
    case .ranging(let report): deliver(report)
    case .region(let event):
      // A region that is no longer monitored has no events; some may still have been on their way.
      guard isMonitored(event.region) else { return }
      let change = event.transition.change
      deliver(
        change.isCrossing ? change == .enter : nil, CLRegionState(change.state),
        for: CLBeaconRegion(event.region), delivery)
    case .regionState(let region, let state):
      deliver(CLRegionState(state), for: CLBeaconRegion(region))
    case .registered(let region):
      delegate?.locationManager(self, didStartMonitoringFor: CLBeaconRegion(region))
    case .ended(let sentence, let isFailure):
      if isFailure { failAll(.rangingFailure, sentence) }
    }
  }

  /// Reports the reason that nothing is received.
  func deliverFault(_ sentence: String) { failAll(.rangingUnavailable, sentence) }

  /// Reports the authorization; returns `false` without a delegate.
  @discardableResult
  func deliverAuthorization() -> Bool {
    guard delegate != nil else { return false }
    callFirst([
      { $0.locationManagerDidChangeAuthorization(self) },
      { $0.locationManager(self, didChangeAuthorization: self.authorizationStatus) },
    ])
    return true
  }

  typealias Method = (any CLLocationManagerDelegate) -> Void

  /// Calls the first method that the delegate implements, or returns `false` if there is none.
  @discardableResult
  func callFirst(_ methods: [Method]) -> Bool {
    guard let delegate else { return false }
    return methods.contains { method in
      _ = wasPassedOver()
      method(delegate)
      return !wasPassedOver()
    }
  }

  /// Delivers each request's beacons.
  private func deliver(_ report: RangingReport) {
    let limits = services.configuration.ranging.limits
    let beacons = report.beacons.map { beacon in
      let seen = beacon.lastReceived.wallClockTime(report.wallClockOffset)
      return (beacon.beacon, CLBeacon(beacon, limits: limits, timestamp: Date(seen)))
    }
    // A request that started later has no report yet; the loop below omits one that was stopped.
    let requests = ranged.filter {
      report.requests.contains(RangingRequest($0.constraint, identifier: $0.identifier))
    }.sorted {
      ("\($0.constraint)", $0.identifier ?? "") < ("\($1.constraint)", $1.identifier ?? "")
    }
    // A callback may stop a request that comes later.
    for (constraint, identifier) in requests where isRanging(constraint, identifier) {
      let matching = beacons.filter { constraint.matches($0.0) }.map(\.1)
        .sorted(by: CLBeacon.isCloser)
      let region = Self.region(constraint, identifier)
      let methods: [Method] = [
        {
          $0.locationManager(
            self, didRange: matching, satisfying: CLBeaconIdentityConstraint(constraint))
        },
        { $0.locationManager(self, didRangeBeacons: matching, in: region) },
      ]
      callFirst(identifier == nil ? methods : methods.reversed())
    }
  }

  /// The constraints that the manager ranges, with the identifiers of regions that were given.
  var ranged: [(constraint: BeaconConstraint, identifier: String?)] {
    beacons.rangingRequests.compactMap { request in
      request.constraint.map { ($0, request.identifier) }
    }
  }

  func isRanging(_ constraint: BeaconConstraint, _ identifier: String?) -> Bool {
    beacons.rangingRequests.contains(RangingRequest(constraint, identifier: identifier))
  }

  /// Returns whether a region with the same identifier and beacons is monitored.
  func isMonitored(_ region: BeaconRegion) -> Bool {
    beacons.region(region.identifier)?.constraint == region.constraint
  }

  static func region(_ constraint: BeaconConstraint, _ identifier: String?) -> CLBeaconRegion {
    CLBeaconRegion(
      beaconIdentityConstraint: CLBeaconIdentityConstraint(constraint),
      identifier: identifier ?? "\(constraint)")
  }

  /// Delivers the crossing, if there is one and the region asks for it, and the state.
  func deliver(
    _ isEntry: Bool?, _ state: CLRegionState, for region: CLRegion, _ delivery: ServiceDelivery
  ) {
    switch isEntry {
    case true? where region.notifyOnEntry: delegate?.locationManager(self, didEnterRegion: region)
    case false? where region.notifyOnExit: delegate?.locationManager(self, didExitRegion: region)
    default: break
    }
    // The crossing is dealt with: a process that ends now does not get it again, only the state.
    if isEntry != nil { delivery.acknowledge() }
    deliver(state, for: region)
  }

  func deliver(_ state: CLRegionState, for region: CLRegion) {
    delegate?.locationManager(self, didDetermineState: state, for: region)
  }

  private func failAll(_ code: CLError.Code, _ sentence: String) {
    failAll(CLError(code, sentence), regions: CLError(.regionMonitoringFailure, sentence))
  }

  private func failAll(_ error: CLError, regions regionError: CLError) {
    for (constraint, identifier) in ranged { deliverFailure(of: constraint, identifier, error) }
    for region in beacons.regions { deliverFailure(of: CLBeaconRegion(region), regionError) }
  }

  func deliverFailure(of constraint: BeaconConstraint, _ identifier: String?, _ error: CLError) {
    let region = Self.region(constraint, identifier)
    let methods: [Method] = [
      {
        $0.locationManager(
          self, didFailRangingFor: CLBeaconIdentityConstraint(constraint), error: error._nsError)
      },
      { $0.locationManager(self, rangingBeaconsDidFailFor: region, withError: error._nsError) },
    ]
    deliver(error, by: identifier == nil ? methods : methods.reversed())
  }

  func deliverFailure(of region: CLRegion, _ error: CLError) {
    let method: Method = {
      $0.locationManager(self, monitoringDidFailFor: region, withError: error._nsError)
    }
    deliver(error, by: [method])
  }

  func deliverFailure(_ error: CLError) {
    deliver(error, by: [{ $0.locationManager(self, didFailWithError: error._nsError) }])
  }

  /// Delivers a failure, or logs it if the delegate implements none of the methods.
  private func deliver(_ error: CLError, by methods: [Method]) {
    guard !callFirst(methods) else { return }
    services.configuration.logger.error("\(error._nsError.localizedDescription)")
  }
}
