import DBusMessages
import Positioning
import Scanning
import TestDaemons
import TestSupport
import Testing

@testable import LocationSources

/// The source on a real GeoClue, on a bus of its own, with a receiver that sends NMEA sentences to GeoClue's socket and an
/// agent that permits or refuses.
@Suite(.blocking, .daemons) struct GeoClueSourceTests {
  let scratch: Scratch
  let bus: BusDaemon
  let client: SourceClient

  init() throws {
    scratch = try Scratch()
    bus = try BusDaemon(in: scratch)
    client = SourceClient(GeoClueSource(bus: .address(bus.address)))
  }

  func geoclue() throws -> Daemon { try Daemon.geoclue(on: bus, in: scratch) }

  @Test func locationsAreReceived() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    let geoclue = try geoclue()
    let agent = try GeoClueAgent(bus.address)
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
    let agent = try GeoClueAgent(bus.address)
    #expect(try client.receive { client.fixes.count >= 2 })
    // Farther than the receiver moves.
    client.demand.fixes?.distance = 10_000
    #expect(try client.receive { true })
    client.forget()
    // The receiver goes on; nothing is delivered while it goes three times as far as before.
    let before = receiver.epochs
    #expect(try client.receive { receiver.epochs > before + 20 })
    #expect(client.fixes.count <= 1)
    // A request for one fix is answered though nothing moves far enough.
    client.forget()
    client.demand.fixes?.requests = 1
    #expect(try client.receive { !client.fixes.isEmpty })
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

  /// Visits and distant circles need no satellites, but this machine has nothing else.
  @Test func aReceiverIsUsedWhereACoarserLevelFindsNothing() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    let geoclue = try Daemon.geoclue(on: bus, in: scratch)
    let agent = try GeoClueAgent(bus.address)
    client.demand = LocationDemand(fixes: .init(accuracy: 100, interval: 1, distance: 0))
    #expect(try client.receive { client.fixes.count >= 2 })
    #expect(client.conditions == [.receiving])
    // As it is where an exact level had found the place before.
    client.source.rest()
    client.forget()
    client.demand.fixes?.accuracy = 0
    #expect(try client.receive { client.fixes.count >= 2 })
    client.demand.fixes?.accuracy = 1000
    #expect(try client.receive { !receiver.isConnected })
    client.forget()
    #expect(try client.receive { client.fixes.count >= 2 })
    #expect(client.conditions.isEmpty)
    withExtendedLifetime((receiver, geoclue, agent)) {}
  }

  @Test func aGeoClueThatIsKilledTwentyTimesIsUsedAgain() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    // An agent registers itself with each GeoClue.
    let agent = try GeoClueAgent(bus.address)
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
    let agent = try GeoClueAgent(bus.address, level: 0)
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

  /// A location that was under way does not end the denial, and a start that was answered before the agent's change is not
  /// believed.
  @Test(arguments: [ScriptedGeoClue.Moment.location, .start])
  func aRefusalIsDeniedWhateverTheClientWaitsFor(moment: ScriptedGeoClue.Moment) throws {
    let geoclue = try ScriptedGeoClue(bus.address, stopsDuring: moment)
    let last = moment == .location ? "GetAll" : "Start"
    #expect(try client.receive(until: .denied), "\(geoclue.answers)")
    #expect(try client.receive { geoclue.answers.contains(last) })
    for _ in 0..<2 { #expect(try client.receive { true }) }
    #expect(client.conditions.last == .denied, "\(client.conditions)")
  }

  /// The administrator's file decides before the agent does, though GeoClue waits for one in any case.
  @Test(.enabled(if: Daemon.canMount)) func aConfigurationThatDeniesIsADenial() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    let geoclue = try Daemon.geoclue(
      on: bus, in: scratch, adding: "[beaconscan]\nallowed=false\nsystem=false\nusers=")
    let agent = try GeoClueAgent(bus.address)
    #expect(try client.receive(until: .denied))
    #expect(client.conditions == [.denied] && client.fixes.isEmpty)
    withExtendedLifetime((receiver, geoclue, agent)) {}
  }

  @Test func anAgentThatIsMissingIsReportedAndAwaited() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    let geoclue = try geoclue()
    #expect(try client.receive(until: .notPermitted))
    #expect(client.health.last?.sentence.contains("waits for an agent") == true)
    let agent = try GeoClueAgent(bus.address)
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
    let agent = try GeoClueAgent(bus.address)
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
    // What GeoClue kept is as old as it states; a time of the future is now.
    for (offset, age) in [(90, 90), (-90, 0)] as [(Int64, Int64)] {
      let now = MonotonicTime(nanoseconds: 500_000_000_000)
      let kept = GeoClueSession.fix(
        values, at: now, wallClock: fix.timestamp.advanced(by: offset * 1_000_000_000))
      #expect(kept?.time == now.advanced(by: -age * 1_000_000_000))
    }
    for (key, value) in [
      ("Latitude", BusValue.double(91)), ("Longitude", .double(.nan)), ("Latitude", .string("1")),
    ] {
      var bad = values
      bad[key] = value
      #expect(GeoClueSession.fix(bad, at: MonotonicTime(nanoseconds: 3)) == nil)
    }
  }
}
