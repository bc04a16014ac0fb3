import DBusMessages
import Positioning
import Scanning
import TestDaemons
import TestSupport
import Testing

@testable import LocationSources

/// Every live source of positions keeps the contract, and reports its state anew after a rest in which it changed.
@Suite(.blocking, .daemons, .timeLimit(.minutes(10))) struct SourceContractTests {
  let scratch: Scratch
  private let fixes = LocationDemand(fixes: .init(accuracy: 0, interval: 0, distance: 0))

  init() throws { scratch = try Scratch() }

  private func check<S: LocationSource>(
    _ source: S, for demand: LocationDemand? = nil, whileResting change: () throws -> Void = {}
  ) throws -> [LocationHealth.Condition] {
    let (before, after) = try SourceContract.check(
      source, for: demand ?? fixes,
      time: {
        switch $0 {
        case .fix(let fix): fix.time
        case .compass(let reading): reading.time
        }
      }, whileResting: change)
    return [before.condition, after.condition]
  }

  @Test func gpsd() throws {
    let port = try freePort()
    var daemon: GPSDDaemon?
    let source = GPSDSource(.tcp(host: "127.0.0.1", port: port))
    let states = try check(source) {
      daemon = try GPSDDaemon(on: port, in: scratch)
      #expect(eventually { source.availability == .available })
    }
    #expect(states.first == .notRunning && states.last != .notRunning, "\(states)")
    #expect(
      try check(GPSDSource(.tcp(host: "127.0.0.1", port: freePort()))) == [
        .notRunning, .notRunning,
      ])
    withExtendedLifetime(daemon) {}
  }

  @Test func geoClue() throws {
    let bus = try BusDaemon(in: scratch)
    let source = GeoClueSource(bus: .address(bus.address))
    var running: [AnyObject] = []
    let states = try check(source) {
      running.append(try NMEAServer(at: scratch["nmea"]))
      running.append(try Daemon.geoclue(on: bus, in: scratch))
      running.append(try GeoClueAgent(bus.address))
    }
    #expect(states.first != .receiving && states.last == .receiving, "\(states)")
    withExtendedLifetime(running) {}
  }

  @Test func compass() throws {
    let bus = try BusDaemon(in: scratch)
    let source = CompassSource(bus: .address(bus.address))
    var machine: CompassMachine?
    let states = try check(source, for: LocationDemand(needsHeading: true)) {
      machine = try CompassMachine(bus.address)
      try machine?.run("heading 90", "start")
    }
    #expect(states.first != .receiving && states.last == .receiving, "\(states)")
    withExtendedLifetime(machine) {}
  }

  @Test func aFixedPositionAndTheChoices() throws {
    let place = try #require(Coordinate(latitude: 48, longitude: 11))
    #expect(try check(FixedSource(place)) == [.receiving, .receiving])
    let absent = GPSDSource(.tcp(host: "127.0.0.1", port: try freePort()))
    #expect(try check(AutomaticSource([absent])) == [.notRunning, .notRunning])
    let states = try check(AutomaticSource([absent, FixedSource(place)]))
    #expect(!states.contains { $0.isFault })
    let bus = try BusDaemon(in: scratch)
    let compass = CompassSource(bus: .address(bus.address))
    #expect(
      try check(CombinedSource(fixes: FixedSource(place), compass: compass))
        == [.receiving, .receiving])
  }

  @Test func aFixedPositionIsDeliveredOnce() throws {
    let source = FixedSource(try #require(Coordinate(latitude: 48, longitude: 11)))
    var inputs: [PositionInput] = []
    _ = try source.receive(for: fixes, until: .now, into: &inputs)
    #expect(inputs.count == 1)
    _ = try source.receive(for: fixes, until: .now, into: &inputs)
    #expect(inputs.isEmpty)
  }

  @Test func aFixIsNotDeliveredAgainWithoutDemand() throws {
    let place = try #require(Coordinate(latitude: 48, longitude: 11))
    let bus = try BusDaemon(in: scratch)
    let source = CombinedSource(
      fixes: FixedSource(place), compass: CompassSource(bus: .address(bus.address)))
    var inputs: [PositionInput] = []
    _ = try source.receive(for: fixes, until: .now, into: &inputs)
    #expect(inputs.count == 1)
    _ = try source.receive(for: LocationDemand(), until: .now, into: &inputs)
    #expect(inputs.isEmpty)
  }
}
