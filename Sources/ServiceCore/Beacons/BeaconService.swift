public import Advertising
public import Ranging
public import Regions
public import Scanning

/// The beacon service of a ``ServiceManager``: sightings, ranging and regions.
///
/// Each ``BeaconClient`` has its own requests; registered regions belong to the client's group and outlive the process. The
/// radio works no harder than the demand: it is off while no client needs anything, scans slowly while regions are
/// monitored, and receives every packet while something is ranged.
public final class BeaconService: Sendable {
  /// The settings of a service.
  public struct Configuration: Sendable {
    /// How beacons are ranged.
    public var ranging = Ranger.Configuration()
    /// The seconds between two ranging reports; Core Location's is 1.
    public var rangingInterval = 1.0
    /// When regions are entered and left, where ``BeaconRegion/rules`` does not say.
    public var rules = RegionRules.standard
    /// The only sender that counts of each of these beacons, for ranging and regions: clones of them are ignored.
    public var pins: [BeaconIdentity: BluetoothAddress] = [:]
    /// The adapters by which ranged beacons have a side; `nil` for none. Subtract the adapters' offsets in the scanner.
    public var sides: Sides?
    /// How regions are monitored.
    public var monitoring = RegionMonitor.Configuration()

    /// Creates the default settings.
    public init() {}
  }

  /// The name under which regions are stored.
  package static let name = "beacons"

  /// The source of sightings; `nil` where there is none.
  public let scanner: (any Scanner)?
  /// The manager that the service belongs to.
  public let manager: ServiceManager

  let host: ServiceHost<BeaconMachine>

  /// An event names its region twice, and escapes a character with six: it is within the bound of the store.
  static let maximumIdentifierBytes = 4096

  /// Adds the service to a manager. Without a source of sightings, every request fails.
  public init(
    _ manager: ServiceManager, scanner: (any Scanner)?,
    configuration: Configuration = Configuration()
  ) {
    (self.manager, self.scanner) = (manager, scanner)
    host = ServiceHost(
      BeaconMachine(configuration, isRecorded: scanner?.isRecorded ?? false),
      source: scanner?.erased, manager: manager)
  }

  // MARK: Clients

  /// Adds a client of this service to its manager; see ``ServiceManager/addClient(in:isReceiving:pacesRecordings:)``.
  public func addClient(
    in group: ClientGroup = .application, isReceiving: Bool = true, pacesRecordings: Bool = true
  ) -> BeaconClient {
    BeaconClient(
      manager.addClient(in: group, isReceiving: isReceiving, pacesRecordings: pacesRecordings),
      of: self)
  }

  /// Throws where no request can be met. A radio that is not there yet, or off, is no reason: the request waits for
  /// it, and the receiver's state says what is the matter.
  func check() throws(BeaconServiceError) {
    if let reason = unavailability { throw .unavailable(reason) }
  }

  /// Throws where the application is refused. What it started is kept: a permission that comes later brings it.
  func checkPermission() throws(BeaconServiceError) {
    if host.read({ $0.isRefused }) { throw .denied }
  }

  private var unavailability: String? {
    if let scanner, !scanner.isRecorded { return host.end }
    guard case .unavailable(let reason) = host.availability else { return nil }
    return reason
  }

  /// Throws where no region of an identifier can be registered.
  package func check(_ identifier: String) throws(BeaconServiceError) {
    try check()
    try checkPermission()
    let bytes = identifier.utf8.count
    guard bytes <= Self.maximumIdentifierBytes else { throw .identifierTooLong(bytes: bytes) }
  }

  // MARK: State

  /// The latest state of each adapter; empty before anything was received.
  public var receiverStates: [ScannerHealth] { host.read { $0.receivers.latest } }

  /// Why nothing is received now; `nil` while something is.
  public var fault: ScannerHealth? { host.read { $0.receivers.fault } }

  /// From when until when something was received, on the line of sightings; `nil` before.
  public var received: (from: MonotonicTime, to: MonotonicTime)? {
    host.read { machine in
      guard let from = machine.engine.began, let to = machine.engine.now else { return nil }
      return (from, to)
    }
  }

  /// The number of beacons that were ranged, and how many of them had to make room for others.
  public var beaconsRanged: (count: Int, evictions: Int) { host.read { $0.engine.beaconsRanged } }

  /// The number of beacons of regions, and how many of them had to make room for others.
  public var beaconsMonitored: (count: Int, evictions: Int) {
    host.read { machine in
      let evictions = machine.engine.monitor.evictions
      return (machine.engine.monitor.beaconCount + evictions, evictions)
    }
  }

  /// Whether the source can be used now.
  package var availability: ScannerAvailability { host.availability }

  /// Whether a client needs the source now.
  package var isWanted: Bool { host.read { $0.demand != nil } }

  /// Why the source will not deliver any more, for people; `nil` while it will.
  public var end: String? { host.end }

  /// The error with which the source ended.
  public var failure: (any Error)? { host.failure }

  /// Calls a function when the events of earlier requests are on their way.
  package func afterOutput(_ body: @escaping @Sendable () -> Void) { host.afterOutput(body) }

  /// Waits until clients have dealt with everything that a recording delivered.
  package func deliveriesFinished() async { await host.deliveriesFinished() }

  /// The distance from the source's time to wall-clock time.
  public var wallClockOffset: WallClockOffset { host.read { $0.wallClockOffset } }
}
