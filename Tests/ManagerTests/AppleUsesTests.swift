import BeaconTesting
import CoreLocation
import Scanning
import Synchronization
import TestSupport
import Testing

/// What apps that were written for iOS rely on.
@Suite struct AppleUsesTests {
  static let all = CLBeaconIdentityConstraint(uuid: Scene.lobby)

  /// A delegate of the methods that name regions.
  private final class RegionListener: CLLocationManagerDelegate, Sendable {
    let lines = Mutex<[String]>([])

    func locationManager(
      _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
    ) {
      lines.withLock { $0.append("\(region.identifier) \(beacons.map(\.minor.intValue))") }
    }
  }

  @Test func twoRegionsOfOneUUIDAreReportedAndStoppedApartByRegion() async {
    let scene = Scene()
    let listener = RegionListener()
    scene.manager.delegate = listener
    let old: any RangesRegions = RegionRanging()
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 0.1, from: 0, to: 10)
    old.start(Scene.region("a"), scene.manager)
    old.start(Scene.region("b"), scene.manager)
    #expect(Set(old.ranged(by: scene.manager)) == ["a", "b"])
    scene.scanner.clock.advance(by: 1)
    #expect(await eventually { listener.lines.withLock { $0 } == ["a [7]", "b [7]"] })
    old.stop(Scene.region("a"), scene.manager)
    #expect(old.ranged(by: scene.manager) == ["b"])
    scene.scanner.clock.advance(by: 1)
    #expect(await eventually { listener.lines.withLock { $0.count } == 3 })
    #expect(listener.lines.withLock { $0.last } == "b [7]")
    old.stop(Scene.region("b"), scene.manager)
    #expect(await eventually { scene.scanner.demands.last == ScanDemand.none })
  }

  @Test func regionsAndAConstraintOfOneUUIDAreStoppedApart() async {
    let scene = Scene()
    let old: any RangesRegions = RegionRanging()
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 0.1, from: 0, to: 10)
    old.start(Scene.region("a"), scene.manager)
    old.start(Scene.region("b"), scene.manager)
    scene.manager.startRangingBeacons(satisfying: Self.all)
    scene.scanner.clock.advance(by: 1)
    // This delegate has the method with a constraint alone: it gets a call for each.
    #expect(await scene.told(4).suffix(3) == ["range 7@-60", "range 7@-60", "range 7@-60"])
    scene.manager.stopRangingBeacons(satisfying: Self.all)
    #expect(Set(old.ranged(by: scene.manager)) == ["a", "b"])
    old.stop(Scene.region("a"), scene.manager)
    scene.scanner.clock.advance(by: 1)
    #expect(await scene.told(5).count == 5)
    old.stop(Scene.region("b"), scene.manager)
    #expect(await eventually { scene.scanner.demands.last == ScanDemand.none })
    #expect(scene.listener.all.count == 5)
  }

  /// The default rules, a radio, and an app that acts on entries alone.
  @Test(arguments: [0.1, 1, 10])
  func aVisitorWhoComesEarlyEnters(interval: Double) async {
    let scene = Scene(scanner: ScriptedScanner(isRecorded: false))
    let region = Scene.region("lobby")
    region.notifyOnExit = false
    scene.manager.startMonitoring(for: region)
    scene.scanner.add(Scene.frame(7), rssi: -60, every: interval, from: 5, to: 20)
    #expect(await eventually { scene.scanner.demands.last == .ranging })
    for _ in 0..<16 {
      scene.scanner.clock.advance(by: 0.5)
      #expect(await eventually { scene.scanner.delivered == scene.scanner.clock.now })
    }
    #expect(await eventually { scene.listener.all.contains("enter lobby") })
  }

  @Test func removeDropsTheEventsOfItsConditionAlone() async throws {
    let scanner = ScriptedScanner()
    scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 0, to: 30)
    let monitor = CLMonitor("lobby", services: try MonitorTests.services(scanner))
    await monitor.add(MonitorTests.condition, identifier: "one", assuming: .unsatisfied)
    await monitor.add(MonitorTests.condition, identifier: "two", assuming: .unsatisfied)
    scanner.clock.advance(by: 5)
    #expect(await eventually { scanner.delivered == scanner.clock.now })
    while await monitor.record(for: "two")?.lastEvent.state != .satisfied { await Task.yield() }
    await monitor.remove("one")
    var events = await monitor.events.makeAsyncIterator()
    #expect(try await events.next()?.identifier == "two")
    // An event of the removed condition would come before that of a new one.
    await monitor.add(MonitorTests.condition, identifier: "three", assuming: .unsatisfied)
    scanner.clock.advance(by: 5)
    #expect(try await events.next()?.identifier == "three")
  }

  @Test func aRefusalThatNoMethodReceivesIsLoggedInOneLine() async {
    final class Silent: CLLocationManagerDelegate, Sendable {}
    let scene = Scene()
    let delegate = Silent()
    scene.manager.delegate = delegate
    let center = CLLocationCoordinate2D(latitude: 0, longitude: 0)
    scene.manager.startMonitoring(
      for: CLCircularRegion(center: center, radius: 100, identifier: "circle"))
    #expect(await eventually { !scene.remarks.all.withLock { $0.isEmpty } })
    let remarks = scene.remarks.all.withLock { $0 }
    #expect(remarks.count == 1)
    #expect(remarks.first?.contains("nothing finds locations") == true)
    #expect(remarks.allSatisfy { !$0.contains("\n") })
  }
}

/// The deprecated methods, without the compiler's warnings.
private protocol RangesRegions {
  func start(_ region: CLBeaconRegion, _ manager: CLLocationManager)
  func stop(_ region: CLBeaconRegion, _ manager: CLLocationManager)
  func ranged(by manager: CLLocationManager) -> [String]
}

private struct RegionRanging: RangesRegions {
  @available(*, deprecated)
  func start(_ region: CLBeaconRegion, _ manager: CLLocationManager) {
    manager.startRangingBeacons(in: region)
  }

  @available(*, deprecated)
  func stop(_ region: CLBeaconRegion, _ manager: CLLocationManager) {
    manager.stopRangingBeacons(in: region)
  }

  @available(*, deprecated)
  func ranged(by manager: CLLocationManager) -> [String] {
    manager.rangedRegions.map(\.identifier).sorted()
  }
}
