import Dispatch
import Foundation
import RegionStorage
import Regions
import Scanning
import Synchronization

/// What the services know, behind their lock. Its functions return the calls that are to be made when the
/// lock is open again.
struct ServiceState {
  var engine: BeaconEngine
  var clients: [ObjectIdentifier: Client] = [:]
  /// The regions of all managers, by identifier.
  var regions: [String: CLBeaconRegion] = [:]
  /// Regions that are looked at for an answer alone, by their names in the engine.
  var questions: [String: CLBeaconRegion] = [:]
  /// The monitors, by name.
  var monitors: [String: MonitorClient] = [:]
  /// What happened to regions of managers when no delegate was there: at most ``mostUndelivered``, then the
  /// oldest go.
  var undelivered: [StoredEvent] = []
  /// Monitored regions whose state was asked for and will be told when it is determined.
  var asked: [String: CLBeaconRegion] = [:]

  static let mostUndelivered = 16384
  /// What the app was given when it asked.
  var granted: CLAuthorizationStatus?
  var status = CLAuthorizationStatus.notDetermined
  /// Why nothing more will be heard.
  var end: String?
  var failure: (any Error)?
  /// Who waits for the end, and whether it was told.
  var waiters: [UInt64: AsyncStream<Never>.Continuation] = [:]
  var latestWaiter: UInt64 = 0
  var hasToldEnd = false
  /// Whether somebody looks at the authorisation from time to time.
  var isWatching = false
  /// Whether time stands still while delegates are called.
  let isRecorded: Bool
  /// Whether the loop runs, or will soon.
  var isLooping = false
  /// What was heard when nobody listened any more, in a recording.
  var held: (sightings: [Sighting], progress: ScanProgress)?
  var wallClockShift: Int64 = 0
  /// How well the scanner hears.
  var health = HealthBoard()

  /// Takes a sentence for a person.
  let remark: @Sendable (String) -> Void
  /// Tells the store that an event was delivered.
  let acknowledge: @Sendable (UInt64) -> Void
  /// Takes an event back whose delegates were gone.
  let putBack: @Sendable (StoredEvent) -> Void

  init(
    _ configuration: LocationServices.Configuration, isRecorded: Bool,
    acknowledge: @escaping @Sendable (UInt64) -> Void,
    putBack: @escaping @Sendable (StoredEvent) -> Void
  ) {
    // It is an app's code, which may come back to the services: not under their lock.
    let say = configuration.remark
    if configuration.isDrivenByHand {
      remark = say
    } else {
      remark = { sentence in DispatchQueue.global(qos: .utility).async { say(sentence) } }
    }
    self.isRecorded = isRecorded
    self.acknowledge = acknowledge
    self.putBack = putBack
    let nanoseconds = configuration.rangingInterval * 1e9
    engine = BeaconEngine(
      ranging: configuration.ranging, monitoring: configuration.monitoring,
      interval: nanoseconds >= 1 && nanoseconds < 9e18 ? Int64(nanoseconds) : 1_000_000_000,
      restsWhenEmpty: isRecorded)
  }

  /// A manager, as the services know it.
  struct Client {
    // Never loaded under the lock: to let go of the last reference there would come back to it.
    let manager: WeakManager
    /// Whether it was given a delegate, which may be gone by now.
    var hasDelegate = false
    var context: DeliveryContext
    /// What is ranged, with the region that the old way of asking named.
    var ranged: [BeaconConstraint: CLBeaconRegion?] = [:]
    /// Whether it was told its authorisation, or will be.
    var status = StatusTelling.coming
    /// The first telling, while it is on its way, and how often it was moved elsewhere.
    var firstStatus: CallsInFlight.Ticket?
    var statusNumber = 0
    var interest = ServiceInterest()
    /// Reports on their way to the delegate.
    let reports = ReportsInFlight()
    /// What it is to be told of a fault.
    let faults = FaultInFlight()
  }

  /// Whether services may deliver.
  var isAuthorized: Bool { status == .authorizedAlways || status == .authorizedWhenInUse }

  /// Counts the lists of beacons that a delegate was sent and has not dealt with.
  final class ReportsInFlight: Sendable {
    private let count = Atomic<Int>(0)

    var areThere: Bool { count.load(ordering: .acquiring) > 0 }

    func begin() { count.add(1, ordering: .relaxed) }

    func end() { count.subtract(1, ordering: .releasing) }
  }

  /// Whether a new manager was told its authorisation.
  enum StatusTelling {
    /// It is about to be.
    case coming
    /// Its time came when no delegate was there.
    case missed
    case told
  }

  /// What is asked of the scanner.
  var demand: ScanDemand {
    guard isAuthorized, end == nil else { return .none }
    if clients.values.contains(where: { $0.interest.inSightings }) || !engine.ranged.isEmpty {
      return .ranging
    }
    guard engine.monitor.regionCount > 0 else { return .none }
    // The first look at a region is a short one.
    return engine.monitor.needsFullDuty ? .ranging : .monitoring
  }

  /// Ranges what any manager asks for.
  mutating func updateRanging() {
    var all: Set<BeaconConstraint> = []
    for client in clients.values { all.formUnion(client.ranged.keys) }
    engine.range(
      all, isOpen: clients.values.contains(where: \.interest.inEveryBeacon))
  }

  /// A call to one manager.
  func call(_ client: Client, _ body: @escaping @Sendable (CLLocationManager) -> Void)
    -> DelegateCall
  {
    DelegateCall(context: client.context, manager: client.manager, body: body)
  }

  /// A call to every manager that has a delegate.
  func callAll(_ body: @escaping @Sendable (CLLocationManager) -> Void) -> [DelegateCall] {
    clients.values.filter(\.hasDelegate).map { call($0, body) }
  }

  /// The managers that were told the status before.
  var managersToldStatus: [WeakManager] {
    clients.values.filter { $0.status == .told }.map(\.manager)
  }

  /// What the clock on the wall showed at a moment.
  func date(_ moment: MonotonicTime) -> Date {
    Date(timeIntervalSince1970: Double(moment.advanced(by: wallClockShift).nanoseconds) / 1e9)
  }
}

/// What is asked for beyond what constraints and regions say: by the command, and by tests.
package struct ServiceInterest: Sendable {
  /// Every sighting is.
  package var inSightings = false
  /// Every beacon is ranged.
  package var inEveryBeacon = false

  /// Nothing more.
  package init() {}
}
