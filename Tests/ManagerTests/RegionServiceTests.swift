import BeaconTesting
import CoreLocation
import Regions
import Scanning
import TestSupport
import Testing

@Suite struct RegionServiceTests {
  /// A fixed limit of five seconds, so that the moments are plain.
  static func scene(_ change: (inout LocationServices.Configuration) -> Void = { _ in }) throws
    -> Scene
  {
    let rules = try RegionRules(exitTimeout: .fixed(seconds: 5))
    return Scene { configuration in
      configuration.rules = rules
      change(&configuration)
    }
  }

  @Test func crossingsAndStates() async throws {
    let scene = try Self.scene()
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 10, to: 20.5)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    #expect(scene.manager.monitoredRegions == [Scene.region("lobby")])
    scene.scanner.clock.advance(by: 60)
    #expect(
      await scene.told(7) == [
        "status 3", "monitors lobby", "state lobby 2", "enter lobby", "state lobby 1", "exit lobby",
        "state lobby 2",
      ])
  }

  @Test func beingInsideAtTheStartIsNoCrossing() async throws {
    let scene = try Self.scene()
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 0, to: 20)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.scanner.clock.advance(by: 10)
    #expect(await scene.told(3) == ["status 3", "monitors lobby", "state lobby 1"])
    try? await Task.sleep(for: .milliseconds(30))
    #expect(scene.listener.all.count == 3)
  }

  @Test func notificationsCanBeOff() async throws {
    let scene = try Self.scene()
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 10, to: 20.5)
    let region = Scene.region("lobby")
    region.notifyOnEntry = false
    scene.manager.startMonitoring(for: region)
    scene.scanner.clock.advance(by: 60)
    #expect(
      await scene.told(6) == [
        "status 3", "monitors lobby", "state lobby 2", "state lobby 1", "exit lobby",
        "state lobby 2",
      ])
  }

  @Test func requestStateAlwaysAnswers() async throws {
    let scene = try Self.scene()
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 1, to: 20)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    // Not determined yet: the answer comes with the determination.
    scene.manager.requestState(for: Scene.region("lobby"))
    // Not monitored at all: it is looked for.
    scene.manager.requestState(for: Scene.region("other", minor: 9))
    scene.scanner.clock.advance(by: 6)
    #expect(
      await scene.told(4) == [
        "status 3", "monitors lobby", "state lobby 1", "state other 2",
      ])
    scene.manager.requestState(for: Scene.region("lobby"))
    #expect(await scene.told(5).last == "state lobby 1")
    #expect(scene.manager.monitoredRegions.map(\.identifier) == ["lobby"])
  }

  @Test func whatCannotBeFoundOutAnyMoreIsUnknown() async throws {
    let scene = try Self.scene()
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.manager.requestState(for: Scene.region("lobby"))
    scene.manager.requestState(for: Scene.region("other", minor: 9))
    scene.manager.requestState(for: Scene.region("other", minor: 8))
    scene.manager.stopMonitoring(for: Scene.region("lobby"))
    #expect(await scene.told(3) == ["status 3", "monitors lobby", "state lobby 0"])
    // The recording ends before the limit is reached.
    scene.scanner.finish(at: 2)
    scene.scanner.clock.advance(by: 3)
    #expect(await scene.told(5).suffix(2) == ["state other 0", "state other 0"])
    scene.manager.requestState(for: Scene.region("lobby"))
    #expect(await scene.told(6).last == "state lobby 0")
  }

  /// While a radio rests nobody can say that it was silent.
  @Test func aRestIsNoSilence() async throws {
    let rules = try RegionRules(exitTimeout: .fixed(seconds: 5))
    let scene = Scene(scanner: ScriptedScanner(isRecorded: false)) { $0.rules = rules }
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 0.5, to: 5)
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 3600.5, to: 3620)
    let all = CLBeaconIdentityConstraint(uuid: Scene.lobby)
    scene.manager.startRangingBeacons(satisfying: all)
    scene.scanner.clock.advance(by: 4)
    _ = await scene.told(2)
    scene.manager.stopRangingBeacons(satisfying: all)
    await eventually { scene.scanner.demands.last == ScanDemand.none }
    scene.scanner.clock.advance(by: 3597)
    let before = scene.listener.all.count
    scene.manager.startRangingBeacons(satisfying: all)
    await eventually { scene.scanner.demands.last == .ranging }
    scene.scanner.clock.advance(by: 2.5)
    _ = await scene.told(before + 1)
    try await Task.sleep(for: .milliseconds(300))
    // An hour of empty reports did not come.
    #expect(scene.listener.all.count <= before + 4)
  }

  @Test func theSameIdentifierReplaces() async throws {
    let scene = try Self.scene()
    scene.manager.startMonitoring(for: Scene.region("lobby", minor: 1))
    scene.manager.startMonitoring(for: Scene.region("lobby", minor: 2))
    #expect(scene.manager.monitoredRegions.count == 1)
    let region = scene.manager.monitoredRegions.first as? CLBeaconRegion
    #expect(region?.minor == 2)
    scene.manager.stopMonitoring(for: Scene.region("lobby"))
    #expect(scene.manager.monitoredRegions.isEmpty)
  }

  @Test func regionsAreSharedAndOutliveTheirManager() async throws {
    let scene = try Self.scene()
    var other: CLLocationManager? = CLLocationManager(services: scene.services)
    other?.startMonitoring(for: Scene.region("lobby"))
    other = nil
    #expect(scene.manager.monitoredRegions == [Scene.region("lobby")])
    scene.scanner.add(Scene.frame(7), rssi: -60, at: 1)
    scene.scanner.clock.advance(by: 2)
    #expect(await scene.told(2) == ["status 3", "state lobby 1"])
  }

  @Test func theLimitIsOurs() async throws {
    let scene = try Self.scene { $0.monitoring.maximumRegions = 100 }
    for number in 0..<100 {
      scene.manager.startMonitoring(for: Scene.region("\(number)", minor: UInt16(number)))
    }
    scene.manager.startMonitoring(for: Scene.region("one more"))
    #expect(await scene.told(102).last == "cannot monitor one more 5")
    #expect(scene.manager.monitoredRegions.count == 100)
    #expect(LocationServices.Configuration().monitoring.maximumRegions == 16384)
  }

  @Test func whatIsNotThereFailsThroughTheDelegate() async throws {
    let scene = try Self.scene()
    let center = CLLocationCoordinate2D(latitude: 0, longitude: 0)
    scene.manager.startMonitoring(
      for: CLCircularRegion(center: center, radius: 100, identifier: "circle"))
    scene.manager.startUpdatingLocation()
    scene.manager.startUpdatingHeading()
    scene.manager.startMonitoringVisits()
    scene.manager.requestLocation()
    #expect(
      await scene.told(6) == [
        "status 3", "cannot monitor circle 5", "failed 0", "failed 3", "failed 0", "failed 0",
      ])
    scene.manager.requestState(
      for: CLCircularRegion(center: center, radius: 100, identifier: "circle"))
    #expect(await scene.told(7).last == "state circle 0")
  }
}
