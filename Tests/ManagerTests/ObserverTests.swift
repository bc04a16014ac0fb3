import BeaconTesting
import Regions
import ServiceCore
import Synchronization
import TestSupport
import Testing

@testable import CoreLocation

/// Clients of the services that want no events of regions leave them to the managers.
@Suite struct ObserverTests {
  @Test(arguments: ["health", "updates", "end"])
  func leaveRegionsToManagers(observer: String) async throws {
    let files = try RestartTests.Files()
    let rules = try RegionRules(exitTimeout: .fixed(seconds: 5))
    let scene = Scene(persistence: .file(files.state)) { $0.rules = rules }
    scene.manager.delegate = nil
    let services = scene.services
    let task = Task {
      switch observer {
      case "health": for await _ in services.health {}
      case "updates":
        for try await _ in CLLocationUpdate.liveUpdates(of: { services }) {}
      default: try await services.ended()
      }
    }
    defer { task.cancel() }
    try await Task.sleep(for: .milliseconds(50))
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 10, to: 100)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.scanner.clock.advance(by: 20)
    await eventually { scene.scanner.delivered >= scene.scanner.clock.now }
    try await Task.sleep(for: .milliseconds(50))
    scene.manager.delegate = scene.listener
    await eventually { scene.listener.all.contains("state lobby 1") }
    let lines = scene.listener.all.filter { $0.contains("lobby") }
    #expect(lines == ["state lobby 2", "enter lobby", "state lobby 1"])
  }

  @Test func twoSequencesOfAClientHaveEachTheirEvents() async throws {
    let scene = Scene()
    scene.scanner.add(Scene.frame(7), rssi: -60, at: 1)
    let client = scene.services.beacons.addClient()
    try client.startSightings()
    var sightings = client.events.makeAsyncIterator()
    let received = Mutex<[AuthorizationEvent]>([])
    let reading = Task {
      for try await event in client.client.authorizationEvents {
        received.withLock { $0.append(event) }
      }
    }
    await eventually { !received.withLock { $0.isEmpty } }
    let hasCome = Mutex(false)
    let first = Task {
      defer { hasCome.withLock { $0 = true } }
      return try await sightings.next()
    }
    try await Task.sleep(for: .milliseconds(20))
    scene.scanner.clock.advance(by: 2)
    await eventually { hasCome.withLock { $0 } }
    client.remove()
    guard case .sightings? = try await first.value else {
      Issue.record("the sighting went to the other sequence")
      return
    }
    try await reading.value
    #expect(received.withLock { $0.map(\.status) } == [.authorizedAlways])
  }

  @Test func aSequenceIsOverAfterItsError() async throws {
    let scene = Scene()
    let client = scene.services.beacons.addClient()
    try client.startSightings()
    scene.scanner.fail(EndTests.Broken())
    let results = Mutex<[String]>([])
    let reading = Task {
      var events = client.events.makeAsyncIterator()
      await #expect {
        while try await events.next() != nil {}
      } throws: {
        "\($0)" == "Broken()"
      }
      results.withLock { $0.append("error") }
      let next = try await events.next()
      results.withLock { $0.append("\(String(describing: next))") }
    }
    await eventually { results.withLock { $0.count } == 2 }
    reading.cancel()
    _ = await reading.result
    #expect(results.withLock { $0 } == ["error", "nil"])
  }
}
