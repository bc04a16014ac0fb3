import BeaconTesting
import Positioning
import Scanning
import ServiceCore
import Storage
import TestSupport
import Testing

@testable import CoreLocation

/// Circular regions and conditions.
@Suite struct CircleTests {
  let source = ScriptedLocations()

  /// A circle whose center lies some meters north of where walks begin.
  private func circle(_ name: String = "fair", _ meters: Double = 1500, radius: Double = 300)
    -> CLCircularRegion
  {
    let center = Coordinate(latitude: 52.5, longitude: 13.4)
      .map { CLLocationCoordinate2D($0.moved(meters, toward: 0)) }
    return CLCircularRegion(
      center: center ?? kCLLocationCoordinate2DInvalid, radius: radius, identifier: name)
  }

  private func scene(_ persistence: LocationServices.Persistence = .none) -> Scene {
    Scene(persistence: persistence) { $0.locationSource = .init(source) }
  }

  @Test func aCircleIsEnteredAndLeft() async throws {
    source.add(walk(2000, metersNorth: 1.5))
    source.finish(at: 2000)
    let scene = scene()
    scene.manager.startMonitoring(for: circle())
    source.allow(until: 2000)
    try await scene.services.ended()
    #expect(
      scene.listener.all == [
        "status 3", "monitors fair", "state fair 2", "enter fair", "state fair 1", "exit fair",
        "state fair 2",
      ])
  }

  @Test func crossingsAreReportedAsTheRegionWants() async throws {
    source.add(walk(2000, metersNorth: 1.5))
    source.finish(at: 2000)
    let scene = scene()
    let quiet = circle()
    quiet.notifyOnEntry = false
    scene.manager.startMonitoring(for: quiet)
    let monitored = scene.manager.monitoredRegions.first as? CLCircularRegion
    #expect(monitored == quiet && monitored?.notifyOnEntry == false)
    source.allow(until: 2000)
    try await scene.services.ended()
    #expect(!scene.listener.all.contains("enter fair"))
    #expect(scene.listener.all.contains("exit fair"))
  }

  @Test func theSameIdentifierReplacesAcrossKinds() async throws {
    let scene = scene()
    scene.manager.startMonitoring(for: Scene.region("fair"))
    scene.manager.startMonitoring(for: circle())
    #expect(scene.manager.monitoredRegions == [circle()])
    scene.manager.startMonitoring(for: Scene.region("fair"))
    #expect(scene.manager.monitoredRegions == [Scene.region("fair")])
    scene.manager.startMonitoring(for: circle("other"))
    #expect(scene.manager.monitoredRegions.count == 2)
    scene.manager.stopMonitoring(for: Scene.region("other"))
    #expect(scene.manager.monitoredRegions == [Scene.region("fair")])
  }

  @Test func whatIsNoCircleFails() async throws {
    let scene = scene()
    let far = scene.manager.maximumRegionMonitoringDistance
    #expect(far == 2_000_000)
    let nowhere = CLCircularRegion(
      center: kCLLocationCoordinate2DInvalid, radius: 10, identifier: "nowhere")
    scene.manager.startMonitoring(for: circle("large", radius: far + 1))
    scene.manager.startMonitoring(for: circle("empty", radius: 0))
    scene.manager.startMonitoring(for: nowhere)
    scene.manager.startMonitoring(for: CLRegion())
    scene.manager.requestState(for: nowhere)
    #expect(
      await scene.told(6) == [
        "status 3", "cannot monitor large 5", "cannot monitor empty 5", "cannot monitor nowhere 5",
        "cannot monitor  5", "state nowhere 0",
      ])
    #expect(scene.manager.monitoredRegions.isEmpty)
  }

  @Test func theStateOfAnyCircleIsAnswered() async throws {
    source.add(walk(300, metersNorth: 0))
    source.allow(until: 200)
    let scene = scene()
    scene.manager.requestState(for: circle("here", 0, radius: 1000))
    #expect(await scene.told(2) == ["status 3", "state here 1"])
    await eventually { source.demands.last == .some(nil) }
    #expect(scene.manager.monitoredRegions.isEmpty)
  }

  @Test func aStateThatNothingTellsIsUnknown() async throws {
    let scene = scene()
    scene.manager.requestState(for: circle())
    // The time of the request begins with the first time of the source.
    await source.play(until: 0)
    await source.play(until: 59)
    #expect(await scene.told(1) == ["status 3"])
    await source.play(until: 61)
    #expect(await scene.told(2).last == "state fair 0")
    await eventually { source.demands.last == .some(nil) }
    scene.manager.startMonitoring(for: circle())
    scene.manager.requestState(for: circle())
    scene.manager.stopMonitoring(for: circle())
    #expect(await scene.told(4).suffix(2) == ["monitors fair", "state fair 0"])
  }

  @Test func aFaultIsAFailureOfEachCircle() async throws {
    let source = ScriptedLocations(isRecorded: false)
    let scene = Scene { $0.locationSource = .init(source) }
    scene.manager.startMonitoring(for: circle())
    _ = await scene.told(2)
    source.report(.notRunning)
    _ = await scene.told(3)
    source.report(.denied)
    #expect(
      await scene.told(5) == [
        "status 3", "monitors fair", "cannot monitor fair 5", "status 2", "cannot monitor fair 4",
      ])
  }

  /// A crossing that no delegate received comes in the next process, and its state is known there.
  @Test func circlesAndTheirEventsOutliveTheProcess() async throws {
    let files = try RestartTests.Files()
    do {
      source.add(walk(1100, metersNorth: 1.5))
      let scene = scene(.file(files.state))
      scene.manager.startMonitoring(for: circle())
      await source.play(until: 100)
      _ = await scene.told(3)
      scene.manager.delegate = nil
      await source.play(until: 1050)
      #expect(scene.listener.all.last == "state fair 2")
    }
    // The services of before have let go of the file a moment later.
    await eventually { (try? Store(.file(files.state))) != nil }
    let next = ScriptedLocations()
    next.add(walk(600, from: (52.53, 13.4), metersNorth: 1.5))
    let scene = Scene(persistence: .file(files.state)) { $0.locationSource = .init(next) }
    #expect(scene.manager.monitoredRegions == [circle()])
    #expect(await scene.told(3).contains("enter fair"))
    await next.play(until: 500)
    #expect(await eventually { scene.listener.all.contains("exit fair") })
    #expect(scene.listener.all.count { $0 == "enter fair" } == 1)
  }

  // MARK: Conditions

  @Test func aMonitorWatchesCircles() async throws {
    source.add(walk(2000, metersNorth: 1.5))
    source.allow(until: 2000)
    let scene = scene()
    let monitor = CLMonitor("places", services: scene.services)
    let region = circle()
    let condition = CLMonitor.CircularGeographicCondition(center: region.center, radius: 300)
    await monitor.add(condition, identifier: "fair", assuming: .unsatisfied)
    #expect(await monitor.identifiers == ["fair"])
    var states: [CLMonitor.Event.State] = []
    for try await event in await monitor.events {
      #expect(event.identifier == "fair")
      states.append(event.state)
      if states.count == 2 { break }
    }
    #expect(states == [.satisfied, .unsatisfied])
    let record = try #require(await monitor.record(for: "fair"))
    #expect(record.lastEvent.state == .unsatisfied)
    #expect((record.condition as? CLMonitor.CircularGeographicCondition)?.radius == 300)
    await monitor.add(MonitorTests.condition, identifier: "fair")
    #expect(await monitor.record(for: "fair")?.condition is CLMonitor.BeaconIdentityCondition)
    #expect(await monitor.identifiers == ["fair"])
    await monitor.remove("fair")
    #expect(await monitor.identifiers.isEmpty)
  }

  @Test func aConditionThatIsTooLargeIsUnsupported() async throws {
    let monitor = CLMonitor("places", services: scene().services)
    let center = circle().center
    await monitor.add(
      CLMonitor.CircularGeographicCondition(center: center, radius: 3_000_000), identifier: "all")
    let event = await monitor.record(for: "all")?.lastEvent
    #expect(event?.state == .unmonitored && event?.conditionUnsupported == true)
  }
}
