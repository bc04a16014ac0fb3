import AppTestSupport
import BeaconTesting
import CoreLocation
import Regions
import ServiceCore
import Storage
import TestSupport
import Testing

@Suite struct MonitorTests {
  static let condition = CLMonitor.BeaconIdentityCondition(uuid: Scene.lobby, major: 1)

  static func services(
    _ scanner: ScriptedScanner, _ persistence: LocationServices.Persistence = .none
  ) throws -> LocationServices {
    var configuration = LocationServices.Configuration()
    configuration.scanner = scanner
    configuration.authorization = Always()
    configuration.persistence = persistence
    configuration.rules = try RegionRules(exitTimeout: .fixed(seconds: 5))
    return LocationServices.tested(configuration)
  }

  @Test func eventsComeAsStatesChange() async throws {
    let scanner = ScriptedScanner()
    scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 10, to: 20.5)
    let monitor = CLMonitor("lobby", services: try Self.services(scanner))
    await monitor.add(Self.condition, identifier: "one")
    #expect(await monitor.identifiers == ["one"])
    scanner.clock.advance(by: 60)
    var states: [CLMonitor.Event.State] = []
    for try await event in await monitor.events {
      #expect(event.identifier == "one")
      states.append(event.state)
      if event.state == .satisfied {
        let beacon = try #require(event.refinement as? CLMonitor.BeaconIdentityCondition)
        #expect(beacon.minor == 7)
      }
      if states.count == 3 { break }
    }
    #expect(states == [.unsatisfied, .satisfied, .unsatisfied])
    #expect(await monitor.record(for: "one")?.lastEvent.state == .unsatisfied)
    await monitor.remove("one")
    #expect(await monitor.record(for: "one") == nil)
  }

  @Test func whoBreaksOffMissesNothing() async throws {
    let scanner = ScriptedScanner()
    scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 10, to: 20.5)
    let monitor = CLMonitor("lobby", services: try Self.services(scanner))
    await monitor.add(Self.condition, identifier: "one")
    scanner.clock.advance(by: 60)
    var states: [CLMonitor.Event.State] = []
    for _ in 0..<3 {
      for try await event in await monitor.events {
        states.append(event.state)
        break
      }
    }
    #expect(states == [.unsatisfied, .satisfied, .unsatisfied])
  }

  @Test func whatIsAssumedAndProvesRightIsNoEvent() async throws {
    let scanner = ScriptedScanner()
    scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 10, to: 20.5)
    let monitor = CLMonitor("lobby", services: try Self.services(scanner))
    await monitor.add(Self.condition, identifier: "one", assuming: .unsatisfied)
    scanner.clock.advance(by: 15)
    var events = await monitor.events.makeAsyncIterator()
    #expect(try await events.next()?.state == .satisfied)
  }

  @Test func whatCannotBeWatchedIsTold() async throws {
    let monitor = CLMonitor("circles", services: try Self.services(ScriptedScanner()))
    let center = CLLocationCoordinate2D(latitude: 1, longitude: 2)
    // Nothing finds locations here.
    await monitor.add(
      CLMonitor.CircularGeographicCondition(center: center, radius: 100), identifier: "circle")
    var events = await monitor.events.makeAsyncIterator()
    let event = try #require(try await events.next())
    #expect(event.state == .unmonitored)
    #expect(event.conditionUnsupported)
  }

  @Test func conditionsAndUntoldEventsOutliveTheProcess() async throws {
    let files = try RestartTests.Files()
    do {
      let scanner = ScriptedScanner()
      scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 10, to: 100)
      let services = try Self.services(scanner, .file(files.state))
      let monitor = CLMonitor("lobby", services: services)
      await monitor.add(Self.condition, identifier: "one", assuming: .unsatisfied)
      // What was received first has been processed when more is received.
      for seconds in [15, 1] as [Double] {
        scanner.clock.advance(by: seconds)
        #expect(await eventually { scanner.delivered >= scanner.clock.now })
      }
      services.core.flush()
    }
    // The services of before have let go of the file a moment later.
    await eventually { (try? Store(.file(files.state))) != nil }
    let monitor = CLMonitor(
      "lobby", services: try Self.services(ScriptedScanner(), .file(files.state)))
    #expect(await monitor.identifiers == ["one"])
    var events = await monitor.events.makeAsyncIterator()
    #expect(try await events.next()?.state == .satisfied)
  }
}
