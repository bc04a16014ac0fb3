import Advertising
import BeaconTesting
import BrokerLink
import Foundation
import LocationSources
import Logging
import Positioning
import Regions
import Scanning
import ServiceCore
import TestDaemons
import TestSupport
import Testing

@testable import HTTPServing
@testable import KioskService

/// What a real broker retains of the whole service: every part of it that has something to publish is connected to the
/// link.
@Suite(.blocking, .mosquitto, .timeLimit(.minutes(15))) struct BrokerServiceTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// A track of somebody who stays at a place for 20 minutes, and then goes 1 km to the north, where the track soon ends.
  private func makeTrack() throws -> String {
    var track = #"<gpx version="1.1" creator="test"><trk><trkseg>"#
    for step in 0..<225 {
      let latitude = 52.5 + min(max(0, Double(step - 120) * 0.0001), 0.009)
      let time = WallClockTime(nanoseconds: (1_767_000_000 + Int64(step) * 10) * 1_000_000_000)
      track += #"<trkpt lat="\#(latitude)" lon="13.4"><time>\#(time)</time></trkpt>"#
    }
    try scratch.write(Array((track + "</trkseg></trk></gpx>").utf8), "track.gpx")
    return scratch["track.gpx"]
  }

  private func configuration(_ broker: MosquittoBroker) throws -> ServiceConfiguration {
    let constraint = KioskScene.constraint(1)
    let place = try #require(Coordinate(latitude: 52.509, longitude: 13.4))
    var configuration = ServiceConfiguration(
      version: "1", addresses: [.unix(path: scratch["socket"])], access: AccessRules(),
      regions: RegionConfiguration(
        regions: [BeaconRegion(identifier: "lobby", constraint: constraint)],
        circles: [try CircularRegion(identifier: "stop", center: place, radius: 300)],
        rules: .standard, names: [KioskScene.frame(1).identity: "Keys"]
      ) { _ in .standard }, beacons: BeaconService.Configuration())
    configuration.broker = BrokerConfiguration(host: "127.0.0.1", node: "kiosk")
    configuration.broker?.port = broker.port
    return configuration
  }

  /// Runs a service while a function runs.
  private func serve(
    _ configuration: ServiceConfiguration, _ scanner: ScriptedScanner, track: String? = nil,
    _ body: () async throws -> Void
  ) async throws {
    let service = try ServiceRun(
      configuration, scanner: scanner, locationSource: track.map { try TrackReplay(paths: [$0]) },
      log: ServiceLog(isQuiet: true) { print($0) }, logger: Logger(label: "test"))
    let (interrupt, stop) = AsyncStream.makeStream(of: Void.self)
    let run = Task.detached {
      try await service.run(reload: { _, _ in }, until: { for await _ in interrupt {} })
    }
    do {
      try await body()
    } catch {
      stop.finish()
      try await run.value
      throw error
    }
    stop.finish()
    try await run.value
  }

  /// A scanner that has received a beacon for 20 seconds, and receives nothing after that.
  private func makeScanner() -> ScriptedScanner {
    let scanner = ScriptedScanner()
    scanner.report(.scanning, at: 0)
    scanner.add(KioskScene.frame(1), rssi: -65, every: 0.1, from: 0, to: 30)
    scanner.clock.advance(by: 20)
    return scanner
  }

  private let prefix = "beaconscan/kiosk"

  @Test func everythingThatTheServiceHasReachesTheBroker() async throws {
    let broker = try MosquittoBroker(in: scratch)
    let subscriber = try Subscriber(to: broker.port, in: scratch)
    try await serve(configuration(broker), makeScanner(), track: makeTrack()) {
      try await checkEverything(subscriber, broker)
    }
    await eventually { subscriber.newest["\(prefix)/status"] == "offline" }
    #expect(subscriber.newest["\(prefix)/status"] == "offline")
  }

  private func checkEverything(
    _ subscriber: Subscriber, _ broker: MosquittoBroker
  ) async throws {
    let level = "\(KioskScene.uuid)".lowercased() + "-1-1"
    let expected = [
      "status": "online",
      "regions/lobby/state": "inside", "regions/lobby/beacons": "1",
      "regions/stop/state": "inside",
      "beacons/\(level)/presence": "present",
      "health": #""state":"scanning""#,
      "beacons/\(level)/range": #""proximity":"near""#,
      "regions/lobby/event": #""type":"enter""#, "regions/lobby/last": #""type":"enter""#,
      "regions/stop/event": #""type":"enter""#, "regions/stop/last": #""type":"enter""#,
      "visits/event": #""departure":"2025"#,
      "location": #""latitude":52.509,"longitude":13.4,"#,
    ]
    var missing: [String] = []
    await eventually {
      let newest = subscriber.newest
      missing = expected.filter { newest["\(prefix)/\($0)"]?.contains($1) != true }.keys.sorted()
      return missing.isEmpty
    }
    #expect(missing.isEmpty, "the broker was not sent what is expected of these topics")
    let newest = subscriber.newest
    #expect(newest["\(prefix)/regions/stop/beacons"] == nil)
    #expect(newest["homeassistant/device_tracker/beaconscan_kiosk/location/config"] != nil)
    // Later subscribers get what is not an event.
    let later = try Subscriber(to: broker.port, in: scratch)
    let retained = newest.keys.filter { $0.hasPrefix(prefix) && !$0.hasSuffix("/event") }.sorted()
    await eventually { later.newest.keys.count { $0.hasPrefix(prefix) } >= retained.count }
    #expect(later.newest.keys.filter { $0.hasPrefix(prefix) }.sorted() == retained)
  }

  /// The regions are those of the run before, so nothing about them changes.
  @Test func aNewBrokerGetsTheRegionsOfTheDatabase() async throws {
    let first = try MosquittoBroker(in: scratch)
    var configuration = try configuration(first)
    configuration.regions.circles = []
    configuration.database = scratch["state.sqlite"]
    let topics = [
      "\(prefix)/regions/lobby/state",
      "homeassistant/binary_sensor/beaconscan_kiosk/region_lobby_occupancy/config",
    ]
    func expectRegions(_ subscriber: Subscriber) async {
      await eventually {
        let newest = subscriber.newest
        return newest[topics[0]] == "inside" && newest[topics[1]] != nil
      }
      #expect(subscriber.newest[topics[0]] == "inside")
      #expect(subscriber.newest[topics[1]] != nil)
    }
    try await serve(configuration, makeScanner()) {
      await expectRegions(try Subscriber(to: first.port, in: scratch))
    }
    first.kill()
    let second = try MosquittoBroker(on: first.port, in: scratch)
    try await serve(configuration, ScriptedScanner()) {
      await expectRegions(try Subscriber(to: second.port, in: scratch))
    }
    // A service without regions removes them.
    configuration.database = nil
    configuration.regions.regions = []
    let subscriber = try Subscriber(to: second.port, in: scratch)
    try await serve(configuration, ScriptedScanner()) {
      await eventually { topics.allSatisfy { subscriber.newest[$0] == "" } }
      for topic in topics { #expect(subscriber.newest[topic] == "") }
    }
  }

  /// A fleet's reports count what ranging counts: a pinned beacon from its own sender.
  @Test func aFleetIsNotToldOfImitators() async throws {
    let broker = try MosquittoBroker(in: scratch)
    let subscriber = try Subscriber(to: broker.port, in: scratch)
    var configuration = try configuration(broker)
    configuration.regions.circles = []
    var fleet = BrokerConfiguration(host: "127.0.0.1")
    fleet.port = broker.port
    configuration.fleet = FleetConfiguration(
      fleet, site: "museum", receiver: "hall", outbox: scratch["outbox"])
    let (pinned, imitated) = (KioskScene.frame(1), KioskScene.frame(2))
    configuration.beacons.pins = [
      pinned.identity: pinned.address, imitated.identity: BluetoothAddress(rawValue: 9),
    ]
    let scanner = makeScanner()
    scanner.add(imitated, rssi: -50, every: 0.1, from: 0, to: 30)
    try await serve(configuration, scanner) {
      func report() -> String? {
        subscriber.messages.map(\.payload).first { $0.contains(#":1:1""#) }
      }
      await eventually { report() != nil }
      let text = try #require(report())
      #expect(!text.contains(#":1:2""#), "\(text)")
    }
  }

  @Test func thePageHasTheAddressThatOtherMachinesCanUse() throws {
    func page(_ addresses: [HTTPServer.Address], _ hosts: Set<String>) -> String? {
      var access = AccessRules()
      access.hosts.formUnion(hosts)
      return ServiceConfiguration(
        version: "1", addresses: addresses, access: access,
        regions: RegionConfiguration(regions: [], rules: .standard, names: [:]) { _ in .standard },
        beacons: BeaconService.Configuration()
      ).pageURL
    }
    let local: [HTTPServer.Address] = [
      .unix(path: "/run/socket"), .inherited(descriptor: 3), .host("127.0.0.1", port: 8732),
      .host("127.0.0.2", port: 8732), .host("::1", port: 8732), .host("localhost", port: 8732),
    ]
    #expect(page(local, ["127.0.0.2", "kiosk.local"]) == nil)
    #expect(
      page(local + [.host("192.0.2.7", port: 80)], ["192.0.2.7"]) == "http://192.0.2.7:80/")
    #expect(page([.host("fd00::1", port: 80)], ["[fd00::1]"]) == "http://[fd00::1]:80/")
    #expect(page([.host("0.0.0.0", port: 80)], ["kiosk.local"]) == "http://kiosk.local:80/")
    #expect(page([.host("::", port: 80)], ["kiosk.local"]) == "http://kiosk.local:80/")
    // Nobody can use it: no name is accepted, or the port is chosen later.
    #expect(page([.host("0.0.0.0", port: 80)], []) == nil)
    #expect(page([.host("192.0.2.7", port: 0)], ["192.0.2.7"]) == nil)
  }
}
