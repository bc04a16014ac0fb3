import Adapters
import DBusMessages
import Foundation
import Positioning
import Scanning
import Synchronization
import TestSupport
import Testing

@testable import LocationSources

/// The source on a real GeoClue, on a bus of its own, with a receiver that sends NMEA sentences to GeoClue's socket and an
/// agent that permits or refuses.
@Suite(.blocking) struct GeoClueSourceTests {
  let scratch: Scratch
  let bus: BusDaemon
  let client: SourceClient

  init() throws {
    scratch = try Scratch()
    bus = try BusDaemon(in: scratch)
    client = SourceClient(GeoClueSource(bus: .address(bus.address)))
  }

  func geoclue() throws -> Daemon {
    // It retries Wi-Fi and avahi, which are not on this bus.
    let daemon = try Daemon(
      ["/usr/libexec/geoclue", "-t", "0", "-u", scratch["nmea"]],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address], log: scratch["geoclue.log"])
    let observer = try BusConnection(.address(bus.address))
    let isThere = try eventually { try observer.owner(of: "org.freedesktop.GeoClue2") != nil }
    #expect(isThere)
    return daemon
  }

  @Test func locationsAreReceived() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    let geoclue = try geoclue()
    let agent = try Agent(bus.address)
    #expect(try client.receive { client.fixes.count >= 3 })
    #expect(client.conditions == [.receiving])
    #expect(client.source.availability == .available)
    for fix in client.fixes {
      #expect((37.38...37.41).contains(fix.place.latitude))
      #expect(abs(fix.place.longitude + 122.037_816) < 1e-5)
      #expect(fix.altitude == 30)
      // GeoClue states 0 m for an HDOP of 0.9.
      #expect(fix.horizontalAccuracy == 5)
      #expect(abs((fix.speed ?? 0) - 5.144) < 0.001)
      #expect(fix.course == 30)
      #expect(abs(WallClockTime.now.seconds(since: fix.timestamp)) < 3600)
    }
    let latitudes = client.fixes.map(\.place.latitude)
    #expect(latitudes == latitudes.sorted())
    withExtendedLifetime((receiver, geoclue, agent)) {}
  }

  @Test func aDemandThatChangesIsPassedOn() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    let geoclue = try geoclue()
    let agent = try Agent(bus.address)
    #expect(try client.receive { client.fixes.count >= 2 })
    // Farther than the receiver moves.
    client.demand.fixes?.distance = 10_000
    #expect(try client.receive { true })
    client.forget()
    // The receiver goes on; nothing is delivered while it goes three times as far as before.
    let before = receiver.epochs
    #expect(try client.receive { receiver.epochs > before + 20 })
    #expect(client.fixes.count <= 1)
    // A city's accuracy needs no receiver: GeoClue leaves it.
    client.demand = LocationDemand(fixes: .init(accuracy: 3000, interval: 0, distance: 0))
    #expect(try client.receive { !receiver.isConnected })
    client.demand = LocationDemand(fixes: .init(accuracy: 0, interval: 0, distance: 0))
    client.forget()
    #expect(try client.receive { client.fixes.count >= 2 })
    client.source.rest()
    #expect(eventually { !receiver.isConnected })
    withExtendedLifetime((receiver, geoclue, agent)) {}
  }

  @Test func aGeoClueThatIsKilledTwentyTimesIsUsedAgain() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    // An agent registers itself with each GeoClue.
    let agent = try Agent(bus.address)
    for round in 0..<20 {
      let geoclue = try geoclue()
      #expect(try client.receive { client.conditions.last == .receiving && !client.fixes.isEmpty })
      client.forget()
      geoclue.kill()
      #expect(try client.receive(until: .notRunning), "round \(round)")
      #expect(client.conditions == [.notRunning])
    }
    withExtendedLifetime((receiver, agent)) {}
  }

  @Test func aRefusalIsDeniedUntilItIsPermitted() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    let geoclue = try geoclue()
    let agent = try Agent(bus.address, level: 0)
    #expect(try client.receive(until: .denied))
    #expect(client.source.availability != .available)
    #expect(client.fixes.isEmpty)
    agent.setLevel(8)
    #expect(try client.receive(until: .receiving))
    #expect(client.source.availability == .available)
    // It is taken back while the client runs.
    agent.setLevel(0)
    #expect(try client.receive(until: .denied))
    withExtendedLifetime((receiver, geoclue, agent)) {}
  }

  @Test func anAgentThatIsMissingIsReportedAndAwaited() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    let geoclue = try geoclue()
    #expect(try client.receive(until: .notPermitted))
    #expect(client.health.last?.sentence.contains("waits for an agent") == true)
    let agent = try Agent(bus.address)
    #expect(try client.receive(until: .receiving))
    #expect(client.conditions.filter { $0 == .notPermitted }.count == 1)
    withExtendedLifetime((receiver, geoclue, agent)) {}
  }

  @Test func aGeoClueThatIsNotInstalledIsReportedOnce() throws {
    #expect(try client.receive(until: .notRunning))
    #expect(client.health.last?.sentence.contains("apt install geoclue-2.0") == true)
    guard case .unavailable = client.source.availability else {
      Issue.record("\(client.source.availability)")
      return
    }
    bus.pause()
    bus.resume()
    for _ in 0..<20 { #expect(try client.receive { true }) }
    #expect(client.conditions == [.notRunning])
    bus.kill()
    #expect(try client.receive { true })
    #expect(client.conditions == [.notRunning])
  }

  @Test func aGeoClueWithoutAnySourceOfItsOwnIsReported() throws {
    // The receiver's socket is not there.
    let geoclue = try geoclue()
    let agent = try Agent(bus.address)
    #expect(try client.receive(until: .searching))
    #expect(client.conditions == [.searching])
    withExtendedLifetime((geoclue, agent)) {}
  }

  @Test(
    arguments: [(0, 8), (10, 8), (99, 8), (100, 6), (1000, 5), (3000, 4), (1e9, 4)]
      as [(Double, UInt32)])
  func levels(_ meters: Double, _ level: UInt32) {
    #expect(GeoClueSession.level(for: meters) == level)
  }

  @Test func aLocationWithoutValuesHasNone() throws {
    let values: [String: BusValue] = [
      "Latitude": .double(1), "Longitude": .double(2), "Accuracy": .double(25_000),
      "Altitude": .double(-.greatestFiniteMagnitude), "Speed": .double(-1), "Heading": .double(-1),
      "Timestamp": .structure([.uint64(1_700_000_000), .uint64(5)]),
    ]
    let fix = try #require(GeoClueSession.fix(values, at: MonotonicTime(nanoseconds: 3)))
    #expect(fix.horizontalAccuracy == 25_000)
    #expect(fix.altitude == nil && fix.speed == nil && fix.course == nil)
    #expect(fix.timestamp.nanoseconds == 1_700_000_000_000_005_000)
    for (key, value) in [
      ("Latitude", BusValue.double(91)), ("Longitude", .double(.nan)), ("Latitude", .string("1")),
    ] {
      var bad = values
      bad[key] = value
      #expect(GeoClueSession.fix(bad, at: MonotonicTime(nanoseconds: 3)) == nil)
    }
  }
}

