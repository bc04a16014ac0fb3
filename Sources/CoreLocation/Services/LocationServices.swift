import CaptureFiles
public import Dispatch
import Foundation
import LiveScanning
import LocationSources
public import Logging
import Positioning
public import Ranging
public import Regions
public import Scanning
public import ServiceCore
import Synchronization

/// The services that all managers of a process share: the sources, the authorization, and the data
/// that outlives the process. Apple's systems have no such type.
///
/// Managers use ``shared``, which receives with the machine's adapters, unless the app chooses
/// other settings at its start:
///
/// ```swift
/// var configuration = LocationServices.Configuration()
/// configuration.scanner = try ReplayScanner(paths: ["visitor.btsnoop"])
/// LocationServices.bootstrap(configuration)
/// ```
public final class LocationServices: Sendable {
  /// The settings of the services.
  public struct Configuration: Sendable {
    /// The source of beacons; `nil` for the recordings in the environment (see
    /// ``EnvironmentScanner``), or else the machine's adapters, unless locations come from a
    /// recording.
    public var scanner: (any Scanning.Scanner)?
    /// The source of locations and headings; `nil` for the recordings in the environment, or else
    /// the system's daemons, unless beacons come from a recording.
    public var locationSource: PositionSource?
    /// Whether the system's daemon receives for the app, where it has no source of its own.
    public var daemon = DaemonUse.automatic
    /// The way in which the daemon starts the app for events while it does not run.
    public var relaunch = Relaunch.automatic
    /// The name under which data is stored; by default the program file's name.
    public var applicationIdentifier = ServiceManager.Configuration().applicationIdentifier
    /// The part of the system that decides what the application may do.
    public var authorization: any AuthorizationProvider = SystemAuthorization()
    /// The place of the data that outlives the process. A replay that the environment names does
    /// not use the standard place.
    public var persistence = Persistence.standard
    /// The settings of ranging.
    public var ranging = Ranger.Configuration()
    /// The seconds between two ranging reports; 1, as on Apple's systems, by default.
    public var rangingInterval = 1.0
    /// The rules for entering and leaving regions without ``CLBeaconRegion/rules`` of their own.
    public var rules = RegionRules.standard
    /// The settings of monitoring. `maximumRegions` is 20 on Apple's systems.
    public var monitoring = RegionMonitor.Configuration()
    /// The queue on which delegates are called, unless ``CLLocationManager/delegateQueue`` is set;
    /// `nil` for the run loop of the thread that starts a service.
    public var delegateQueue: DispatchQueue?
    /// The log of diagnostics: lines on standard error, unless the process bootstraps swift-log.
    public var logger = Logger(label: "CoreLocation")

    /// Creates the default settings.
    public init() {}
  }

  /// The use of the daemon that receives for all apps of a system; see `docs/daemon.md`.
  public enum DaemonUse: Sendable, Hashable {
    /// The daemon is used where it answers; elsewhere the process receives by itself.
    case automatic
    /// The process does not receive by itself. A daemon that does not answer is a fault.
    case required
    /// The process receives by itself.
    case never
  }

  /// The way in which the daemon starts an app that may use the services always, and does not run,
  /// when a region is crossed.
  public enum Relaunch: Sendable, Hashable {
    /// A unit of the system is started by systemd, and another program in its user's session, with
    /// the same arguments, where `beaconscan session` runs.
    case automatic
    /// The program that the session's bus has for a name is started.
    case busName(String)
    /// A file in `/run/beaconscan/launch` is written, which a unit of the type `path` may watch.
    case file
    /// The app is not started. The events wait for it.
    case never
  }

  /// A place for data that outlives the process.
  public typealias Persistence = ServiceManager.Persistence

  /// The services that managers use unless they are given others.
  public static var shared: LocationServices {
    if let services = bootstrapped.withLock({ $0 }) { return services }
    // This is outside of the lock, because it may log. The first of two threads at once wins.
    let made = LocationServices(Configuration())
    return bootstrapped.withLock { services in
      let shared = services ?? made
      services = shared
      return shared
    }
  }

