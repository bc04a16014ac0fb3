public import Dispatch
import Foundation
public import Logging
public import Ranging
public import Regions
public import Scanning
public import ServiceCore
import Synchronization

/// The services of a process, which all its managers share: the source of beacons, the application's authorization,
/// and what outlives the process.
///
/// An app that was written for Apple's systems need not know it: managers use ``shared``, which receives with the
/// machine's adapters. An app for Linux may choose at its start:
///
/// ```swift
/// var configuration = LocationServices.Configuration()
/// configuration.scanner = try ReplayScanner(paths: ["visitor.btsnoop"])
/// LocationServices.bootstrap(configuration)
/// ```
///
/// Apple's systems have no such type.
public final class LocationServices: Sendable {
  /// The settings of the services.
  public struct Configuration: Sendable {
    /// The source of beacons; `nil` for the machine's adapters, or the recordings that the environment names (see
    /// ``EnvironmentScanner``).
    public var scanner: (any Scanning.Scanner)?
    /// The application's identifier: its regions and its authorization are stored under this name. The default is
    /// the name of the program's file.
    public var applicationIdentifier = ServiceManager.Configuration().applicationIdentifier
    /// The part of the system that decides what the application may do.
    public var authorization: any AuthorizationProvider = SystemAuthorization()
    /// Where regions, their states and the authorization outlive the process. A replay that the environment
    /// names keeps nothing in the standard place (see ``EnvironmentScanner``).
    public var persistence = Persistence.standard
    /// How beacons are ranged.
    public var ranging = Ranger.Configuration()
    /// The seconds between two ranging reports; Core Location's is 1.
    public var rangingInterval = 1.0
    /// When regions are entered and left, where ``CLBeaconRegion/rules`` does not say.
    public var rules = RegionRules.standard
    /// How regions are monitored; `maximumRegions` is the limit that Apple's systems set at 20.
    public var monitoring = RegionMonitor.Configuration()
    /// Where delegates are called, for processes without run loops; `nil` for the run loop of the thread on which a
    /// service was started. Managers may name their own: ``CLLocationManager/delegateQueue``.
    public var delegateQueue: DispatchQueue?
    /// Takes diagnostics: one line on standard error each, unless the process has bootstrapped swift-log.
    public var logger = Logger(label: "CoreLocation")

    /// Creates the default settings.
    public init() {}
  }

  /// A place where something outlives the process.
  public typealias Persistence = ServiceManager.Persistence

  /// The services that managers use unless they are given others.
  public static var shared: LocationServices {
    if let services = bootstrapped.withLock({ $0 }) { return services }
    // Outside of the lock, because it may log. Of two threads at once, the first one's is used.
    let made = LocationServices(Configuration())
    return bootstrapped.withLock { services in
      let shared = services ?? made
      services = shared
      return shared
    }
  }

  private static let bootstrapped = Mutex<LocationServices?>(nil)

  /// Chooses the settings of the process's services, before any is used.
  ///
  /// - Returns: Whether it came in time; services that are in use stay as they are.
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
  /// The source of beacons; `nil` where none was named.
  public let scanner: (any Scanning.Scanner)?

  /// The core below the services.
  package let core: ServiceManager
  package let beacons: BeaconService
  let monitors = Mutex<[String: ConditionMonitor]>([:])

  /// Creates services of their own, as tests need them.
  public convenience init(_ configuration: Configuration) {
    self.init(configuration, environment: ProcessInfo.processInfo.environment)
  }

  /// Creates services for an environment of the process.
  init(_ configuration: Configuration, environment: [String: String]) {
    self.configuration = configuration
    scanner =
      configuration.scanner
      ?? EnvironmentScanner.make(environment) { configuration.logger.error("\($0)") }
    var settings = ServiceManager.Configuration()
    settings.applicationIdentifier = configuration.applicationIdentifier
    settings.authorization = configuration.authorization
    let isTrial = configuration.scanner == nil && scanner?.isRecorded == true
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
    if configuration.scanner == nil, let scanner, !scanner.isRecorded { logFaults() }
  }

