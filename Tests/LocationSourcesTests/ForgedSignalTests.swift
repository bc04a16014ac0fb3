import DBusMessages
import Positioning
import Scanning
import TestDaemons
import TestSupport
import Testing

@testable import LocationSources

/// Signals that another process sends in a daemon's name.
@Suite(.blocking, .daemons, .timeLimit(.minutes(10))) struct ForgedSignalTests {
  let scratch: Scratch
  let bus: BusDaemon

  init() throws {
    scratch = try Scratch()
    bus = try BusDaemon(in: scratch)
  }

  private func change(
    _ property: String, _ value: BusValue, of interface: String, at path: String
  ) -> BusMessage {
    BusMessage(
      signal: "PropertiesChanged", of: Bus.properties, at: path, .string(interface),
      .properties([property: value]), .array(element: "s", []))
  }

  @Test func aHeadingOfAnotherProcessDoesNotCount() throws {
    let client = SourceClient(CompassSource(bus: .address(bus.address)))
    client.demand = LocationDemand(needsHeading: true)
    let machine = try CompassMachine(bus.address)
    try machine.run("heading 90", "start")
    #expect(try client.receive { !client.readings.isEmpty })
    let forger = try BusConnection(.address(bus.address))
    for name in try names(on: forger) {
      var signal = change(
        "CompassHeading", .double(222), of: CompassName.interface, at: CompassName.path)
      signal.destination = name
      try forger.send(signal)
    }
    // What comes after the forged one has come after it.
    try machine.run("heading 91")
    #expect(try client.receive { client.readings.last?.magneticHeading == 91 })
    #expect(!client.readings.contains { $0.magneticHeading == 222 })
    forger.close()
  }

  @Test func aDenialByAnotherProcessDoesNotCount() throws {
    let client = SourceClient(GeoClueSource(bus: .address(bus.address)))
    let receiver = try NMEAServer(at: scratch["nmea"])
    let geoclue = try Daemon.geoclue(on: bus, in: scratch)
    let agent = try GeoClueAgent(bus.address)
    #expect(try client.receive { client.fixes.count >= 2 })
    let forger = try BusConnection(.address(bus.address))
    for name in try names(on: forger) {
      var signal = change(
        "Active", .boolean(false), of: GeoClueName.client, at: "/org/freedesktop/GeoClue2/Client/1")
      signal.destination = name
      try forger.send(signal)
    }
    let count = client.fixes.count
    #expect(try client.receive { client.fixes.count >= count + 3 })
    #expect(client.conditions == [.receiving])
    forger.close()
    withExtendedLifetime((receiver, geoclue, agent)) {}
  }

  /// Any process can send what looks like an agent's signal: a client that was refused is started again more and more seldom.
  @Test func aStormOfAgentsDoesNotStartTheClientAgainAndAgain() throws {
    let client = SourceClient(GeoClueSource(bus: .address(bus.address)))
    let receiver = try NMEAServer(at: scratch["nmea"])
    let geoclue = try Daemon.geoclue(on: bus, in: scratch)
    let agent = try GeoClueAgent(bus.address, level: 0)
    #expect(try client.receive(until: .denied))
    let forger = try BusConnection(.address(bus.address))
    let clients = try clientsMade(on: forger)
    let end = ContinuousClock.now.advanced(by: .seconds(2))
    while ContinuousClock.now < end {
      try forger.send(
        change("MaxAccuracyLevel", .uint32(0), of: GeoClueName.agent, at: "/agent"))
      #expect(try client.receive { true })
    }
    // After 0.25 s, 0.5 s and 1 s.
    let made = try clientsMade(on: forger) - clients
    #expect(made <= 6, "\(made) clients were made")
    forger.close()
    withExtendedLifetime((receiver, geoclue, agent)) {}
  }

  /// The unique names on the bus.
  private func names(on bus: BusConnection) throws -> [String] {
    let answer = try bus.call(.toBus("ListNames"), timeout: 20_000_000_000)
    return (answer.first?.asArray ?? []).compactMap(\.asString).filter { $0.hasPrefix(":") }
  }

  /// The number in the path of a new client of GeoClue, which rises with each.
  private func clientsMade(on bus: BusConnection) throws -> Int {
    let answer = try bus.call(
      BusMessage(
        call: "CreateClient", of: GeoClueName.manager, at: GeoClueName.managerPath,
        to: GeoClueName.service), timeout: 20_000_000_000)
    let path = try #require(answer.first?.asString)
    return try #require(path.split(separator: "/").last.flatMap { Int($0) })
  }
}
