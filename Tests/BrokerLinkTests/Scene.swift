import Advertising
import Foundation
import Records
import Regions
import Scanning
import Synchronization
import TestDaemons
import TestSupport

@testable import BrokerLink
@testable import Ranging
@testable import ServiceCore

/// A broker, and what a receiver reports to it.
final class Scene {
  let scratch: Scratch
  private(set) var broker: MosquittoBroker?
  let port: UInt16
  private let reported = Reported()
  /// The journal that links read.
  let events = TestJournal()

  private final class Reported: Sendable {
    let events = Mutex<[BrokerEvent]>([])
  }

  init(_ access: String? = nil) throws {
    scratch = try Scratch()
    let broker = try MosquittoBroker(access ?? "allow_anonymous true", in: scratch)
    (self.broker, port) = (broker, broker.port)
  }

  var configuration: BrokerConfiguration {
    var configuration = BrokerConfiguration(host: "127.0.0.1", node: "kiosk")
    configuration.port = port
    configuration.softwareVersion = "1.2.3"
    configuration.reconnectDelay = 0.02...0.1
    return configuration
  }

  func link(_ configuration: BrokerConfiguration? = nil) throws -> Broker<Publisher> {
    try Broker(configuration ?? self.configuration, events.journal) { [reported] event in
      reported.events.withLock { $0.append(event) }
    }
  }

  var reports: [BrokerEvent] { reported.events.withLock { $0 } }

  /// Has what happened to a region in the journal, and tells a link.
  func append(_ event: MonitorEvent, to link: Broker<Publisher>) {
    let record = record(of: event)
    events.append(record, kind: event.kind.rawValue, region: event.region)
    link.update(wakes: true) { $0.update(region: event, record) }
  }

  func subscriber(_ options: [String] = []) throws -> Subscriber {
    try Subscriber(to: port, options, in: scratch)
  }

  /// Makes a password file, and returns what makes a broker use it.
  func passwords(_ users: [String: String]) throws -> String {
    try scratch.write([], "passwords")
    for user in users.keys.sorted() { try add(user, users[user] ?? "") }
    return "allow_anonymous false\npassword_file \(scratch["passwords"])"
  }

  /// Adds a user to the password file.
  func add(_ user: String, _ password: String) throws {
    try runTool(["/usr/bin/mosquitto_passwd", "-b", scratch["passwords"], user, password])
  }

  func kill() { broker?.kill() }

  func restart(_ access: String = "allow_anonymous true") throws {
    broker = try MosquittoBroker(on: port, access, in: scratch)
  }
}

let keys = BeaconIdentity(uuid: ProximityUUID(high: 0x0102, low: 0x0A0B), major: 3, minor: 4)
let bag = BeaconIdentity(uuid: ProximityUUID(high: 0x0102, low: 0x0A0B), major: 3, minor: 5)
let keysLevel = "00000000-0000-0102-0000-000000000a0b-3-4"

func moment(_ seconds: Double) -> MonotonicTime {
  MonotonicTime(nanoseconds: 0).advanced(bySeconds: seconds)
}

func beacon(
  _ identity: BeaconIdentity = keys, _ proximity: Proximity = .near, at distance: Double = 2
) -> RangedBeacon {
  var beacon = RangedBeacon(
    beacon: identity, proximity: proximity, measuredPower: -59, sightings: 10,
    firstReceived: moment(0), lastReceived: moment(0))
  if proximity != .unknown {
    let calibration = Calibration(budget: ErrorBudget(distanceFactor: .infinity))
    beacon.estimate = calibration.estimate(
      rssi: calibration.rssi(atDistance: distance, advertisedPower: -59), variance: 1,
      advertisedPower: -59)
    (beacon.rssi, beacon.smoothed, beacon.rawDistance) = (-64, -64.25, 2.345)
  }
  return beacon
}

func report(_ beacons: [RangedBeacon], at seconds: Double = 1) -> RangingReport {
  RangingReport(
    time: moment(seconds), wallClockOffset: WallClockOffset(nanoseconds: 0), beacons: beacons,
    requests: [RangingRequest(nil)])
}

func event(
  _ kind: MonitorEvent.Kind, _ region: String, at seconds: Double = 1, beacons: Int? = 1,
  beacon: BeaconIdentity? = nil
) -> MonitorEvent {
  MonitorEvent(
    kind, time: WallClockTime(nanoseconds: Int64(seconds * 1e9)), region: region,
    state: kind == .exit ? .outside : .inside, beacon: beacon,
    beaconsInside: kind == .exit && beacon == nil ? 0 : beacons,
    reason: RegionTransition.Reason(
      .sighting, lastSighting: nil, samples: 1, exitTimeout: nil, interval: nil, loss: nil),
    offset: .zero, rules: .standard)
}

/// Returns what the journal has of an event.
func record(of event: MonitorEvent) -> [UInt8] {
  var record: [UInt8] = []
  event.record.append(event, to: &record)
  return record
}

/// Returns what the journal has of a receiver's state.
func record(of health: ScannerHealth) -> [UInt8] {
  var record: [UInt8] = []
  ScannerHealth.record.append((health, WallClockTime(nanoseconds: 0)), to: &record)
  return record
}

func health(_ condition: ScannerHealth.Condition, isLost: Bool) -> ScannerHealth {
  ScannerHealth(
    condition, at: moment(0), adapter: "hci0", isReceptionLost: isLost,
    sentence: "hci0: \(condition.rawValue)")
}

/// A JSON object, as another library reads it.
func object(_ text: String?) -> [String: Any] {
  let data = Data((text ?? "").utf8)
  return (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
}