  private static let bootstrapped = Mutex<LocationServices?>(nil)

  /// Chooses the settings of the process's services. Returns `false` if they are already in use.
  @discardableResult
  public static func bootstrap(_ configuration: Configuration) -> Bool {
    let made = LocationServices(configuration)
    return bootstrapped.withLock { services in
      guard services == nil else { return false }
      services = made
      return true
    }
  }

  /// The settings.
  public let configuration: Configuration
  /// The source of beacons; `nil` without one.
  public let scanner: (any Scanning.Scanner)?

  package let core: ServiceManager
  package let beacons: BeaconService
  package let locations: LocationService
  let monitors = Mutex<[String: ConditionMonitor]>([:])

  /// Creates services apart from the process's own, for tests.
  public convenience init(_ configuration: Configuration) {
    self.init(configuration, environment: ProcessInfo.processInfo.environment)
  }

  /// Creates services with the given environment variables.
  convenience init(_ configuration: Configuration, environment: [String: String]) {
    if let daemon = Self.daemon(configuration, environment) {
      self.init(configuration, through: daemon)
    } else {
      self.init(receiving: configuration, environment: environment)
    }
  }

  /// Returns the daemon, if it is to be used and answers, or is required.
  private static func daemon(
    _ configuration: Configuration, _ environment: [String: String]
  ) -> DaemonLink? {
    guard configuration.daemon != .never, configuration.scanner == nil,
      configuration.locationSource == nil, EnvironmentScanner.Recordings(environment) == nil
    else { return nil }
    var hello = AppHello()
    hello.rangingInterval = configuration.rangingInterval
    hello.rules = configuration.rules
    hello.maximumRegions = configuration.monitoring.maximumRegions
    hello.launch =
      switch configuration.relaunch {
      case .automatic: .thisProgram
      case .busName(let name): .busName(name)
      case .file: .marker
      case .never: .never
      }
    return DaemonLink.link(
      hello, isRequired: configuration.daemon == .required, environment: environment,
      logger: configuration.logger)
  }

  /// Creates services that a daemon carries out.
  package init(_ configuration: Configuration, through daemon: DaemonLink) {
    self.configuration = configuration
    scanner = nil
    var settings = ServiceManager.Configuration()
    settings.applicationIdentifier = configuration.applicationIdentifier
    settings.persistence = .none
    settings.logger = configuration.logger
    settings.daemon = daemon
    core = ServiceManager(settings)
    beacons = BeaconService(core, scanner: nil)
    locations = LocationService(core, source: nil)
  }

  /// Creates services with sources of this process.
  private init(receiving configuration: Configuration, environment: [String: String]) {
    self.configuration = configuration
    let recordings = EnvironmentScanner.Recordings(environment)
    let application = configuration.applicationIdentifier
    var scanner = configuration.scanner
    var source = configuration.locationSource?.make(application)
    // If one source is recorded, the other one is not live.
    let isReplay = recordings != nil || scanner?.isRecorded == true || source?.isRecorded == true
    let isLive = (scanner: scanner == nil && !isReplay, source: source == nil && !isReplay)
    if isReplay {
      let named = recordings?.open(captures: scanner == nil, tracks: source == nil) {
        configuration.logger.error("\($0)")
      }
      scanner = scanner ?? named?.scanner
      source = source ?? named?.source
    } else {
      scanner = scanner ?? LiveScanner()
      source = source ?? PositionSource.automatic().make(application)
    }
    if let captures = scanner as? ReplayScanner, let tracks = source as? TrackReplay {
      let merged = MergedReplay(captures, tracks, startsTogether: false)
      (scanner, source) = (merged.scanner, merged.source)
    }
    self.scanner = scanner
    var settings = ServiceManager.Configuration()
    settings.applicationIdentifier = application
    settings.authorization = configuration.authorization
    let isTrial =
      configuration.scanner == nil && scanner?.isRecorded == true
      || configuration.locationSource == nil && source?.isRecorded == true
    settings.persistence =
      isTrial && configuration.persistence == .standard ? .none : configuration.persistence
    settings.logger = configuration.logger
    core = ServiceManager(settings)
    var beaconSettings = BeaconService.Configuration()
    beaconSettings.ranging = configuration.ranging
    beaconSettings.rangingInterval = configuration.rangingInterval
    beaconSettings.rules = configuration.rules
    beaconSettings.monitoring = configuration.monitoring
    beacons = BeaconService(core, scanner: scanner, configuration: beaconSettings)
    locations = LocationService(core, source: source)
    if isLive.scanner || isLive.source {
      logFaults(ofBeacons: isLive.scanner, ofLocations: isLive.source)
    }
  }

