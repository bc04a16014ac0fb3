import Foundation
import Regions
import Scanning
import ServiceCore

// The manager's requests to the services.
extension CLLocationManager {
  /// Moves the delegate's calls to the configured queue, or else to the current thread's run loop.
  func useCurrentThread() {
    calls.move { latest in
      (delegateQueue ?? services.configuration.delegateQueue).map { .queue($0) }
        ?? .current(after: latest)
    }
  }

  func request(_ status: AuthorizationStatus) {
    useCurrentThread()
    services.core.requestAuthorization(status)
  }

  /// Calls the delegate soon, after the events of earlier requests for beacons.
  package func callDelegate(_ body: @escaping @Sendable (CLLocationManager) -> Void) {
    services.beacons.afterOutput { [calls] in calls.perform(body) }
  }

  // MARK: Ranging

  func startRanging(_ constraint: CLBeaconIdentityConstraint, identifier: String?) {
    let constraint = BeaconConstraint(constraint)
    start(failure: .rangingUnavailable, denial: .denied) { () throws(BeaconServiceError) in
      try beacons.startRanging(RangingRequest(constraint, identifier: identifier))
    } isWanted: { manager in
      manager.isRanging(constraint, identifier)
    } report: { manager, failure in
      manager.deliverFailure(of: constraint, identifier, failure)
    }
  }

  /// Starts a service. Reports why it does not start or, while it is wanted, does not receive now.
  private func start(
    failure code: CLError.Code, denial: CLError.Code,
    _ body: () throws(BeaconServiceError) -> Void,
    isWanted: @escaping @Sendable (CLLocationManager) -> Bool,
    report: @escaping @Sendable (CLLocationManager, CLError) -> Void
  ) {
    useCurrentThread()
    // A later fault is reported when it occurs.
    let fault = services.beacons.fault
    if fault == nil { calls.forgetFault() }
    do throws(BeaconServiceError) {
      try body()
    } catch {
      let failure = error == .denied ? CLError(denial) : CLError(code, "\(error)")
      return callDelegate { report($0, failure) }
    }
    guard let fault else { return }
    callDelegate { if isWanted($0) { report($0, CLError(code, fault.sentence)) } }
  }

  /// Stops an equal request or, without one, the requests for the constraint in the other spelling.
  func stopRanging(_ constraint: CLBeaconIdentityConstraint, identifier: String?) {
    let constraint = BeaconConstraint(constraint)
    let requests = beacons.rangingRequests
    let equal = RangingRequest(constraint, identifier: identifier)
    if requests.contains(equal) { return beacons.stopRanging(equal) }
    for request in requests
    where request.constraint == constraint && (identifier == nil || request.identifier == nil) {
      beacons.stopRanging(request)
    }
  }

  // MARK: Regions

  /// Starts to monitor a region, or reports why it cannot.
  func monitor(_ region: CLRegion) {
    guard let beaconRegion = region as? CLBeaconRegion else { return monitorCircle(region) }
    let copy = BeaconRegion(beaconRegion)
    start(failure: .regionMonitoringFailure, denial: .regionMonitoringDenied) {
      () throws(BeaconServiceError) in
      try beacons.register(copy)
      stopMonitoring(circle: copy.identifier)
    } isWanted: { manager in
      manager.isMonitored(copy)
    } report: { manager, failure in
      manager.deliverFailure(of: CLBeaconRegion(copy), failure)
    }
  }

  /// Determines a region's state, even if it is not monitored, and delivers it.
  func findState(of region: CLRegion) {
    useCurrentThread()
    guard let beaconRegion = region as? CLBeaconRegion else { return findState(ofCircle: region) }
    beacons.requestState(of: BeaconRegion(beaconRegion))
  }
}
