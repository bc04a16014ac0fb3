public import Foundation
import Positioning
import Scanning
package import ServiceCore
import Synchronization

/// The object that starts and stops services and delivers their events to a delegate.
///
/// Create one manager, keep a strong reference to it, set its ``delegate``, and start the services
/// that you need. All managers of a process share the monitored regions; each has its own ranged
/// constraints. A service that is not available reports a failure to the delegate.
///
/// As on Apple's systems, the class is not `Sendable`. Call its methods on any thread; use the
/// properties of location and heading updates on one thread at a time.
open class CLLocationManager: NSObject {
  private let receiver = Mutex(Receiver())
  private let passedOver = Atomic<Bool>(false)
  package let services: LocationServices
  let client: ServiceClient
  var beacons: BeaconClient { BeaconClient(client, of: services.beacons) }
  var locations: LocationClient { LocationClient(client, of: services.locations) }
  let calls: DelegateCalls
  /// The latest location that the delegate received.
  let latestLocation = Mutex<CLLocation?>(nil)
  /// The last significant change delivered while updates run, to omit it from the updates.
  let significantFix = Mutex<Fix?>(nil)
  /// Whether the delegate was asked about the calibration since headings were started.
  let hasAskedForCalibration = Atomic<Bool>(false)
  /// Whether a request for one location has no answer yet.
  let awaitsFix = Atomic<Bool>(false)

  private struct Receiver: @unchecked Sendable {
    // Sendable: the delegate is only passed on, and is called where it expects its calls.
    weak var delegate: (any CLLocationManagerDelegate)?
    var queue: DispatchQueue?
  }

  /// Creates a manager and soon reports the authorization to its delegate. The delegate is called
  /// on the run loop of the current thread, or of the thread that later starts a service.
  public override init() {
    services = .shared
    (client, calls) = services.addManager(in: .application)
    super.init()
    calls.begin(for: self)
  }

  /// Creates a manager with the given services, for tests. Apple's class has no such initializer.
  public convenience init(services: LocationServices) { self.init(using: services) }

  package init(using services: LocationServices, in group: ClientGroup = .application) {
    self.services = services
    (client, calls) = services.addManager(in: group)
    super.init()
    calls.begin(for: self)
  }

  deinit { client.remove() }

  /// The object that receives the manager's events, held by a weak reference.
  open var delegate: (any CLLocationManagerDelegate)? {
    get { receiver.withLock { $0 }.delegate }
    set {
      let new = Receiver(delegate: newValue)
      // This comes first: a delegate may start services at once, whose events would be dropped.
      if newValue != nil { client.beginReceiving() }
      receiver.withLock { $0.delegate = new.delegate }
      if newValue != nil { calls.delegateWasSet() }
      client.setReceiving(newValue != nil)
    }
  }

  /// The queue on which the delegate is called; `nil`, the default, for the run loop of the thread
  /// that starts a service. Set it before that. Apple's class has no such property.
  open var delegateQueue: DispatchQueue? {
    get { receiver.withLock { $0.queue } }
    set {
      receiver.withLock { $0.queue = newValue }
      useCurrentThread()
    }
  }

  // MARK: Delegate methods with two spellings

  /// Records that a default implementation was called: the delegate does not have the method.
  package func passOver() { passedOver.store(true, ordering: .releasing) }

  /// Returns whether a default implementation was called since the last call of this function.
  package func wasPassedOver() -> Bool {
    passedOver.exchange(false, ordering: .acquiringAndReleasing)
  }

  // MARK: Authorization

  /// The authorization of the app to use location services.
  open var authorizationStatus: CLAuthorizationStatus {
    let status = services.authorizationStatus
    calls.noteRead(status)
    return status
  }

  /// The authorization of the app to use location services, in the former spelling.
  @available(*, deprecated, message: "Use the property of the same name of a manager")
  open class func authorizationStatus() -> CLAuthorizationStatus {
    LocationServices.shared.authorizationStatus
  }

  /// The accuracy that the app may use: always ``CLAccuracyAuthorization/fullAccuracy``.
  open var accuracyAuthorization: CLAccuracyAuthorization { .fullAccuracy }

  /// A Boolean value that indicates whether widgets may receive locations: `false`.
  open var isAuthorizedForWidgetUpdates: Bool { false }

  /// Requests the authorization when in use, which the delegate receives. The call has no effect
  /// unless the status is not determined.
  open func requestWhenInUseAuthorization() { request(.authorizedWhenInUse) }

  /// Requests the authorization at any time, which the delegate receives. The call has an effect
  /// only while the status is not determined or when-in-use.
  open func requestAlwaysAuthorization() { request(.authorizedAlways) }

