import BeaconTesting
import Regions
import Scanning
import ServiceCore
import TestSupport
import Testing

@testable import CoreLocation

@Suite struct DelegateCallsTests {
  /// A fault is reported once for each time that reception is lost, also the first one, which can come before the
  /// manager is complete.
  @Test func aFaultBeforeTheManagerIsCompleteIsReportedAndSoIsTheNext() async {
    let scene = Scene()
    scene.manager.startRangingBeacons(satisfying: Scene.visitors)
    let calls = DelegateCalls(in: .queue(DispatchQueue(label: "calls")))
    let core = scene.services.core
    let client = core.addClient(in: .observers) { calls.deliver($0) }
    func report(_ condition: ScannerHealth.Condition) {
      let health = ScannerHealth(
        condition, at: MonotonicTime(nanoseconds: 0), adapter: "hci0",
        isReceptionLost: condition.isFault, sentence: "hci0 is \(condition)")
      client.send(BeaconEvent.health(health, at: WallClockTime(nanoseconds: 0)))
    }
    func failures() -> Int { scene.listener.all.count { $0 == "cannot range 16" } }
    report(.down)
    calls.begin(for: scene.manager)
    await eventually { failures() == 1 }
    report(.scanning)
    report(.down)
    await eventually { failures() == 2 }
    client.remove()
  }

  /// What is on its way to the delegate when a region is not monitored any more does not arrive.
  @Test(arguments: [true, false])
  func eventsOfARegionAreDroppedWithIt(isStopped: Bool) async throws {
    let queue = DispatchQueue(label: "delegate")
    let scene = try RegionServiceTests.scene { $0.delegateQueue = queue }
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 10, to: 60)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    await eventually { scene.listener.all.contains("monitors lobby") }
    queue.suspend()
    scene.scanner.clock.advance(by: 40)
    let beacons = scene.manager.beacons
    await eventually {
      beacons.snapshot(ofRegion: "lobby")?.status.state == .inside
        && scene.scanner.delivered >= scene.scanner.clock.now
    }
    // The events are on their way to the queue.
    scene.services.core.flush()
    if isStopped { scene.manager.stopMonitoring(for: Scene.region("lobby")) }
    queue.resume()
    await withCheckedContinuation { done in queue.async { done.resume() } }
    #expect(scene.listener.all.contains("enter lobby") == !isStopped)
    #expect(scene.listener.all.contains("state lobby 1") == !isStopped)
  }

  /// What is on its way to the delegate when ranging has stopped does not arrive.
  @Test func reportsAreDroppedWithTheirConstraint() async {
    let queue = DispatchQueue(label: "delegate")
    let scene = Scene { $0.delegateQueue = queue }
    await eventually { scene.listener.all.contains("status 3") }
    queue.suspend()
    scene.manager.startRangingBeacons(satisfying: Scene.visitors)
    scene.scanner.clock.advance(by: 3)
    await eventually { scene.scanner.delivered >= scene.scanner.clock.now }
    scene.manager.stopRangingBeacons(satisfying: Scene.visitors)
    queue.resume()
    await withCheckedContinuation { done in queue.async { done.resume() } }
    #expect(!scene.listener.all.contains { $0.hasPrefix("range") })
  }
}
