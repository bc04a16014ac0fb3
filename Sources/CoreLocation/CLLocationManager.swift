public import Foundation
import Logging
package import ServiceCore
import Synchronization

/// The object that starts and stops services and delivers their events to a delegate.
///
/// Create one manager, keep a strong reference to it, set its ``delegate`` and start the services that you need.
/// All managers of a process share the monitored regions; each manager has its own ranged constraints. A service
/// that is not available reports a failure to the delegate.
///
/// As on Apple's systems the class is not `Sendable`, so that a subclass need not be. Its own methods can be called
/// on any thread; the properties that describe location and heading updates belong to one thread at a time.
open class CLLocationManager: NSObject {
  private let receiver = Mutex(Receiver())
  private let passedOver = Atomic<Bool>(false)
  /// The services that the manager uses. All managers of a process share them.
  package let services: LocationServices
  /// The manager's address in the core.
  let client: ClientIdentifier
  /// The calls of the delegate.
  let calls: DelegateCalls

  private struct Receiver: @unchecked Sendable {
    // Sendable: the delegate is only passed on. It is called where it expects its calls.
    weak var delegate: (any CLLocationManagerDelegate)?
    var queue: DispatchQueue?
  }

  /// Creates a manager.
  ///
  /// The authorization is reported to its delegate soon after. The delegate is called on the run loop of the
  /// current thread, or of the thread on which a service is started later.
  public override init() {
    services = .shared
    (client, calls) = services.addManager(in: .application)
    super.init()
    calls.begin(for: self)
  }

  /// Creates a manager that uses other services than the process's own, for tests. Apple's class has no such
  /// initializer.
  public convenience init(services: LocationServices) { self.init(using: services) }

  /// Creates a manager whose delegate receives the events of a group's regions.
  package init(using services: LocationServices, in group: ClientGroup = .application) {
    self.services = services
    (client, calls) = services.addManager(in: group)
    super.init()
    calls.begin(for: self)
  }

  deinit { services.core.removeClient(client) }

  /// The object that receives the manager's events. The manager keeps a weak reference to it.
  open var delegate: (any CLLocationManagerDelegate)? {
    get { receiver.withLock { $0 }.delegate }
    set {
      if let newValue {
        DelegateInspection.inspect(type(of: newValue as AnyObject)) {
          services.configuration.logger.warning("\($0)")
        }
      }
      let new = Receiver(delegate: newValue)
      // Before the delegate is there to start anything on another thread, whose events would be dropped.
      if newValue != nil { services.core.beginReceiving(client) }
      receiver.withLock { $0.delegate = new.delegate }
      if newValue != nil { calls.delegateWasSet() }
      services.core.setReceiving(newValue != nil, for: client)
    }
  }

  /// The queue on which the delegate is called. With `nil`, the default, it is called on the run loop of the thread
  /// on which a service is started. Set it before that. Apple's class has no such property.
  open var delegateQueue: DispatchQueue? {
    get { receiver.withLock { $0.queue } }
    set {
      receiver.withLock { $0.queue = newValue }
      useCurrentThread()
    }
  }

  // MARK: Delegate methods with two spellings

  /// Records that a delegate does not implement a method: its default implementation was called.
  package func passOver() { passedOver.store(true, ordering: .releasing) }

  /// Returns whether a default implementation was called since the last call of this function.
  package func wasPassedOver() -> Bool {
    passedOver.exchange(false, ordering: .acquiringAndReleasing)
  }

  // MARK: Authorization

  /// The authorization of the app to use location services.
  open var authorizationStatus: CLAuthorizationStatus { services.authorizationStatus }

  /// The authorization of the app to use location services, in the former spelling.
  @available(*, deprecated, message: "Use the property of the same name of a manager")
  open class func authorizationStatus() -> CLAuthorizationStatus {
    LocationServices.shared.authorizationStatus
  }

  /// The accuracy that the app is authorized to use: always ``CLAccuracyAuthorization/fullAccuracy``.
  open var accuracyAuthorization: CLAccuracyAuthorization { .fullAccuracy }

  /// A Boolean value that indicates whether widgets may receive locations: `false`.
  open var isAuthorizedForWidgetUpdates: Bool { false }

  /// Requests the authorization to use location services while the app is in use.
  ///
  /// The call has no effect unless the status is not determined. The delegate receives the answer.
  open func requestWhenInUseAuthorization() { request(.authorizedWhenInUse) }

  /// Requests the authorization to use location services at any time.
  ///
  /// The call has no effect unless the status is not determined, or when-in-use and not requested before. The
  /// delegate receives the answer.
  open func requestAlwaysAuthorization() { request(.authorizedAlways) }

  /// Requests full accuracy for a limited time. The call has no effect: the accuracy is full already.
  open func requestTemporaryFullAccuracyAuthorization(withPurposeKey purposeKey: String) {}

