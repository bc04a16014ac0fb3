public import Dispatch
import Foundation
public import Ranging
import RegionStorage
public import Regions
public import Scanning
import Synchronization

/// The services of a process, which all its managers share: what hears beacons, who is told, what is
/// allowed, and what outlives the process.
///
/// An app that was written for Apple's systems need not know it: managers use ``shared``, which takes its
/// source from the environment. An app for Linux chooses at its start:
///
/// ```swift
/// var configuration = LocationServices.Configuration()
/// configuration.scanner = try ReplayScanner(paths: ["visitor.btsnoop"])
/// LocationServices.bootstrap(configuration)
/// ```
///
/// Apple's systems have no such type.
public final class LocationServices: Sendable {
  /// How the services work.
  public struct Configuration: Sendable {
    /// What hears beacons; `nil` for what the environment names (see ``EnvironmentScanner``).
    public var scanner: (any Scanning.Scanner)?
    /// What the app is called: its regions and its authorisation are kept under this name. By default the
    /// name of the program's file.
    public var applicationIdentifier: String
    /// Who says what the app may do.
    public var authorization: any AuthorizationProvider = SystemAuthorization()
    /// Where regions, their states and the app's authorisation outlive the process.
    public var persistence = Persistence.standard
    /// How beacons are ranged.
    public var ranging = Ranger.Configuration()
    /// Seconds between two ranging reports; Core Location's is 1.
    public var rangingInterval = 1.0
    /// When regions are entered and left, where ``CLBeaconRegion/rules`` does not say.
    public var rules = RegionRules.standard
    /// How regions are monitored; `maximumRegions` is the limit that Apple's systems set at 20.
    public var monitoring = RegionMonitor.Configuration()
    /// Where delegates are called, for processes without run loops; `nil` for the run loop of the thread on
    /// which a service was started. Managers may name their own: ``CLLocationManager/delegateQueue``.
    public var delegateQueue: DispatchQueue?
    /// Takes what a person should know and no delegate is told, a sentence each: by default, standard error.
    public var remark: @Sendable (String) -> Void = { sentence in
      FileHandle.standardError.write(Data("CoreLocation: \(sentence)\n".utf8))
    }
    /// Whether ``LocationServices/run(while:hearing:)`` is what drives the services.
    package var isDrivenByHand = false

    /// The defaults.
    public init() {
      let path = CommandLine.arguments.first ?? ""
      let name = path.split(separator: "/").last.map(String.init) ?? ""
      applicationIdentifier = name.isEmpty ? "unnamed" : name
    }
  }

  /// Where something outlives the process.
  public enum Persistence: Sendable, Hashable {
    /// In the user's state directory, a file for each application identifier.
    case standard
    /// In this file.
    case file(String)
    /// Nowhere.
    case none
  }

  /// The services that managers use unless they are given others.
  public static var shared: LocationServices {
    bootstrapped.withLock { services in
      if let services { return services }
      let made = LocationServices(Configuration())
      services = made
      return made
    }
  }

  private static let bootstrapped = Mutex<LocationServices?>(nil)

  /// Chooses how the process's services work, before any is used.
  ///
  /// - Parameter configuration: How they work.
  /// - Returns: Whether it came in time; services that are in use stay as they are.
  @discardableResult
  public static func bootstrap(_ configuration: Configuration) -> Bool {
    bootstrapped.withLock { services in
      guard services == nil else { return false }
      services = LocationServices(configuration)
      return true
    }
  }

  /// How the services work.
  public let configuration: Configuration
  /// What hears beacons; `nil` where nothing was named.
  public let scanner: (any Scanning.Scanner)?

  let state: Mutex<ServiceState>
  let storage: StorageBox
  let isRestored = Mutex(false)
  let returned: ReturnedEvents
  let calls = CallsInFlight()
  let queue = DispatchQueue(label: "CoreLocation.services")

  /// Makes services of their own, as tests need them.
  ///
  /// - Parameter configuration: How they work.
  public init(_ configuration: Configuration) {
    self.configuration = configuration
    scanner = configuration.scanner ?? EnvironmentScanner.make(remark: configuration.remark)
    let isRecorded = scanner?.isRecorded ?? false
    let storage = StorageBox()
    self.storage = storage
    let returned = ReturnedEvents()
    self.returned = returned
    state = Mutex(
      ServiceState(
        configuration, isRecorded: isRecorded, acknowledge: { storage.acknowledge($0) },
        putBack: { returned.put($0) }))
  }

  deinit {
    scanner?.rest()
  }

  /// Whether the scanner can be used now.
  var availability: ScannerAvailability {
    guard let scanner else { return .unavailable(Self.nothingHears) }
    if let end = state.withLock({ $0.end }) { return .unavailable(end) }
    return scanner.availability
  }

  /// Why no service can be started. A radio that is not there yet, or off, is no reason: what is started waits
  /// for it, and is told what is the matter by its health.
  var unavailability: String? {
    if let scanner, !scanner.isRecorded { return state.withLock { $0.end } }
    guard case .unavailable(let reason) = availability else { return nil }
    return reason
  }

  /// Calls delegates, each where it belongs.
  func send(_ calls: [DelegateCall]) {
    for call in calls {
      let ticket = self.calls.ticket()
      call.context.perform {
        let manager = call.manager.value
        let isThere = manager?.delegate != nil
        if let manager { call.body(manager) }
        call.acknowledgement?.returned(told: isThere)
        ticket.end()
      }
    }
  }
}

/// A manager that is not kept.
struct WeakManager: Sendable {
  weak let value: CLLocationManager?
}

/// A call to a manager's delegate that is to come.
struct DelegateCall: Sendable {
  let context: DeliveryContext
  let manager: WeakManager
  let body: @Sendable (CLLocationManager) -> Void
  /// Is told when the call has returned.
  var acknowledgement: Acknowledgement?
}

/// Events whose delegates were gone when their time came.
final class ReturnedEvents: Sendable {
  private let events = Mutex<[StoredEvent]>([])

  func put(_ event: StoredEvent) { events.withLock { $0.append(event) } }

  func take() -> [StoredEvent] {
    events.withLock { events in
      defer { events.removeAll() }
      return events
    }
  }
}
