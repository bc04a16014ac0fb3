public import Foundation
import Scanning
import Synchronization

/// The one object through which an app learns what is available and allowed, starts and stops
/// services, and is told of events.
///
/// Make one, keep it, set its ``delegate``, then start what you need. Regions are shared by all
/// managers of a process; what is ranged belongs to each. What is not available fails through the
/// delegate, never silently.
open class CLLocationManager: NSObject, @unchecked Sendable {
  // Sendable: what changes is in a mutex or atomic. A subclass answers for what it adds.
  private let settings = Mutex(Settings())
  private let passedOver = Atomic<Bool>(false)
  /// The services that it uses; all managers of a process share them.
  let services: LocationServices

  private struct Settings {
    var delegate = WeakDelegate()
    var queue: DispatchQueue?
    var purpose: String?
    var activityType = CLActivityType.other
    var distanceFilter = kCLDistanceFilterNone
    var desiredAccuracy = kCLLocationAccuracyBest
    var headingFilter: CLLocationDegrees = 1
    var headingOrientation = CLDeviceOrientation.portrait
    var pauses = true
    var inBackground = false
    var indicator = false
  }

  private struct WeakDelegate: @unchecked Sendable {
    // Sendable: it is only handed on; who calls the delegate does so where the delegate expects it.
    weak var delegate: (any CLLocationManagerDelegate)?
  }

  /// Makes a manager.
  ///
  /// Its delegate is told the authorisation soon after. Calls come on the run loop of this thread, or of
  /// the one on which a service is started later.
  public override init() {
    services = .shared
    super.init()
    services.register(self)
  }

  /// Makes a manager of other services than the process's, as tests need it. Apple's has none.
  ///
  /// - Parameter services: The services.
  public init(services: LocationServices) {
    self.services = services
    super.init()
    services.register(self)
  }

  deinit {
    services.unregister(ObjectIdentifier(self))
  }

  /// Who is told of events; held weakly.
  open var delegate: (any CLLocationManagerDelegate)? {
    get { settings.withLock { $0.delegate }.delegate }
    set {
      let weak = WeakDelegate(delegate: newValue)
      settings.withLock { $0.delegate = weak }
      if newValue == nil {
        services.delegateLeft(self)
      } else {
        services.delegateCame(to: self)
      }
    }
  }

  /// Where the delegate is called, for threads without a run loop; `nil`, the default, for the run loop of
  /// the thread on which a service is started. Set it before that. Apple's has none.
  open var delegateQueue: DispatchQueue? {
    get { settings.withLock { $0.queue } }
    set {
      settings.withLock { $0.queue = newValue }
      services.useCurrentThread(self)
    }
  }

  // MARK: Which spelling a delegate has

  /// Notes that a delegate's method was not there: its default implementation was called.
  package func passOver() {
    passedOver.store(true, ordering: .releasing)
  }

  /// Whether a delegate's method was not there, since the last time this was asked.
  package func wasPassedOver() -> Bool {
    passedOver.exchange(false, ordering: .acquiringAndReleasing)
  }

  // MARK: Authorization

  /// Whether this app may use location services.
  open var authorizationStatus: CLAuthorizationStatus { services.authorizationStatus }

  /// Whether this app may use location services, in the old spelling.
  @available(*, deprecated, message: "Use the property of the same name of a manager")
  open class func authorizationStatus() -> CLAuthorizationStatus {
    LocationServices.shared.authorizationStatus
  }

  /// Whether this app may know the exact place: always ``CLAccuracyAuthorization/fullAccuracy``.
  open var accuracyAuthorization: CLAccuracyAuthorization { .fullAccuracy }

  /// Whether widgets get locations: `false`, as there are none.
  open var isAuthorizedForWidgetUpdates: Bool { false }

  /// Asks to be allowed to use location services while the app is in use.
  ///
  /// It does nothing unless the status is not determined. The answer comes to the delegate.
  open func requestWhenInUseAuthorization() {
    services.request(.authorizedWhenInUse, for: self)
  }

  /// Asks to be allowed to use location services at any time.
  ///
  /// It does nothing unless the status is not determined, or when-in-use and never asked before.
  /// The answer comes to the delegate.
  open func requestAlwaysAuthorization() {
    services.request(.authorizedAlways, for: self)
  }