  /// Requests full accuracy for a limited time. The accuracy is full already, so the closure is called with
  /// ``CLError/Code/promptDeclined``, as on Apple's systems.
  open func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, completion: (((any Error)?) -> Void)?
  ) { completion?(CLError(.promptDeclined)) }

  /// Requests full accuracy for a limited time. It always throws ``CLError/Code/promptDeclined``, because the
  /// accuracy is full already.
  open func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String
  ) async throws { throw CLError(.promptDeclined) }

  // MARK: Availability

  /// Returns whether location services are available on this device.
  open class func locationServicesEnabled() -> Bool { LocationServices.shared.isEnabled }

  /// Returns whether regions of a class can be monitored here, regardless of the authorization: `true` for
  /// ``CLBeaconRegion`` and its subclasses while location services are available.
  open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
    regionClass is CLBeaconRegion.Type && LocationServices.shared.isEnabled
  }

  /// Returns whether beacons can be ranged here.
  open class func isRangingAvailable() -> Bool { LocationServices.shared.isEnabled }

  /// Returns whether headings are available: `false`.
  open class func headingAvailable() -> Bool { false }

  /// Returns whether significant location changes are available: `false`.
  open class func significantLocationChangeMonitoringAvailable() -> Bool { false }

  /// Returns whether location updates can be deferred: `false`.
  @available(*, deprecated, message: "Locations are not deferred any more")
  open class func deferredLocationUpdatesAvailable() -> Bool { false }

  /// Returns whether regions can be monitored here, in the former spelling.
  @available(*, deprecated, message: "Use isMonitoringAvailable(for:)")
  open class func regionMonitoringAvailable() -> Bool {
    isMonitoringAvailable(for: CLBeaconRegion.self)
  }

  /// Returns whether regions can be monitored here, in the former spelling.
  @available(*, deprecated, message: "Use isMonitoringAvailable(for:) and authorizationStatus")
  open class func regionMonitoringEnabled() -> Bool {
    isMonitoringAvailable(for: CLBeaconRegion.self)
  }

  /// A Boolean value that indicates whether location services are available, in the former spelling.
  @available(*, deprecated, message: "Use the class method of the same name")
  open var locationServicesEnabled: Bool { Self.locationServicesEnabled() }

  /// A Boolean value that indicates whether headings are available, in the former spelling.
  @available(*, deprecated, message: "Use the class method of the same name")
  open var headingAvailable: Bool { Self.headingAvailable() }

  // MARK: Regions

  /// The regions that all managers of the process monitor, with those of the app's earlier processes.
  open var monitoredRegions: Set<CLRegion> {
    Set(services.beacons.regions(of: client).map { CLBeaconRegion($0) })
  }

  /// The largest radius of a circular region, in meters: -1, because they cannot be monitored yet.
  open var maximumRegionMonitoringDistance: CLLocationDistance { -1 }

  /// Starts monitoring a region. It replaces a monitored region that has the same identifier.
  ///
  /// Failures are reported to the delegate's `locationManager(_:monitoringDidFailFor:withError:)`.
  open func startMonitoring(for region: CLRegion) { monitor(region) }

  /// Starts monitoring a region, in the former spelling. The accuracy is not used.
  @available(*, deprecated, renamed: "startMonitoring(for:)")
  open func startMonitoring(for region: CLRegion, desiredAccuracy accuracy: CLLocationAccuracy) {
    startMonitoring(for: region)
  }

  /// Stops monitoring the region that has the same identifier as the argument, if there is one.
  open func stopMonitoring(for region: CLRegion) {
    services.beacons.unregister(region.identifier, for: client)
  }

  /// Requests the state of a region. The delegate receives it.
  open func requestState(for region: CLRegion) { findState(of: region) }

  // MARK: Ranging

  /// The constraints that the manager ranges.
  open var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> {
    Set(ranged.map { CLBeaconIdentityConstraint($0.constraint) })
  }

  /// The regions that the manager ranges by the former methods.
  @available(*, deprecated, renamed: "rangedBeaconConstraints")
  open var rangedRegions: Set<CLRegion> {
    Set(
      ranged.compactMap { constraint, identifier in
        identifier.map {
          CLBeaconRegion(
            beaconIdentityConstraint: CLBeaconIdentityConstraint(constraint), identifier: $0)
        }
      })
  }

  /// Starts ranging beacons. The delegate receives a report once a second.
  open func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    startRanging(constraint, identifier: nil)
  }

  /// Stops ranging the constraint that equals the argument.
  open func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    stopRanging(constraint, identifier: nil)
  }

  /// Starts ranging the beacons of a region, in the former spelling.
  @available(*, deprecated, renamed: "startRangingBeacons(satisfying:)")
  open func startRangingBeacons(in region: CLBeaconRegion) {
    startRanging(region.beaconIdentityConstraint, identifier: region.identifier)
  }

  /// Stops ranging the beacons of a region, in the former spelling.
  @available(*, deprecated, renamed: "stopRangingBeacons(satisfying:)")
  open func stopRangingBeacons(in region: CLBeaconRegion) {
    stopRanging(region.beaconIdentityConstraint, identifier: region.identifier)
  }

  // MARK: Locations

  /// The last known location: `nil`, because no service finds locations yet.
  open var location: CLLocation? { nil }

  /// The distance that the device must move before an update, in meters. By default every movement counts.
  open var distanceFilter = kCLDistanceFilterNone

  /// The accuracy that the app needs, in meters. The default is ``kCLLocationAccuracyBest``.
  open var desiredAccuracy = kCLLocationAccuracyBest

  /// The user's activity. The default is ``CLActivityType/other``.
  open var activityType = CLActivityType.other

  /// A Boolean value that indicates whether updates may pause while nothing changes. The default is `true`.
  open var pausesLocationUpdatesAutomatically = true

  /// A Boolean value that indicates whether updates continue in the background. The default is `false`.
  ///
  /// On Apple's systems setting it without a background mode is a fatal error; here it needs none.
  open var allowsBackgroundLocationUpdates = false

  /// A Boolean value that indicates whether background updates are shown to the user; nothing is shown here. The
  /// default is `false`.
  open var showsBackgroundLocationIndicator = false

  /// The purpose of the locations, as a text for the user; it is not shown here.
  @available(*, deprecated, message: "Apps say so in their manifest")
  open var purpose: String?

  /// Starts location updates. The delegate receives a failure, because no service finds locations yet.
  open func startUpdatingLocation() { fail(.locationUnknown, "locations") }

  /// Stops location updates.
  open func stopUpdatingLocation() {}

  /// Requests one location. The delegate receives a failure, because no service finds locations yet.
  open func requestLocation() { fail(.locationUnknown, "locations") }

  /// Starts updates of significant location changes. The delegate receives a failure, because no service finds
  /// locations yet.
  open func startMonitoringSignificantLocationChanges() { fail(.locationUnknown, "locations") }

  /// Stops updates of significant location changes.
  open func stopMonitoringSignificantLocationChanges() {}

  /// Requests that location updates be deferred. It fails through the delegate's
  /// `locationManager(_:didFinishDeferredUpdatesWithError:)`.
  @available(*, deprecated, message: "Locations are not deferred any more")
  open func allowDeferredLocationUpdates(
    untilTraveled distance: CLLocationDistance, timeout: TimeInterval
  ) {
    useCurrentThread()
    callDelegate { manager in
      manager.delegate?.locationManager(
        manager, didFinishDeferredUpdatesWithError: CLError(.deferredFailed)._nsError)
    }
  }

  /// Ends the deferral of location updates.
  @available(*, deprecated, message: "Locations are not deferred any more")
  open func disallowDeferredLocationUpdates() {}

  // MARK: Visits

  /// Starts reports of visits. The delegate receives a failure, because no service finds visits yet.
  open func startMonitoringVisits() { fail(.locationUnknown, "visits") }

  /// Stops reports of visits.
  open func stopMonitoringVisits() {}

  // MARK: Heading

  /// The last known heading: `nil`, because no service finds headings yet.
  open var heading: CLHeading? { nil }

  /// The change of the heading that causes an update, in degrees. The default is 1.
  open var headingFilter: CLLocationDegrees = 1

  /// The orientation of the device. The default is ``CLDeviceOrientation/portrait``.
  ///
  /// Setting it to unknown, face up or face down has no effect.
  open var headingOrientation: CLDeviceOrientation {
    get { orientation }
    set {
      switch newValue {
      case .unknown, .faceUp, .faceDown: break
      case .portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight: orientation = newValue
      }
    }
  }

  private var orientation = CLDeviceOrientation.portrait

  /// Starts heading updates. The delegate receives a failure, because no service finds headings yet.
  open func startUpdatingHeading() { fail(.headingFailure, "headings") }

  /// Stops heading updates.
  open func stopUpdatingHeading() {}

  /// Dismisses the display for calibrating the compass. No such display is ever shown here.
  open func dismissHeadingCalibrationDisplay() {}

  /// Reports to the delegate that a service does not exist here yet.
  private func fail(_ code: CLError.Code, _ service: String) {
    useCurrentThread()
    callDelegate { manager in
      let sentence = """
        This system has no service that finds \(service) yet; ranging of beacons and monitoring of \
        beacon regions work.
        """
      manager.deliverFailure(CLError(code, sentence))
    }
  }
}
