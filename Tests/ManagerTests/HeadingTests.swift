import Positioning
import Scanning
import ServiceCore
import Synchronization
import TestSupport
import Testing

@testable import CoreLocation

/// Headings as a manager and its delegate know them.
@Suite struct HeadingTests {
  let source = ScriptedLocations(hasCompass: true)

  private func scene() -> Scene { Scene { $0.locationSource = .init(source) } }

  @Test func headingsComeByTheFilter() async throws {
    source.add([
      compass(10, second: 1), compass(10.5, second: 2), compass(12, second: 3),
      compass(20, second: 4), compass(20, second: 5), compass(20, second: 6),
    ])
    let scene = scene()
    #expect(scene.manager.heading == nil)
    scene.manager.startUpdatingHeading()
    await source.play(until: 3)
    #expect(await scene.told(3) == ["status 3", "heading 10", "heading 12"])
    scene.manager.headingFilter = 30
    await source.play(until: 4)
    scene.manager.headingOrientation = .landscapeLeft
    scene.manager.headingOrientation = .faceUp
    await source.play(until: 5)
    #expect(await scene.told(4).last == "heading 110")
    let heading = try #require(scene.manager.heading)
    #expect(heading.magneticHeading == 110 && heading.trueHeading == -1)
    #expect(heading.headingAccuracy == 3)
    scene.manager.headingFilter = kCLHeadingFilterNone
    await source.play(until: 6)
    #expect(await scene.told(5).last == "heading 110")
    scene.manager.stopUpdatingHeading()
    await eventually { source.demands.last == .some(nil) }
  }

  /// As on Apple's systems, also where the app is refused its location. They are magnetic only.
  @Test(arguments: [AuthorizationRule.onRequest, .denied])
  func headingsNeedNoAuthorization(rule: AuthorizationRule) async throws {
    let source = ScriptedLocations(isRecorded: false, hasCompass: true)
    let scene = Scene(authorization: Fickle(rule)) { $0.locationSource = .init(source) }
    source.add(walk(1) + [compass(90, second: 1)])
    scene.manager.startUpdatingHeading()
    await source.play(until: 1)
    #expect(await scene.told(2) == ["status \(rule == .denied ? 2 : 0)", "heading 90"])
    #expect(scene.manager.heading?.trueHeading == -1 && scene.manager.location == nil)
    #expect(source.demands.allSatisfy { $0?.fixes == nil })
  }

  /// A recording is not over before the fixes are authorized that are to be had of it.
  @Test func headingsOfARecordingWaitWithItsFixes() async throws {
    source.add([compass(90, second: 0)] + walk(2))
    source.allow(until: 10)
    let scene = Scene(authorization: Fickle(.onRequest)) { $0.locationSource = .init(source) }
    scene.manager.startUpdatingLocation()
    scene.manager.startUpdatingHeading()
    #expect(await scene.told(1) == ["status 0"])
    try await Task.sleep(for: .milliseconds(30))
    #expect(source.demands.isEmpty)
    scene.manager.requestWhenInUseAuthorization()
    #expect(await scene.told(5) == ["status 0", "status 4", "heading 90", "fixes 0", "fixes 1"])
  }

  @Test func trueHeadingsComeWhileLocationsAreUpdated() async throws {
    source.add(walk(1) + [compass(90, second: 1), compass(90, second: 2)])
    let scene = scene()
    scene.manager.startUpdatingHeading()
    scene.manager.startUpdatingLocation()
    await source.play(until: 1)
    #expect(await scene.told(3).last == "heading 90")
    // Berlin: some 5 degrees east.
    #expect(abs(try #require(scene.manager.heading).trueHeading - 95) < 1)
    scene.manager.stopUpdatingLocation()
    await source.play(until: 2)
    #expect(await scene.told(4).last == "heading 90")
    #expect(scene.manager.heading?.trueHeading == -1)
  }

  @Test func withoutACompassThereIsOneFailure() async throws {
    let scene = Scene { $0.locationSource = .init(ScriptedLocations()) }
    #expect(!scene.services.findsHeadings)
    scene.manager.startUpdatingHeading()
    #expect(await scene.told(2) == ["status 3", "failed 3"])
    #expect(self.scene().services.findsHeadings)
  }

  /// The question comes once for each start: for a stated error, or a field that is not the earth's.
  @Test func theDelegateIsAskedForACalibration() async throws {
    source.add([
      compass(0, second: 1), compass(50, second: 2, accuracy: 40),
      compass(100, second: 3, accuracy: 40),
      compass(150, second: 4, accuracy: nil, field: SIMD3(0, 150, 0)),
    ])
    let scene = scene()
    scene.manager.startUpdatingHeading()
    await source.play(until: 3)
    #expect(
      await scene.told(5) == ["status 3", "heading 0", "calibrate?", "heading 50", "heading 100"])
    #expect(scene.remarks.all.withLock { $0.count { $0.contains("compass") } } == 1)
    scene.manager.stopUpdatingHeading()
    scene.manager.startUpdatingHeading()
    await source.play(until: 4)
    #expect(await scene.told(7).suffix(2) == ["calibrate?", "heading 150"])
    #expect(scene.manager.heading?.headingAccuracy == 25, "where the compass states none")
    #expect(scene.manager.heading?.y == 150)
  }
}
