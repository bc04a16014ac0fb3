import BeaconTesting
import CoreLocation
import Regions
import Scanning
import ServiceCore
import TestSupport
import Testing

@Suite struct RangingServiceTests {
  static let all = CLBeaconIdentityConstraint(uuid: Scene.lobby)

  @Test func onceASecondIncludingTheEmptyList() async {
    let scene = Scene()
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 0.1, from: 1.05, to: 2.95)
    _ = await scene.told(1)
    scene.manager.startRangingBeacons(satisfying: Self.all)
    scene.scanner.clock.advance(by: 3.5)
    #expect(await scene.told(4) == ["status 3", "range ", "range 7@-60", "range 7@-60"])
  }

  /// A report that is on its way does not answer a request that came after it.
  @Test func aConstraintThatIsAddedLateGetsNoListOfEarlier() async {
    let queue = DispatchQueue(label: "delegate")
    let scene = Scene { $0.delegateQueue = queue }
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 0.1, from: 0.05, to: 2.95)
    _ = await scene.told(1)
    queue.suspend()
    scene.manager.startRangingBeacons(satisfying: Self.all)
    scene.scanner.clock.advance(by: 1.5)
    await eventually { scene.scanner.delivered >= scene.scanner.clock.now }
    scene.services.core.flush()
    scene.manager.startRangingBeacons(
      satisfying: CLBeaconIdentityConstraint(uuid: Scene.lobby, major: 9))
    queue.resume()
    #expect(await scene.told(2) == ["status 3", "range 7@-60"])
    queue.sync {}
    #expect(scene.listener.all == ["status 3", "range 7@-60"])
    scene.scanner.clock.advance(by: 1)
    #expect(await Set(scene.told(4).dropFirst(2)) == ["range 7@-60", "range "])
  }

  @Test func aFreshEqualConstraintStops() async {
    let scene = Scene()
    scene.manager.startRangingBeacons(satisfying: Self.all)
    #expect(scene.manager.rangedBeaconConstraints == [Self.all])
    scene.scanner.clock.advance(by: 1.5)
    #expect(await scene.told(2).last == "range ")
    scene.manager.stopRangingBeacons(
      satisfying: CLBeaconIdentityConstraint(uuid: Scene.lobby))
    #expect(scene.manager.rangedBeaconConstraints.isEmpty)
    scene.scanner.clock.advance(by: 10)
    // The radio rests when nobody listens.
    await eventually { scene.scanner.demands.last == ScanDemand.none }
    #expect(scene.scanner.demands == [.ranging, .none])
    #expect(scene.listener.all.count == 2)
  }

  @Test func nothingRegisteredMeansNoScan() async {
    let scene = Scene()
    _ = await scene.told(1)
    scene.scanner.clock.advance(by: 10)
    try? await Task.sleep(for: .milliseconds(50))
    #expect(scene.scanner.demands.isEmpty)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.scanner.clock.advance(by: 1)
    await eventually { !scene.scanner.demands.isEmpty }
    // A new region is looked for at full duty until its state is determined.
    #expect(scene.scanner.demands.first == .ranging)
    scene.scanner.clock.advance(by: 10)
    await eventually { scene.scanner.demands.last == .monitoring }
    // A boundary needs signal strengths.
    let near = Scene.region("near")
    near.rules = try? RegionRules(signal: SignalGate(enter: -60, exit: -70))
    scene.manager.startMonitoring(for: near)
    for (demand, stops) in [(ScanDemand.monitoringSignals, true), (.monitoring, false)] {
      let isRequested = await eventually {
        scene.scanner.clock.advance(by: 5)
        return scene.scanner.demands.last == demand
      }
      #expect(isRequested)
      if stops { scene.manager.stopMonitoring(for: near) }
    }
  }

  @Test func everyManagerIsToldOfItsOwn() async {
    let scene = Scene()
    let other = CLLocationManager(services: scene.services)
    let listener = Listener()
    other.delegate = listener
    scene.scanner.add(Scene.frame(1), rssi: -60, at: 0.5)
    scene.scanner.add(Scene.frame(2), rssi: -70, at: 0.6)
    scene.manager.startRangingBeacons(
      satisfying: CLBeaconIdentityConstraint(uuid: Scene.lobby, major: 1, minor: 1))
    other.startRangingBeacons(
      satisfying: CLBeaconIdentityConstraint(uuid: Scene.lobby, major: 1, minor: 2))
    scene.scanner.clock.advance(by: 1)
    #expect(await scene.told(2) == ["status 3", "range 1@-60"])
    #expect(await listener.lines(2) == ["status 3", "range 2@-70"])
  }

  @Test func startingTwiceIsStartingOnce() async {
    let scene = Scene()
    scene.manager.startRangingBeacons(satisfying: Self.all)
    scene.scanner.clock.advance(by: 0.5)
    scene.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: Scene.lobby))
    scene.scanner.clock.advance(by: 1)
    #expect(await scene.told(2) == ["status 3", "range "])
    try? await Task.sleep(for: .milliseconds(30))
    #expect(scene.listener.all.count == 2)
  }

  @Test func aScannerThatFailsIsTold() async {
    struct Broken: Error {}
    let scene = Scene()
    scene.manager.startRangingBeacons(satisfying: Self.all)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.scanner.clock.advance(by: 0.5)
    _ = await scene.told(2)
    scene.scanner.fail(Broken())
    let lines = await scene.told(4)
    #expect(Set(lines.suffix(2)) == ["cannot range 17", "cannot monitor lobby 5"])
    // What is started after that fails at once.
    scene.manager.startRangingBeacons(satisfying: Self.all)
    #expect(await scene.told(5).last == "cannot range 16")
  }
}
