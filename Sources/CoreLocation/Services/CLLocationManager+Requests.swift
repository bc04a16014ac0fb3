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

  /// Starts a service. Reports why it does not start or, while it is wanted, finds nothing now.
  func start<Failure>(
    _ service: some SourceService, failure code: CLError.Code = .locationUnknown,
    denial: CLError.Code = .denied, isWanted: @escaping @Sendable (CLLocationManager) -> Bool,
    _ body: () throws(ServiceError<Failure>) -> Void,
    report: @escaping @Sendable (CLLocationManager, CLError) -> Void = { $0.deliverFailure($1) }
  ) {
    useCurrentThread()
    // A later fault is reported when it occurs.
    let fault = service.knownFault
    if fault == nil, service is BeaconService { calls.forgetFault() }
    do throws(ServiceError<Failure>) {
      try body()
    } catch {
      let failure = error == .denied ? CLError(denial) : CLError(code, "\(error)")
      return callDelegate(after: service) { report($0, failure) }
    }
    guard let fault else { return }
    callDelegate(after: service) { manager in
      guard isWanted(manager) else { return }
      report(manager, CLError(fault.isRefusal ? denial : code, fault.sentence))
    }
  }

  /// Calls the delegate soon, after the events of earlier requests for a service.
  func callDelegate(
    after service: some SourceService, _ body: @escaping @Sendable (CLLocationManager) -> Void
  ) {
    service.afterOutput { [calls] in calls.perform(body) }
  }

  func startRanging(_ constraint: CLBeaconIdentityConstraint, identifier: String?) {
    let constraint = BeaconConstraint(constraint)
    start(
      services.beacons, failure: .rangingUnavailable,
      isWanted: { $0.isRanging(constraint, identifier) }
    ) { () throws(BeaconServiceError) in
      try beacons.startRanging(RangingRequest(constraint, identifier: identifier))
    } report: { manager, failure in
      manager.deliverFailure(of: constraint, identifier, failure)
    }
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

  /// Starts to monitor a region, or reports why it cannot.
  func monitor(_ region: CLRegion) {
    guard let beaconRegion = region as? CLBeaconRegion else { return monitorCircle(region) }
    let copy = BeaconRegion(beaconRegion)
    start(
      services.beacons, failure: .regionMonitoringFailure, denial: .regionMonitoringDenied,
      isWanted: { $0.isMonitored(copy) }
    ) { () throws(BeaconServiceError) in
      try beacons.register(copy)
      stopMonitoring(circle: copy.identifier)
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
