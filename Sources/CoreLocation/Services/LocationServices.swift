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
    /// The source of beacons; `nil` for the recordings that the environment names (see ``EnvironmentScanner``), none where
    /// locations come from a recording, or else the machine's adapters.
    public var scanner: (any Scanning.Scanner)?
    /// The source of locations and headings; `nil` for the recordings that the environment names (see
    /// ``EnvironmentScanner``), none where beacons come from a recording, or else the daemons of this system.
    public var locationSource: PositionSource?
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
  package let locations: LocationService
  let monitors = Mutex<[String: ConditionMonitor]>([:])

  /// Creates services of their own, as tests need them.
  public convenience init(_ configuration: Configuration) {
    self.init(configuration, environment: ProcessInfo.processInfo.environment)
  }

  /// Creates services for an environment of the process.
  init(_ configuration: Configuration, environment: [String: String]) {
    self.configuration = configuration
    let remark = { (sentence: String) in configuration.logger.error("\(sentence)") }
    let recordings = EnvironmentScanner.Recordings(environment)
    let application = configuration.applicationIdentifier
    var scanner = configuration.scanner
    var source = configuration.locationSource?.make(for: application)
    // What is not named is recorded where the other one is.
    let isReplay = recordings != nil || scanner?.isRecorded == true || source?.isRecorded == true
    let isLive = (scanner: scanner == nil && !isReplay, source: source == nil && !isReplay)
    if isReplay {
      let named = recordings?.open(
        captures: scanner == nil, tracks: source == nil, remark: remark)
      scanner = scanner ?? named?.scanner
      source = source ?? named?.source
    } else {
      scanner = scanner ?? LiveScanner()
      source = source ?? PositionSource.automatic().make(for: application)
    }
    if let captures = scanner as? ReplayScanner, let tracks = source as? TrackReplay {
      let merged = MergedReplay(captures, tracks, startsTogether: false)
      (scanner, source) = (merged.scanner, merged.source)
    }
    self.scanner = scanner
    var settings = ServiceManager.Configuration()
    settings.applicationIdentifier = configuration.applicationIdentifier
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

  /// Logs why nothing is received, as one sentence each time: an app that was written for Apple's systems asks for no
  /// receiver state.
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
      delivery.acknowledge()
      delivery.finish()
    }
    client.beginReceiving()
  }

  /// Adds the client of a manager. Its delegate is called on the run loop of the current thread, or on the queue of
  /// the settings.
  func addManager(in group: ClientGroup) -> (ServiceClient, DelegateCalls) {
    let context = configuration.delegateQueue.map { DeliveryContext.queue($0) } ?? .current()
    let calls = DelegateCalls(in: context)
    return (core.addClient(in: group, isReceiving: false) { calls.deliver($0) }, calls)
  }

  /// The authorization now.
  var authorizationStatus: CLAuthorizationStatus {
    core.checkAuthorization()
    return CLAuthorizationStatus(core.authorizationStatus)
  }

  /// Whether any service is available.
  var isEnabled: Bool { receivesBeacons || findsLocations }

  /// Whether anything receives beacons at all.
  var receivesBeacons: Bool { scanner != nil && beacons.availability == .available }

  /// Whether anything finds locations at all, whether or not this application may have them.
  var findsLocations: Bool {
    switch locations.availability {
    case .available, .notPermitted: true
    case .unavailable: false
    }
  }

  /// Whether there is a compass.
  var findsHeadings: Bool { locations.source?.hasCompass == true && locations.end == nil }

  static let noSource =
    "nothing is received: the recording that BEACONSCAN_REPLAY names cannot be opened; name another one, or none to "
    + "receive with the adapters and the location daemons"

  // MARK: The receiver and the end

  /// The states of the receivers: the present state of each adapter and of the source of locations, then every change, as it
  /// comes. The source of locations is named in place of the adapter.
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
    let source = locations.source?.name ?? ""
    let hasEnded = { @Sendable [endings] in endings.allSatisfy { $0.hasEnded() } }
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
        delivery.acknowledge()
        delivery.finish()
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

  /// Waits until nothing more will be received, and every delegate has dealt with all that was.
  ///
  /// Recordings of beacons and of locations are merged by their times. A recording comes to its end; a radio does so only when it fails for good. No end comes as long as there is no
  /// demand: a recording waits for its client. Of recordings of beacons and of locations, those that the app uses count.
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
    let endings = endings
    guard !endings.isEmpty else { throw CLError(.rangingUnavailable, Self.noSource) }
    try await withThrowingTaskGroup { group in
      for ending in endings where !ending.hasEnded() { group.addTask { try await ending.wait() } }
      repeat {
        let isOver =
          endings.contains { $0.hasEnded() }
          && !endings.contains { !$0.hasEnded() && $0.isWanted() }
        if isOver { break }
      } while try await group.next() != nil
      group.cancelAll()
    }
    try Task.checkCancellation()
    // What ended before has clients that deal with its events, or has failed.
    for ending in endings where ending.hasEnded() { try await ending.wait() }
  }

  /// A service that may come to its end.
  private struct Ending: Sendable {
    let hasEnded: @Sendable () -> Bool
    /// Whether the service is in use.
    let isWanted: @Sendable () -> Bool
    /// Waits for the end, and until every client has dealt with all events. It throws what failed.
    let wait: @Sendable () async throws -> Void
  }

  /// The services whose end is that of all: the replayed ones where there is one, otherwise all that have a source.
  private var endings: [Ending] {
    var endings: [(isRecorded: Bool, ending: Ending)] = []
    if let scanner {
      // Its client reads the events of one service only: no recording waits for it.
      let ending = Ending { [beacons] in
        beacons.end != nil
      } isWanted: { [beacons] in
        beacons.isWanted
      } wait: { [beacons] in
        if beacons.end == nil {
          let client = beacons.addClient(in: .observers, pacesRecordings: false)
          defer { client.remove() }
          for try await _ in client.events {}
        }
        await beacons.deliveriesFinished()
        if let failure = beacons.failure { throw failure }
      }
      endings.append((scanner.isRecorded, ending))
    }
    if let source = locations.source {
      let ending = Ending { [locations] in
        locations.end != nil
      } isWanted: { [locations] in
        locations.isWanted
      } wait: { [core, locations] in
        if locations.end == nil {
          let client = core.addClient(in: .observers, pacesRecordings: false)
          defer { client.remove() }
          for try await _ in LocationClient(client, of: locations).events {}
        }
        await locations.deliveriesFinished()
        if let failure = locations.failure { throw failure }
      }
      endings.append((source.isRecorded, ending))
    }
    let isReplay = endings.contains(where: \.isRecorded)
    return endings.filter { $0.isRecorded == isReplay }.map(\.ending)
  }
}

extension ScannerHealth {
  /// The state of a source of locations, as that of a receiver.
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
  /// The group of clients that need no events of regions: those are left to the application's managers.
  static let observers = ClientGroup("observers")
}