  /// Logs why nothing is received, as one sentence each time: an app that was written for Apple's systems asks for no
  /// receiver state.
  private func logFaults() {
    _ = core.addClient(in: .observers, isReceiving: false) {
      [logger = configuration.logger] delivery in
      if case .health(let health, _)? = delivery.event as? BeaconEvent, health.isReceptionLost {
        logger.error("\(health.sentence)")
      }
      delivery.acknowledge()
      delivery.finish()
    }
  }

  /// Adds the client of a manager. Its delegate is called on the run loop of the current thread, or on the queue of
  /// the settings.
  func addManager(in group: ClientGroup) -> (ClientIdentifier, DelegateCalls) {
    let context = configuration.delegateQueue.map { DeliveryContext.queue($0) } ?? .current()
    let calls = DelegateCalls(in: context)
    return (core.addClient(in: group, isReceiving: false) { calls.deliver($0) }, calls)
  }

  /// The authorization now.
  var authorizationStatus: CLAuthorizationStatus {
    core.checkAuthorization()
    return CLAuthorizationStatus(core.authorizationStatus)
  }

  /// Whether anything receives beacons at all.
  var isEnabled: Bool { scanner != nil && core.availability == .available }

  static let noScanner =
    "nothing receives beacons: the recording that BEACONSCAN_REPLAY names cannot be opened; name another one, or none to "
    + "receive with the adapters"

  // MARK: The receiver and the end

  /// The states of the receiver: the present state of each adapter, then every change, as it comes.
  ///
  /// A quiet room and a receiver that cannot receive look alike to delegates; this tells them apart.
  ///
  /// ```swift
  /// for await health in LocationServices.shared.health where health.condition.isFault {
  ///   print(health.sentence)
  /// }
  /// ```
  ///
  /// Each iteration has its own sequence. Nothing is known before something is received. For a slow iteration, the
  /// newest 64 changes wait. The sequence ends where nothing more will be received. Apple's systems have no such
  /// member.
  public var health: AsyncStream<ScannerHealth> {
    AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let client = core.addClient(in: .observers, isReceiving: false) { delivery in
        switch delivery.event as? BeaconEvent {
        case .health(let health, _)?: continuation.yield(health)
        case .ended?: continuation.finish()
        default: break
        }
        delivery.acknowledge()
        delivery.finish()
      }
      continuation.onTermination = { [weak core] _ in core?.removeClient(client) }
      beacons.reportReceiverStates(to: client)
      if beacons.end != nil { beacons.afterOutput { continuation.finish() } }
    }
  }

  /// Waits until nothing more will be received, and every delegate has dealt with all that was.
  ///
  /// A recording comes to its end; a radio does so only when it fails for good. No end comes as long as there is no
  /// demand: a recording waits for its client.
  ///
  /// ```swift
  /// try await LocationServices.shared.ended()
  /// ```
  ///
  /// as the last line of a program's main file keeps it at work until then, and serves the main thread's delegates.
  /// Apple's systems have no such call, as their radios have no end.
  ///
  /// - Throws: What is wrong with the recording or the radio; ``CLError/Code/rangingUnavailable`` where there is no
  ///   source; `CancellationError` when the task is canceled.
  public func ended() async throws {
    guard scanner != nil else { throw CLError(.rangingUnavailable, Self.noScanner) }
    let client = core.addClient(in: .observers)
    defer { core.removeClient(client) }
    if beacons.end == nil {
      for try await _ in beacons.events(for: client) {}
    }
    try Task.checkCancellation()
    core.removeClient(client)
    await beacons.deliveriesFinished()
    if let failure = beacons.failure { throw failure }
  }
}

extension ClientGroup {
  /// The group of clients that need no events of regions: those are left to the application's managers.
  static let observers = ClientGroup("observers")
}
