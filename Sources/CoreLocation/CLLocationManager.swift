public import Foundation
import Logging
import Positioning
import Scanning
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
  /// The manager's client in the core, and the services' views of it.
  let client: ServiceClient
  var beacons: BeaconClient { BeaconClient(client, of: services.beacons) }
  var locations: LocationClient { LocationClient(client, of: services.locations) }
  /// The calls of the delegate.
  let calls: DelegateCalls
  /// The latest location that the delegate received.
  let latestLocation = Mutex<CLLocation?>(nil)
  /// The significant change that was delivered last while updates run, which deliver it as well.
  let significantFix = Mutex<Fix?>(nil)
  /// Whether the delegate was asked about the calibration since headings were started.
  let hasAskedForCalibration = Atomic<Bool>(false)
  /// Whether a request for one location has no answer yet.
  let awaitsFix = Atomic<Bool>(false)

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

  deinit { client.remove() }

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
      if newValue != nil { client.beginReceiving() }
      receiver.withLock { $0.delegate = new.delegate }
      if newValue != nil { calls.delegateWasSet() }
      client.setReceiving(newValue != nil)
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

  /// Returns whether regions of a class can be monitored here, regardless of the authorization: ``CLBeaconRegion`` while
  /// beacons can be received, ``CLCircularRegion`` while locations can be found, and their subclasses.
  open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
    switch regionClass {
    case is CLBeaconRegion.Type: LocationServices.shared.receivesBeacons
    case is CLCircularRegion.Type: LocationServices.shared.findsLocations
    default: false
    }
  }

  /// Returns whether beacons can be ranged here.
  open class func isRangingAvailable() -> Bool { LocationServices.shared.receivesBeacons }

  /// Returns whether headings are available: whether there is a compass.
  open class func headingAvailable() -> Bool { LocationServices.shared.findsHeadings }

  /// Returns whether significant location changes are available: whether locations can be found.
  open class func significantLocationChangeMonitoringAvailable() -> Bool {
    LocationServices.shared.findsLocations
  }

  /// Returns whether location updates can be deferred: whether locations can be found.
  @available(*, deprecated, message: "Locations are not deferred any more")
  open class func deferredLocationUpdatesAvailable() -> Bool {
    LocationServices.shared.findsLocations
  }

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
    Set(beacons.regions.map { CLBeaconRegion($0) })
      .union(locations.circles.map { CLCircularRegion($0) })
  }

  /// The largest radius of a circular region, in meters: 2,000,000; -1 where locations cannot be found.
  open var maximumRegionMonitoringDistance: CLLocationDistance {
    services.findsLocations ? CircularRegion.maximumRadius : -1
  }

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
    // Those of an earlier process are read first.
    _ = services.core.authorizationStatus
    stopMonitoring(beacons: region.identifier)
    stopMonitoring(circle: region.identifier)
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

  /// The last known location of the process; `nil` if there was none.
  open var location: CLLocation? {
    services.locations.latestFix.map {
      CLLocation($0, isSimulated: services.locations.source?.isRecorded ?? false)
    }
  }

  /// The distance that the device must move before an update, in meters. By default every movement counts.
  open var distanceFilter = kCLDistanceFilterNone { didSet { changeUpdates() } }

  /// The accuracy that the app needs, in meters. The default is ``kCLLocationAccuracyBest``. Receivers and daemons work no
  /// harder than it needs.
  open var desiredAccuracy = kCLLocationAccuracyBest { didSet { changeUpdates() } }

  /// The user's activity. The default is ``CLActivityType/other``.
  open var activityType = CLActivityType.other { didSet { changeUpdates() } }

  /// A Boolean value that indicates whether updates may pause while nothing changes. The default is `true`.
  ///
  /// Unlike on Apple's systems, paused updates resume by themselves when the device moves.
  open var pausesLocationUpdatesAutomatically = true { didSet { changeUpdates() } }

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

  /// Starts location updates, with the last known location if there is one. Changes of the properties take effect at
  /// once.
  ///
  /// Failures are reported to the delegate's `locationManager(_:didFailWithError:)`; updates come again by themselves.
  open func startUpdatingLocation() { startUpdates() }

  /// Stops location updates, and cancels the request for one location.
  open func stopUpdatingLocation() {
    locations.stopUpdates()
    cancelRequest()
  }

  /// Requests one location. The delegate receives the first one of the desired accuracy, the best one of ten seconds, or,
  /// where none comes within a minute, a failure.
  open func requestLocation() { requestFix() }

  /// Starts updates of significant location changes: of 500 meters or more, at most one in five minutes.
  open func startMonitoringSignificantLocationChanges() { startSignificantChanges() }

  /// Stops updates of significant location changes, for all managers of the process.
  open func stopMonitoringSignificantLocationChanges() {
    locations.stopSignificantChanges()
  }

  /// Requests that location updates be deferred until the device has moved some meters or some seconds have passed.
  ///
  /// The delegate's `locationManager(_:didFinishDeferredUpdatesWithError:)` is called once for each call.
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

  /// Starts reports of visits: arrivals at places where the device stays for five minutes or more, and departures.
  open func startMonitoringVisits() { startVisits() }

  /// Stops reports of visits, for all managers of the process.
  open func stopMonitoringVisits() { locations.stopVisits() }

  // MARK: Heading

  /// The last known heading; `nil` if there was none.
  open var heading: CLHeading? {
    locations.latestHeading.map { CLHeading($0) }
  }

  /// The change of the heading that causes an update, in degrees. The default is 1.
  open var headingFilter: CLLocationDegrees = 1 { didSet { changeHeadings() } }

  /// The orientation of the device. The default is ``CLDeviceOrientation/portrait``.
  ///
  /// Setting it to unknown, face up or face down has no effect.
  open var headingOrientation: CLDeviceOrientation {
    get { orientation }
    set {
      switch newValue {
      case .unknown, .faceUp, .faceDown: break
      case .portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight:
        orientation = newValue
        changeHeadings()
      }
    }
  }

  private var orientation = CLDeviceOrientation.portrait

  /// Starts heading updates. True headings come while locations are updated too.
  open func startUpdatingHeading() { startHeadings() }

  /// Stops heading updates.
  open func stopUpdatingHeading() { locations.stopHeadings() }

  /// Dismisses the display for calibrating the compass. No such display is ever shown here.
  open func dismissHeadingCalibrationDisplay() {}
}
