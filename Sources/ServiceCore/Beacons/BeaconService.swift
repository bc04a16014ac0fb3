public import Advertising
public import Ranging
public import Regions
public import Scanning

/// The beacon service of a ``ServiceManager``: sightings, ranging and regions.
///
/// Registered regions belong to a client's group and outlive the process. The radio is off while no
/// client needs it, and receives every packet only while something is ranged.
public final class BeaconService: Sendable {
  /// The settings of a service.
  public struct Configuration: Sendable {
    /// The settings of ranging.
    public var ranging = Ranger.Configuration()
    /// The seconds between two ranging reports, as in Core Location 1 by default.
    public var rangingInterval = 1.0
    /// The rules of regions without ``BeaconRegion/rules``.
    public var rules = RegionRules.standard
    /// The only sender that counts of each of these beacons; clones are ignored.
    public var pins: [BeaconIdentity: BluetoothAddress] = [:]
    /// The adapters that give ranged beacons a side, if the scanner subtracts the adapters'
    /// offsets.
    public var sides: Sides?
    /// The settings of monitoring.
    public var monitoring = RegionMonitor.Configuration()

    /// Creates the default settings.
    public init() {}
  }

  package static let name = "beacons"

  /// The source of sightings, if there is one.
  public let scanner: (any Scanner)?
  /// The manager of the service.
  public let manager: ServiceManager

  let host: ServiceHost<BeaconMachine>

  /// Adds the service to a manager. Without a scanner, every request fails.
  public init(
    _ manager: ServiceManager, scanner: (any Scanner)?,
    configuration: Configuration = Configuration()
  ) {
    (self.manager, self.scanner) = (manager, scanner)
    host = ServiceHost(
      BeaconMachine(configuration, isRecorded: scanner?.isRecorded ?? false),
      source: scanner?.erased, manager: manager)
  }

  /// Adds the service to a manager, with the source of another manager's service.
  package init(
    _ manager: ServiceManager, sharing other: BeaconService,
    configuration: Configuration = Configuration()
  ) {
    self.manager = manager
    scanner = other.scanner
    host = ServiceHost(
      BeaconMachine(configuration, isRecorded: other.scanner?.isRecorded ?? false),
      sharing: other.host.shared, manager: manager)
  }

  /// The state of the service in this process, for another one.
  package var status: BeaconStatus {
    var status = BeaconStatus()
    status.source = SourceStatus(host)
    status.source.isWanted = isWanted
    status.source.wallClockOffset = wallClockOffset
    status.receiverStates = receiverStates
    status.fault = fault
    if let received { status.received = [received.from, received.to] }
    status.ranged = BeaconCount(beaconsRanged)
    status.monitored = BeaconCount(beaconsMonitored)
    return status
  }

  /// The state of the service in the daemon, if there is one.
  private var remote: BeaconStatus? { manager.daemon?.beaconStatus }

  /// Adds a client; see ``ServiceManager/addClient(in:isReceiving:pacesRecordings:)``.
  public func addClient(
    in group: ClientGroup = .application, isReceiving: Bool = true, pacesRecordings: Bool = true
  ) -> BeaconClient {
    BeaconClient(
      manager.addClient(in: group, isReceiving: isReceiving, pacesRecordings: pacesRecordings),
      of: self)
  }

  /// Throws if no request can succeed. A radio that is missing or off may come.
  func check() throws(BeaconServiceError) {
    if let reason = host.unavailability { throw .unavailable(reason) }
  }

  /// Throws if the application is refused. Its requests are kept for a later permission.
  func checkPermission() throws(BeaconServiceError) {
    if host.read({ $0.isRefused }) { throw .denied }
  }

  /// Throws if no region with this identifier can be registered.
  package func check(_ identifier: String) throws(BeaconServiceError) {
    try check()
    try checkPermission()
    try BeaconServiceError.check(identifier)
  }

  /// The latest state of each adapter; empty before the first report.
  public var receiverStates: [ScannerHealth] {
    remote?.receiverStates ?? host.read { $0.receivers.latest }
  }

  /// The reason why nothing is received now, or `nil`.
  public var fault: ScannerHealth? {
    if let remote { return remote.fault }
    return host.read { $0.receivers.fault }
  }

  /// The first and the last moment of reception, on the time line of sightings; `nil` before.
  public var received: (from: MonotonicTime, to: MonotonicTime)? {
    if let remote {
      return remote.received.count == 2 ? (remote.received[0], remote.received[1]) : nil
    }
    return host.read { machine in
      guard let from = machine.engine.began, let to = machine.engine.now else { return nil }
      return (from, to)
    }
  }

  /// The number of beacons that were ranged, and of those that were removed for others.
  public var beaconsRanged: (count: Int, evictions: Int) {
    if let remote { return (remote.ranged.count, remote.ranged.evictions) }
    return host.read { $0.engine.beaconsRanged }
  }

  /// The number of beacons of regions, and of those that were removed for others.
  public var beaconsMonitored: (count: Int, evictions: Int) {
    if let remote { return (remote.monitored.count, remote.monitored.evictions) }
    return host.read { machine in
      let evictions = machine.engine.monitor.evictions
      return (machine.engine.monitor.beaconCount + evictions, evictions)
    }
  }

  package var availability: ScannerAvailability {
    remote?.source.availability ?? host.availability
  }

  /// Whether regions are registered, which outlive the clients.
  package var hasRegistrations: Bool {
    manager.restore()
    return regionCount > 0
  }

  /// The groups that have regions in this process.
  package var groups: Set<ClientGroup> { host.read { $0.groups } }

  /// The number of regions that are registered in this process.
  package var regionCount: Int { host.read { $0.regionCount } }

  /// The demand of the clients in this process.
  package var demand: ScanDemand { host.read { $0.demand?.demand ?? .none } }

  package var isWanted: Bool { remote?.source.isWanted ?? host.read { $0.demand != nil } }

  package var hasSource: Bool {
    if let remote { return remote.source.source != nil }
    return scanner != nil
  }

  /// Whether there is a source, and it is a recording.
  package var isRecorded: Bool { remote?.source.isRecorded ?? host.isRecorded }

  /// The reason why the source has ended, as a sentence; `nil` while it has not.
  public var end: String? {
    if let remote { return remote.source.end }
    return host.end
  }

  /// The error with which the source ended.
  public var failure: (any Error)? {
    if let remote { return remote.source.failure.map { RemoteFailure(description: $0) } }
    return host.failure
  }

  /// Calls a function after the events of earlier requests are handed out.
  package func afterOutput(_ body: @escaping @Sendable () -> Void) {
    if let daemon = manager.daemon { return daemon.afterOutput(.beacons, body) }
    host.afterOutput(body)
  }

  package func deliveriesFinished() async {
    if let daemon = manager.daemon { return await daemon.deliveriesFinished(.beacons) }
    await host.deliveriesFinished()
  }

  /// The offset from the source's time to wall-clock time.
  public var wallClockOffset: WallClockOffset {
    remote?.source.wallClockOffset ?? host.read { $0.wallClockOffset }
  }
}