  /// Logs the reasons that nothing is received, for an app that does not read receiver states.
  private func logFaults(ofBeacons: Bool, ofLocations: Bool) {
    let client = core.addClient(in: .observers, isReceiving: false) {
      [logger = configuration.logger] delivery in
      if ofBeacons, case .health(let health, _)? = delivery.event as? BeaconEvent,
        health.isReceptionLost
      {
        logger.error("\(health.sentence)")
      }
      if ofLocations, case .health(let health, _)? = delivery.event as? LocationEvent,
        health.condition.isFault
      {
        logger.error("\(health.sentence)")
      }
      delivery.complete()
    }
    client.beginReceiving()
  }

  /// Adds a manager's client, whose delegate is called on the queue or the thread's run loop.
  func addManager(in group: ClientGroup) -> (ServiceClient, DelegateCalls) {
    let context = configuration.delegateQueue.map { DeliveryContext.queue($0) } ?? .current()
    let calls = DelegateCalls(in: context)
    return (core.addClient(in: group, isReceiving: false) { calls.deliver($0) }, calls)
  }

  var authorizationStatus: CLAuthorizationStatus {
    core.checkAuthorization()
    return CLAuthorizationStatus(core.authorizationStatus)
  }

  var isEnabled: Bool { receivesBeacons || findsLocations }

  var receivesBeacons: Bool { beacons.availability == .available }

  /// Whether there is a source of locations, even if this application may not use it.
  var findsLocations: Bool {
    switch locations.availability {
    case .available, .notPermitted: true
    case .unavailable: false
    }
  }

  var findsHeadings: Bool { locations.hasCompass && locations.end == nil }

  static let noSource =
    "nothing is received: the recording that BEACONSCAN_REPLAY names cannot be opened; name another one, or none to "
    + "receive with the adapters and the location daemons"

