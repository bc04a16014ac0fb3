import Dispatch
import Logging
import Records
import Regions
import Scanning
import Synchronization

@testable import BrokerLink
@testable import KioskService
@testable import ServiceCore
@testable import Storage
@testable import Webhooks

/// One process of the service, without HTTP: the core, the hub, the regions, and where a webhook and a broker are.
final class ServiceLife {
  /// What the hub's listener was given, as others see it.
  final class Witness: Sendable {
    private struct State {
      var changes: [JournalChange] = []
      var count = 0
      var atEnd: Int?
    }

    private let state = Mutex(State())

    func receive(_ change: JournalChange) {
      state.withLock { state in
        state.changes.append(change)
        if case .entry = change { state.count += 1 }
      }
    }

    /// Removes and returns what came since.
    func take() -> [JournalChange] {
      state.withLock { state in
        defer { state.changes = [] }
        return state.changes
      }
    }

    /// Records that the process ends here: what comes later never happened.
    func end() { state.withLock { $0.atEnd = $0.atEnd ?? $0.count } }

    /// The entries that were shown before the end.
    var shownAtEnd: Int { state.withLock { $0.atEnd ?? $0.count } }
  }

  private final class Anyone: AuthorizationProvider {
    func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
      .granted(.authorizedAlways)
    }
  }

  let scanner = StepScanner()
  let witness: Witness
  let manager: ServiceManager
  let beacons: BeaconService
  let client: ServiceClient
  let hub: KioskHub
  let control: RegionControl
  let webhook: JournalReader
  let mqtt: JournalReader
  var schedule: DeliverySchedule
  var publisher: Publisher
  /// What was handed to the broker and is not acknowledged.
  var flying: [Outbox.Message] = []

  var journal: Journal { manager.journal }
  var store: Store? { manager.store.database }

  static let rules = try? RegionRules(exitTimeout: .fixed(seconds: 0.5))

  static func configuration(
    _ regions: [String: UInt16], circles: Bool = false
  ) -> RegionConfiguration {
    let rules = rules ?? .standard
    return RegionConfiguration(
      regions: regions.sorted { $0.key < $1.key }.map { name, minor in
        BeaconRegion(identifier: name, constraint: KioskScene.constraint(minor))
      }, rules: rules, names: [:]
    ) { _ in rules }
  }

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - file: The database; `nil` for none.
  ///   - regions: The configuration.
  ///   - witness: What is shown what happens.
  ///   - opened: Is called when the database was read, and before anything else.
  /// - Throws: Why the configuration is refused.
  init(
    file: String?, _ regions: [String: UInt16], _ witness: Witness, opened: (Store?) -> Void
  ) throws {
    var settings = ServiceManager.Configuration()
    settings.persistence = file.map { .file($0) } ?? .none
    settings.history = Store.Limits()
    settings.authorization = Anyone()
    settings.logger = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }
    let regions = Self.configuration(regions)
    let format = EventFormat(rules: regions.rules)
    settings.journalFormat = { format.describe($0) }
    manager = ServiceManager(settings)
    opened(manager.store.database)
    var configuration = BeaconService.Configuration()
    configuration.rules = regions.rules
    beacons = BeaconService(manager, scanner: scanner, configuration: configuration)
    client = manager.addClient(isReceiving: false)
    self.witness = witness
    hub = KioskHub(
      manager.journal, format: format, isRecorded: true, version: "1",
      now: { .init(nanoseconds: 0) }, isReceiving: { (true, true) })
    hub.onChange { witness.receive($0) }
    webhook = JournalReader(manager.journal, name: "webhook:w", kinds: ["enter", "exit"])
    mqtt = JournalReader(manager.journal, name: "mqtt", kinds: ["enter", "exit"])
    schedule = DeliverySchedule(
      WebhookConfiguration([]), place: "w", position: webhook.begin())
    var broker = BrokerConfiguration(host: "h", node: "k")
    broker.discoveryPrefix = nil
    publisher = Publisher(broker, position: mqtt.begin())
    // What comes together is one event, however fast the threads are.
    manager.journal.queue.suspend()
    control = RegionControl(
      beacons, nil, configured: client, hub: hub, regions, rangesAlways: false)
    let result = Result { try control.configure(regions) }
    manager.journal.queue.resume()
    manager.journal.finish()
    _ = try result.get()
    manager.requestAuthorization(.authorizedAlways)
    scanner.waitUntilReceiving()
  }

  /// The regions that were added over HTTP.
  var added: [String: UInt16] {
    Dictionary(
      uniqueKeysWithValues: hub.regions.filter(\.isRemovable).map {
        ($0.name, $0.constraint?.minor ?? 0)
      })
  }
}
