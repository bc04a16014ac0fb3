import Advertising
import BeaconTesting
import Records
import Regions
import Scanning
import Synchronization
import TestSupport
import Testing

@testable import BrokerLink
@testable import HTTPServing
@testable import KioskService
@testable import ServiceCore

/// A service without HTTP: a scanner with a script, the core, the hub, and what an MQTT broker would retain.
final class KioskScene: Sendable {
  static let uuid = ProximityUUID(high: 0xE2C5, low: 0x6DB5)

  let scanner = ScriptedScanner(isRecorded: false)
  let manager: ServiceManager
  let beacons: BeaconService
  let hub: KioskHub
  let control: RegionControl
  private let client: ServiceClient
  private let publisher: Mutex<Publisher>

  private final class Anyone: AuthorizationProvider {
    func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
      .granted(.authorizedAlways)
    }
  }

  init(file: String? = nil, regions: [BeaconRegion] = []) throws {
    var settings = ServiceManager.Configuration()
    settings.persistence = file.map { .file($0) } ?? .none
    settings.authorization = Anyone()
    let rules = try RegionRules(exitTimeout: .fixed(seconds: 0.5))
    let format = EventFormat(rules: rules)
    settings.journalFormat = { format.describe($0) }
    manager = ServiceManager(settings)
    var configuration = BeaconService.Configuration()
    configuration.rules = rules
    beacons = BeaconService(manager, scanner: scanner, configuration: configuration)
    client = manager.addClient(isReceiving: false)
    let publisher = Publisher(BrokerConfiguration(host: "h", node: "kiosk"), position: 0)
    self.publisher = Mutex(publisher)
    let box = Box()
    hub = KioskHub(
      manager.journal, format: format, isRecorded: false, version: "1",
      now: { .init(nanoseconds: 0) },
      isReceiving: { (true, true) })
    hub.onChange { box.receive($0) }
    control = RegionControl(
      beacons, nil, configured: client, hub: hub,
      RegionConfiguration(regions: regions, rules: rules, names: [:]) { _ in rules },
      rangesAlways: false)
    box.scene.withLock { $0 = WeakScene(self) }
    _ = try control.configure(
      RegionConfiguration(regions: regions, rules: rules, names: [:]) { _ in rules })
    manager.requestAuthorization(.authorizedAlways)
  }

  private struct WeakScene {
    weak var scene: KioskScene?
    init(_ scene: KioskScene) { self.scene = scene }
  }

  /// What the hub's listener calls.
  private final class Box: Sendable {
    let scene = Mutex<WeakScene?>(nil)

    func receive(_ change: JournalChange) { scene.withLock { $0?.scene }?.follow(change) }
  }

  /// Does what the service's link to a broker does.
  private func follow(_ change: JournalChange) {
    guard case .entry(let entry) = change else { return }
    publisher.withLock { publisher in
      if let line = entry.line {
        publisher.update(region: line, entry.record)
      } else if entry.event is RegionsChanged {
        publisher.setRegions(
          hub.regions.map { BrokerRegion($0.name, state: $0.state, beacons: $0.beacons) })
      }
    }
  }

  /// The state topics that the broker would retain, and their values.
  var retained: [String: String] {
    publisher.withLock { publisher in
      var copy = publisher
      copy.outbox.begin()
      var topics: [String: String] = [:]
      while let message = copy.outbox.next() {
        if message.topic.hasSuffix("/state"), message.topic.contains("/regions/") {
          topics[message.topic] = String(decoding: message.payload, as: UTF8.self)
        }
        copy.outbox.acknowledge(message.token)
      }
      return topics.filter { !$0.value.isEmpty }
    }
  }

  static func frame(_ minor: UInt16) -> BeaconFrame {
    BeaconFrame(uuid: uuid, major: 1, minor: minor)
  }

  static func constraint(_ minor: UInt16) -> BeaconConstraint {
    BeaconConstraint(uuid: uuid, major: 1, minor: minor)
  }

  /// Advances the time, and waits until the core has processed what was on the air, and readers are given what came of it.
  func advance(by seconds: Double) {
    // After a rest, a radio begins with the present time.
    #expect(eventually { scanner.demands.last.map { $0 != ScanDemand.none } == true })
    // What was received is processed when the core receives again, a nanosecond later.
    for step in [seconds, 1e-9] {
      scanner.clock.advance(by: step)
      let now = scanner.clock.now
      #expect(eventually { scanner.delivered >= now })
    }
    manager.journal.finish()
  }

  /// Checks that the hub, the broker's topics and the metrics say of every region what the core does.
  func checkStates() {
    manager.journal.finish()
    let added = manager.addClient(in: KioskState.addedGroup, isReceiving: false)
    var core: [String: RegionState] = [:]
    for client in [client, added].map({ BeaconClient($0, of: beacons) }) {
      for region in client.regions {
        core[region.identifier] = client.snapshot(ofRegion: region.identifier)?.status.state
      }
    }
    let published = Dictionary(uniqueKeysWithValues: hub.regions.map { ($0.name, $0.state) })
    #expect(published == core)
    let topics = Dictionary(
      uniqueKeysWithValues: core.map { name, state in
        ("beaconscan/kiosk/regions/\(TopicName.identifier(of: name))/state", state.name)
      })
    #expect(retained == topics)
    let inside = Metrics.text(hub, KioskCounts(), RequestCounts()).split(separator: "\n")
      .filter { $0.hasPrefix("beaconscan_region_inside{") }
    #expect(inside.count == core.count)
    #expect(inside.count { $0.hasSuffix(" 1") } == core.values.count { $0 == .inside })
    added.remove()
  }
}