  /// The states of the receivers: the present state of each adapter and of the source of locations,
  /// then every change. In the state of a location source, its name replaces the adapter's.
  ///
  /// ```swift
  /// for await health in LocationServices.shared.health where health.condition.isFault {
  ///   print(health.sentence)
  /// }
  /// ```
  ///
  /// Each iteration has its own sequence, which ends when nothing more will be received. The newest
  /// 64 changes wait for a slow iteration. Only Linux has this member.
  public var health: AsyncStream<ScannerHealth> {
    let source = locations.sourceName ?? ""
    let hasEnded = { @Sendable [endings] in endings.allSatisfy { $0.end != nil } }
    return AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let client = core.addClient(in: .observers, isReceiving: false) { delivery in
        switch delivery.event {
        case BeaconEvent.health(let health, _): continuation.yield(health)
        case LocationEvent.health(let health, _):
          continuation.yield(
            ScannerHealth(health, of: health.subject == .headings ? "compass" : source))
        case BeaconEvent.ended, LocationEvent.ended: if hasEnded() { continuation.finish() }
        default: break
        }
        delivery.complete()
      }
      continuation.onTermination = { [weak core, identifier = client.identifier] _ in
        core?.removeClient(identifier)
      }
      BeaconClient(client, of: beacons).reportReceiverStates()
      LocationClient(client, of: locations).reportHealth()
      if hasEnded() {
        beacons.afterOutput { [locations] in locations.afterOutput { continuation.finish() } }
      }
    }
  }

  /// Waits until nothing more will be received and every delegate has dealt with all that was. As
  /// the last line of a program's main file, it also serves the main thread's delegates:
  ///
  /// ```swift
  /// try await LocationServices.shared.ended()
  /// ```
  ///
  /// A recording waits for its client, so it ends only if there is demand. A radio ends only when
  /// it fails for good. Apple's systems have no such call.
  ///
  /// - Throws: The failure of the recording or the radio; ``CLError/Code/rangingUnavailable``
  ///   without a source; `CancellationError` when the task is canceled.
  public func ended() async throws {
    let endings = endings
    guard !endings.isEmpty else { throw CLError(.rangingUnavailable, Self.noSource) }
    try await withThrowingTaskGroup { group in
      for ending in endings where ending.end == nil {
        group.addTask { [core] in try await ending.waitForEnd(core) }
      }
      repeat {
        let isOver =
          endings.contains { $0.end != nil } && !endings.contains { $0.end == nil && $0.isWanted }
        if isOver { break }
      } while try await group.next() != nil
      group.cancelAll()
    }
    try Task.checkCancellation()
    // This waits until the clients have dealt with earlier events, or throws the failure.
    for ending in endings where ending.end != nil { try await ending.waitForEnd(core) }
  }

  /// The services that must end: those that are replayed or, if none is, all that have a source.
  private var endings: [any SourceService] {
    var services: [(isRecorded: Bool, service: any SourceService)] = []
    if beacons.hasSource { services.append((beacons.isRecorded, beacons)) }
    if locations.sourceName != nil { services.append((locations.isRecorded, locations)) }
    let isReplay = services.contains(where: \.isRecorded)
    return services.filter { $0.isRecorded == isReplay }.map(\.service)
  }
}

/// A service with a source, which can fail and end.
protocol SourceService: Sendable {
  /// The reason that nothing is found now; `nil` if there is none.
  var knownFault: (sentence: String, isRefusal: Bool)? { get }
  var end: String? { get }
  var failure: (any Error)? { get }
  var isWanted: Bool { get }
  func afterOutput(_ body: @escaping @Sendable () -> Void)
  func deliveriesFinished() async
  func readEvents(of client: ServiceClient) async throws
}

extension SourceService {
  /// Waits for the end, and until every client has dealt with all events. Throws the failure.
  fileprivate func waitForEnd(_ core: ServiceManager) async throws {
    // This client reads the events of one service only, so no recording waits for it. An end that
    // comes after the look is among its events.
    let client = core.addClient(in: .observers, pacesRecordings: false)
    defer { client.remove() }
    if end == nil { try await readEvents(of: client) }
    await deliveriesFinished()
    if let failure { throw failure }
  }
}

extension BeaconService: SourceService {
  var knownFault: (sentence: String, isRefusal: Bool)? { fault.map { ($0.sentence, false) } }

  func readEvents(of client: ServiceClient) async throws {
    for try await _ in BeaconClient(client, of: self).events {}
  }
}

extension LocationService: SourceService {
  var knownFault: (sentence: String, isRefusal: Bool)? {
    fault.map { ($0.sentence, $0.isRefusal) }
  }

  func readEvents(of client: ServiceClient) async throws {
    for try await _ in LocationClient(client, of: self).events {}
  }
}

extension ScannerHealth {
  /// Creates a receiver state from the state of a source of locations.
  fileprivate init(_ health: LocationHealth, of source: String) {
    let condition: Condition =
      switch health.condition {
      case .receiving: .scanning
      case .searching: .quiet
      case .noReceiver: .removed
      case .notRunning: .down
      case .notAnswering: .notAnswering
      case .notPermitted, .denied: .notPermitted
      case .refused: .refused
      }
    self.init(
      condition, at: health.time, adapter: source, isReceptionLost: health.condition.isFault,
      sentence: health.sentence)
  }
}

extension ClientGroup {
  /// The clients that need no events of regions, which the application's managers receive.
  static let observers = ClientGroup("observers")
}