  /// Does nothing, because the accuracy is full already.
  open func requestTemporaryFullAccuracyAuthorization(withPurposeKey purposeKey: String) {}

  /// Calls the closure with ``CLError/Code/promptDeclined``, because the accuracy is full already.
  open func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, completion: (((any Error)?) -> Void)?
  ) { completion?(CLError(.promptDeclined)) }

  /// Throws ``CLError/Code/promptDeclined``, because the accuracy is full already.
  open func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String
  ) async throws { throw CLError(.promptDeclined) }

  // MARK: Availability

  /// Returns whether location services are available on this device.
  open class func locationServicesEnabled() -> Bool { LocationServices.shared.isEnabled }

  /// Returns whether regions of a class can be monitored, regardless of the authorization.
  /// ``CLBeaconRegion`` needs a receiver of beacons, ``CLCircularRegion`` a source of locations.
  open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
    switch regionClass {
    case is CLBeaconRegion.Type: LocationServices.shared.receivesBeacons
    case is CLCircularRegion.Type: LocationServices.shared.findsLocations
    default: false
    }
  }

  /// Returns whether beacons can be ranged here.
  open class func isRangingAvailable() -> Bool { LocationServices.shared.receivesBeacons }

  /// Returns whether the device has a compass.
  open class func headingAvailable() -> Bool { LocationServices.shared.findsHeadings }

  /// Returns whether locations can be found, which significant location changes need.
  open class func significantLocationChangeMonitoringAvailable() -> Bool {
    LocationServices.shared.findsLocations
  }

  /// Returns whether locations can be found, which deferred location updates need.
  @available(*, deprecated, message: "Locations are not deferred any more")
  open class func deferredLocationUpdatesAvailable() -> Bool {
    LocationServices.shared.findsLocations
  }

  /// Returns whether beacon regions can be monitored here, in the former spelling.
  @available(*, deprecated, message: "Use isMonitoringAvailable(for:)")
  open class func regionMonitoringAvailable() -> Bool {
    isMonitoringAvailable(for: CLBeaconRegion.self)
  }

  /// Returns whether beacon regions can be monitored here, in the former spelling.
  @available(*, deprecated, message: "Use isMonitoringAvailable(for:) and authorizationStatus")
  open class func regionMonitoringEnabled() -> Bool {
    isMonitoringAvailable(for: CLBeaconRegion.self)
  }

  /// Whether location services are available, in the former spelling.
  @available(*, deprecated, message: "Use the class method of the same name")
  open var locationServicesEnabled: Bool { Self.locationServicesEnabled() }

  /// Whether headings are available, in the former spelling.
  @available(*, deprecated, message: "Use the class method of the same name")
  open var headingAvailable: Bool { Self.headingAvailable() }

  // MARK: Regions

  /// The regions that all managers monitor, including those of the app's earlier processes.
  open var monitoredRegions: Set<CLRegion> {
    Set(beacons.regions.map { CLBeaconRegion($0) })
      .union(locations.circles.map { CLCircularRegion($0) })
  }

  /// The largest radius of a circular region: 2,000,000 meters; -1 if locations cannot be found.
  open var maximumRegionMonitoringDistance: CLLocationDistance {
    services.findsLocations ? CircularRegion.maximumRadius : -1
  }

  /// Starts monitoring a region, in place of a monitored region with the same identifier. Failures
  /// are reported to the delegate's `locationManager(_:monitoringDidFailFor:withError:)`.
  open func startMonitoring(for region: CLRegion) { monitor(region) }

  /// Starts monitoring a region, in the former spelling. The accuracy is not used.
  @available(*, deprecated, renamed: "startMonitoring(for:)")
  open func startMonitoring(for region: CLRegion, desiredAccuracy accuracy: CLLocationAccuracy) {
    startMonitoring(for: region)
  }

  /// Stops monitoring the region with the argument's identifier, if there is one.
  open func stopMonitoring(for region: CLRegion) {
    // This first reads the regions of an earlier process.
    _ = services.core.authorizationStatus
    stopMonitoring(beacons: region.identifier)
    stopMonitoring(circle: region.identifier)
  }

  /// Requests the state of a region, which the delegate then receives.
  open func requestState(for region: CLRegion) { findState(of: region) }

  // MARK: Ranging

  /// The constraints that the manager ranges.
  open var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> {
    Set(ranged.map { CLBeaconIdentityConstraint($0.constraint) })
  }

  /// The regions that the manager ranges by the former methods.
  @available(*, deprecated, renamed: "rangedBeaconConstraints")
  open var rangedRegions: Set<CLRegion> {
    Set(ranged.filter { $0.identifier != nil }.map { Self.region($0.constraint, $0.identifier) })
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

  /// The last known location of the process; `nil` if there was none.
  open var location: CLLocation? {
    services.locations.latestFix.map {
      CLLocation($0, isSimulated: services.locations.isRecorded)
    }
  }

  /// The movement in meters that causes an update. By default, every movement does.
  open var distanceFilter = kCLDistanceFilterNone { didSet { changeUpdates() } }

  /// The accuracy that the app needs, in meters, which limits the work of receivers and daemons.
  /// The default is ``kCLLocationAccuracyBest``.
  open var desiredAccuracy = kCLLocationAccuracyBest { didSet { changeUpdates() } }

  /// The user's activity. The default is ``CLActivityType/other``.
  open var activityType = CLActivityType.other { didSet { changeUpdates() } }

  /// A Boolean value that indicates whether updates may pause while nothing changes. The default is
  /// `true`. Unlike on Apple's systems, paused updates resume by themselves when the device moves.
  open var pausesLocationUpdatesAutomatically = true { didSet { changeUpdates() } }

  /// A Boolean value that indicates whether updates continue in the background. The default is
  /// `false`. Unlike on Apple's systems, setting it without a background mode is not a fatal error.
  open var allowsBackgroundLocationUpdates = false

  /// A Boolean value that has no effect: no indicator is shown here. The default is `false`.
  open var showsBackgroundLocationIndicator = false

  /// The purpose of the locations, as a text for the user, which is not shown here.
  @available(*, deprecated, message: "Apps say so in their manifest")
  open var purpose: String?

  /// Starts location updates, with the last known location if there is one. Failures are reported
  /// to the delegate's `locationManager(_:didFailWithError:)`; updates resume by themselves.
  open func startUpdatingLocation() { startUpdates() }

  /// Stops location updates, and cancels the request for one location.
  open func stopUpdatingLocation() {
    locations.stopUpdates()
    cancelRequest()
  }

  /// Requests one location: the first of the desired accuracy, or the best of ten seconds. Without
  /// any, the delegate receives a failure after a minute.
  open func requestLocation() { requestFix() }

  /// Starts updates of location changes of 500 meters or more, at most one in five minutes.
  open func startMonitoringSignificantLocationChanges() {
    start(
      services.locations, isWanted: \.use.significantChanges, locations.startSignificantChanges)
  }

  /// Stops updates of significant location changes for all managers of the process.
  open func stopMonitoringSignificantLocationChanges() {
    locations.stopSignificantChanges()
  }

  /// Defers updates until the device has moved some meters or some seconds have passed. Each call
  /// leads to one call of the delegate's `locationManager(_:didFinishDeferredUpdatesWithError:)`.
  @available(*, deprecated, message: "Locations are not deferred any more")
  open func allowDeferredLocationUpdates(
    untilTraveled distance: CLLocationDistance, timeout: TimeInterval
  ) {
    useCurrentThread()
    locations.allowDeferral(untilTraveled: distance, timeout: timeout)
  }

  /// Ends the deferral of location updates.
  @available(*, deprecated, message: "Locations are not deferred any more")
  open func disallowDeferredLocationUpdates() {
    locations.disallowDeferral()
  }

  // MARK: Visits

  /// Starts reports of visits, which are stays of five minutes or more at a place.
  open func startMonitoringVisits() {
    start(services.locations, isWanted: \.use.visits, locations.startVisits)
  }

  /// Stops reports of visits, for all managers of the process.
  open func stopMonitoringVisits() { locations.stopVisits() }

  // MARK: Heading

  /// The last known heading; `nil` if there was none.
  open var heading: CLHeading? {
    locations.latestHeading.map { CLHeading($0) }
  }

  /// The change of the heading that causes an update, in degrees. The default is 1.
  open var headingFilter: CLLocationDegrees = 1 { didSet { changeHeadings() } }

  /// The orientation of the device. Unknown, face up and face down have no effect.
  open var headingOrientation: CLDeviceOrientation {
    get { orientation }
    set {
      guard HeadingOrientation(rawValue: newValue.rawValue)?.offset != nil else { return }
      orientation = newValue
      changeHeadings()
    }
  }

  private var orientation = CLDeviceOrientation.portrait

  /// Starts heading updates. True headings also need location updates.
  open func startUpdatingHeading() { startHeadings() }

  /// Stops heading updates.
  open func stopUpdatingHeading() { locations.stopHeadings() }

  /// Does nothing, because a display for calibrating the compass is never shown here.
  open func dismissHeadingCalibrationDisplay() {}
}