  /// Asks to know the exact place for a while, and is told that this needs no asking.
  ///
  /// - Parameters:
  ///   - purposeKey: What for; not used.
  ///   - completion: Called with ``CLError/Code/promptDeclined``, as on Apple's systems when the
  ///     accuracy is full already.
  open func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, completion: (((any Error)?) -> Void)? = nil
  ) {
    completion?(CLError(.promptDeclined))
  }

  /// Asks to know the exact place for a while, and is told that this needs no asking.
  ///
  /// - Parameter purposeKey: What for; not used.
  /// - Throws: ``CLError/Code/promptDeclined``, always.
  open func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String
  ) async throws {
    throw CLError(.promptDeclined)
  }

  // MARK: Availability

  /// Whether location services of this device are on at all.
  open class func locationServicesEnabled() -> Bool { LocationServices.shared.isEnabled }

  /// Tells whether regions of a class can be monitored here; it says nothing of authorization.
  ///
  /// - Parameter regionClass: ``CLBeaconRegion``, ``CLCircularRegion`` or a class of the app's own.
  /// - Returns: Whether they can.
  open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
    regionClass is CLBeaconRegion.Type && LocationServices.shared.isEnabled
  }

  /// Whether beacons can be ranged here.
  open class func isRangingAvailable() -> Bool { LocationServices.shared.isEnabled }

  /// Whether headings can be found here: not yet.
  open class func headingAvailable() -> Bool { false }

  /// Whether significant changes of the location can be found here: not yet.
  open class func significantLocationChangeMonitoringAvailable() -> Bool { false }

  /// Whether locations can be deferred here: not yet.
  @available(*, deprecated, message: "Locations are not deferred any more")
  open class func deferredLocationUpdatesAvailable() -> Bool { false }

  /// Whether any region can be monitored here, in the old spelling.
  @available(*, deprecated, message: "Use isMonitoringAvailable(for:)")
  open class func regionMonitoringAvailable() -> Bool {
    isMonitoringAvailable(for: CLBeaconRegion.self)
  }

  /// Whether any region can be monitored here, in the old spelling.
  @available(*, deprecated, message: "Use isMonitoringAvailable(for:) and authorizationStatus")
  open class func regionMonitoringEnabled() -> Bool {
    isMonitoringAvailable(for: CLBeaconRegion.self)
  }

  /// Whether location services are on, in the old spelling.
  @available(*, deprecated, message: "Use the class method of the same name")
  open var locationServicesEnabled: Bool { Self.locationServicesEnabled() }

  /// Whether headings can be found here, in the old spelling.
  @available(*, deprecated, message: "Use the class method of the same name")
  open var headingAvailable: Bool { Self.headingAvailable() }

  // MARK: Regions

  /// The regions that are monitored, whoever of the process or before it began that.
  open var monitoredRegions: Set<CLRegion> { services.monitoredRegions }

  /// The largest radius of a region, in metres; -1 as long as circles cannot be monitored.
  open var maximumRegionMonitoringDistance: CLLocationDistance { -1 }

  /// Begins to monitor a region.
  ///
  /// A region of the same identifier that is monitored is replaced. Failures come to the delegate's
  /// `locationManager(_:monitoringDidFailFor:withError:)`.
  ///
  /// - Parameter region: What to monitor.
  open func startMonitoring(for region: CLRegion) {
    services.startMonitoring(region, for: self)
  }

  /// ``startMonitoring(for:)``, in the old spelling.
  ///
  /// - Parameters:
  ///   - region: What to monitor.
  ///   - accuracy: How far beyond the edge a crossing counts, in metres; not used for beacons.
  @available(*, deprecated, renamed: "startMonitoring(for:)")
  open func startMonitoring(for region: CLRegion, desiredAccuracy accuracy: CLLocationAccuracy) {
    startMonitoring(for: region)
  }

  /// Ends monitoring the region of that identifier; does nothing if there is none.
  ///
  /// - Parameter region: A region of the identifier that is meant.
  open func stopMonitoring(for region: CLRegion) {
    services.stopMonitoring(region)
  }

  /// Asks on which side of a region's boundary the device is; the delegate is told.
  ///
  /// - Parameter region: The region.
  open func requestState(for region: CLRegion) {
    services.requestState(of: region, for: self)
  }

  // MARK: Ranging

  /// The constraints that this manager ranges.
  open var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> {
    Set(services.ranged(by: self).map { CLBeaconIdentityConstraint($0.0) })
  }

  /// The regions that this manager ranges in the old spelling.
  @available(*, deprecated, renamed: "rangedBeaconConstraints")
  open var rangedRegions: Set<CLRegion> {
    Set(services.ranged(by: self).compactMap { $0.1?.duplicate() })
  }

  /// Begins to range beacons; the delegate is told once a second.
  ///
  /// - Parameter constraint: Which beacons.
  open func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    services.startRanging(constraint, in: nil, for: self)
  }

  /// Ends ranging the constraint that equals this one.
  ///
  /// - Parameter constraint: Which beacons.
  open func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    services.stopRanging(constraint, for: self)
  }

  /// Begins to range the beacons of a region, in the old spelling.
  ///
  /// - Parameter region: Which beacons.
  @available(*, deprecated, renamed: "startRangingBeacons(satisfying:)")
  open func startRangingBeacons(in region: CLBeaconRegion) {
    services.startRanging(
      region.beaconIdentityConstraint, in: region.duplicate(), for: self)
  }

  /// Ends ranging a region, in the old spelling.
  ///
  /// - Parameter region: Which beacons.
  @available(*, deprecated, renamed: "stopRangingBeacons(satisfying:)")
  open func stopRangingBeacons(in region: CLBeaconRegion) {
    services.stopRanging(region.beaconIdentityConstraint, for: self)
  }

  // MARK: Locations

  /// The last location that was found; `nil`, as none is found yet.
  open var location: CLLocation? { nil }

  /// How far one must move for a new location, in metres. The default is none.
  open var distanceFilter: CLLocationDistance {
    get { settings.withLock { $0.distanceFilter } }
    set { settings.withLock { $0.distanceFilter = newValue } }
  }

  /// How exact locations must be, in metres. The default is ``kCLLocationAccuracyBest``.
  open var desiredAccuracy: CLLocationAccuracy {
    get { settings.withLock { $0.desiredAccuracy } }
    set { settings.withLock { $0.desiredAccuracy = newValue } }
  }

  /// What the user does. The default is ``CLActivityType/other``.
  open var activityType: CLActivityType {
    get { settings.withLock { $0.activityType } }
    set { settings.withLock { $0.activityType = newValue } }
  }

  /// Whether updates may pause when nothing will change. The default is `true`.
  open var pausesLocationUpdatesAutomatically: Bool {
    get { settings.withLock { $0.pauses } }
    set { settings.withLock { $0.pauses = newValue } }
  }

  /// Whether updates go on in the background. The default is `false`.
  ///
  /// Unlike Apple's, setting it needs no background mode and never traps.
  open var allowsBackgroundLocationUpdates: Bool {
    get { settings.withLock { $0.inBackground } }
    set { settings.withLock { $0.inBackground = newValue } }
  }

  /// Whether the user is shown that updates go on. The default is `false`; nothing is shown here.
  open var showsBackgroundLocationIndicator: Bool {
    get { settings.withLock { $0.indicator } }
    set { settings.withLock { $0.indicator = newValue } }
  }

  /// What locations are used for, in the words of the app; not shown here.
  @available(*, deprecated, message: "Apps say so in their manifest")
  open var purpose: String? {
    get { settings.withLock { $0.purpose } }
    set { settings.withLock { $0.purpose = newValue } }
  }

  /// Begins to find locations. It fails through the delegate: no service finds any yet.
  open func startUpdatingLocation() {
    fail("locations")
  }

  /// Ends finding locations.
  open func stopUpdatingLocation() {}

  /// Finds one location. It fails through the delegate: no service finds any yet.
  open func requestLocation() {
    fail("locations")
  }

  /// Begins to find changes of some 500 metres. It fails through the delegate: no service does yet.
  open func startMonitoringSignificantLocationChanges() {
    fail("locations")
  }

  /// Ends finding such changes.
  open func stopMonitoringSignificantLocationChanges() {}

  /// Asks that locations be kept until a distance or a time is reached.
  ///
  /// It fails through the delegate's `locationManager(_:didFinishDeferredUpdatesWithError:)`.
  ///
  /// - Parameters:
  ///   - distance: How far, in metres.
  ///   - timeout: How long, in seconds.
  @available(*, deprecated, message: "Locations are not deferred any more")
  open func allowDeferredLocationUpdates(
    untilTraveled distance: CLLocationDistance, timeout: TimeInterval
  ) {
    services.useCurrentThread(self)
    services.send(to: self) { manager in
      manager.delegate?.locationManager(
        manager, didFinishDeferredUpdatesWithError: CLError(.deferredFailed)._nsError)
    }
  }

  /// Asks that locations be no longer kept.
  @available(*, deprecated, message: "Locations are not deferred any more")
  open func disallowDeferredLocationUpdates() {}

  // MARK: Visits

  /// Begins to find visits. It fails through the delegate: no service finds any yet.
  open func startMonitoringVisits() {
    fail("visits")
  }

  /// Ends finding visits.
  open func stopMonitoringVisits() {}

  // MARK: Heading

  /// The last heading that was found; `nil`, as none is found yet.
  open var heading: CLHeading? { nil }

  /// How far the heading must change to be reported, in degrees. The default is 1.
  open var headingFilter: CLLocationDegrees {
    get { settings.withLock { $0.headingFilter } }
    set { settings.withLock { $0.headingFilter = newValue } }
  }

  /// How the device is held. The default is ``CLDeviceOrientation/portrait``.
  ///
  /// Unknown, face up and face down are ignored.
  open var headingOrientation: CLDeviceOrientation {
    get { settings.withLock { $0.headingOrientation } }
    set {
      switch newValue {
      case .unknown, .faceUp, .faceDown: break
      case .portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight:
        settings.withLock { $0.headingOrientation = newValue }
      }
    }
  }

  /// Begins to find the heading. It fails through the delegate: no service finds any yet.
  open func startUpdatingHeading() {
    fail("headings", .headingFailure)
  }

  /// Ends finding the heading.
  open func stopUpdatingHeading() {}

  /// Ends asking the user to calibrate the compass; nobody is asked here.
  open func dismissHeadingCalibrationDisplay() {}

  /// Says that a service is not there yet.
  private func fail(_ service: String, _ code: CLError.Code = .denied) {
    services.useCurrentThread(self)
    services.send(to: self) { manager in
      manager.tellFailure(CLError(code, "no service of this system finds \(service)"))
    }
  }
}