/// GeoClue's agent of this user, which registers itself with each GeoClue that comes.
final class Agent: Sendable {
  private let level: Mutex<UInt32>
  private let changed: Mutex<Bool>

  init(_ address: String, level: UInt32 = 8) throws {
    self.level = Mutex(level)
    changed = Mutex(false)
    let bus = Unchecked(value: try BusConnection(.address(address)))
    try bus.value.addMatch(.owner(of: Self.service))
    try Self.register(bus.value)
    Thread.detachNewThread { [self] in
      // Where the bus has ended, so has the agent.
      try? run(bus.value)
    }
  }

  /// Used by one thread at a time: handed over at the start.
  struct Unchecked: @unchecked Sendable {
    let value: BusConnection
  }

  private static let service = "org.freedesktop.GeoClue2"
  private static let interface = "org.freedesktop.GeoClue2.Agent"
  private static let path = "/org/freedesktop/GeoClue2/Agent"

  /// Changes the level that is permitted.
  func setLevel(_ value: UInt32) {
    level.withLock { $0 = value }
    changed.withLock { $0 = true }
  }

  private static func register(_ bus: BusConnection) throws {
    var call = BusMessage(
      call: "AddAgent", of: "org.freedesktop.GeoClue2.Manager",
      at: "/org/freedesktop/GeoClue2/Manager",
      to: service, .string("geoclue-demo-agent"))
    call.startsService = false
    try bus.send(call)
  }

  private var properties: BusValue {
    .properties(["MaxAccuracyLevel": .uint32(level.withLock { $0 })])
  }

  private func run(_ bus: BusConnection) throws {
    while true {
      for message in try bus.receive(waitingAtMost: 20_000_000) {
        if let change = message.ownerChange, change.owner != nil { try Self.register(bus) }
        switch message.member {
        case "AuthorizeApp" where message.kind == .call:
          let level = level.withLock { $0 }
          try bus.reply(to: message, with: [.boolean(level > 0), .uint32(level)])
        case "GetAll" where message.kind == .call: try bus.reply(to: message, with: [properties])
        case "Get" where message.kind == .call:
          try bus.reply(to: message, with: [.variant(.uint32(level.withLock { $0 }))])
        default: break
        }
      }
      let isChanged = changed.withLock { changed in
        defer { changed = false }
        return changed
      }
      guard isChanged else { continue }
      try bus.send(
        BusMessage(
          signal: "PropertiesChanged", of: "org.freedesktop.DBus.Properties", at: Self.path,
          .string(Self.interface), properties, .strings([])))
    }
  }
}

/// A receiver that sends NMEA sentences to whoever connects to its socket, of a place that moves north.
final class NMEAServer: Sendable {
  private let state = Mutex((epochs: 0, isConnected: false, isOver: false))

  var epochs: Int { state.withLock { $0.epochs } }
  var isConnected: Bool { state.withLock { $0.isConnected } }

  init(at path: String) throws {
    let server = FakeServer.Unchecked(value: try FakeServer(at: path))
    Thread.detachNewThread { [weak self] in
      let server = server.value
      while self?.state.withLock({ $0.isOver }) == false {
        guard server.acceptIfAny() else {
          usleep(10_000)
          continue
        }
        self?.state.withLock { $0.isConnected = true }
        while let number = self?.next(), server.send(Self.sentences(number)) { usleep(50_000) }
        self?.state.withLock { $0.isConnected = false }
        server.hangUp()
      }
    }
  }

  private func next() -> Int? {
    state.withLock { state in
      guard !state.isOver else { return nil }
      state.epochs += 1
      return state.epochs
    }
  }

  /// GeoClue takes the date from today and the time from the sentence.
  private static func sentences(_ number: Int) -> String {
    let clock = WallClockTime.now.description
    let date = clock.dropFirst(2).prefix(8).split(separator: "-").reversed().joined()
    let time = clock.dropFirst(11).prefix(8).replacing(":", with: "") + ".00"
    let north = String("0000\(number % 10_000)".suffix(4))
    return [
      "GPGGA,\(time),3723.\(north),N,12202.2690,W,1,08,0.9,30.0,M,-25.0,M,,",
      "GPRMC,\(time),A,3723.\(north),N,12202.2690,W,10.0,030.00,\(date),013.0,E,A",
    ].map { text in
      let sum = text.utf8.reduce(0, ^)
      return "$\(text)*\(sum < 16 ? "0" : "")\(String(sum, radix: 16, uppercase: true))\r\n"
    }.joined()
  }
}
