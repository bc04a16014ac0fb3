import Logging
import Positioning
import Scanning
import ServiceCore
import Synchronization
import TestSupport
import Testing

@testable import CoreLocation

/// Locations as a manager and its delegate know them.
@Suite struct LocationUpdateTests {
  let source = ScriptedLocations()

  private func scene(_ persistence: LocationServices.Persistence = .none) -> Scene {
    Scene(persistence: persistence) { $0.locationSource = .init(source) }
  }

  private func codes(_ scene: Scene, _ prefix: String) -> [String] {
    scene.listener.all.filter { $0.hasPrefix(prefix) }
  }

  @Test func updatesComeInOrderWithTheirFields() async throws {
    source.add(walk(3))
    source.allow(until: 10)
    let scene = scene()
    #expect(scene.manager.location == nil)
    scene.manager.startUpdatingLocation()
    #expect(await scene.told(4) == ["status 3", "fixes 0", "fixes 1", "fixes 2"])
    let location = try #require(scene.manager.location)
    #expect(abs(location.coordinate.latitude - 52.5) < 0.001)
    #expect(location.horizontalAccuracy == 5 && location.verticalAccuracy == -1)
    #expect(location.speed == -1 && location.course == -1 && location.speedAccuracy == -1)
    #expect(location.sourceInformation?.isSimulatedBySoftware == true)
    #expect(location.timestamp.timeIntervalSince1970 == Double(ScriptedLocations.epoch + 2))
  }

  @Test func aFixKeepsWhatItKnows() throws {
    let place = try #require(Coordinate(latitude: 1, longitude: 2))
    var fix = Fix(
      time: ScriptedLocations.time(0), timestamp: ScriptedLocations.wallClockTime(0), place: place,
      horizontalAccuracy: 4)
    (fix.altitude, fix.ellipsoidalAltitude, fix.verticalAccuracy) = (30, 70, 6)
    (fix.speed, fix.speedAccuracy, fix.course, fix.courseAccuracy) = (2, 0.5, 90, 8)
    let location = CLLocation(fix, isSimulated: false)
    #expect(location.altitude == 30 && location.ellipsoidalAltitude == 70)
    #expect(location.verticalAccuracy == 6 && location.speed == 2 && location.course == 90)
    #expect(location.speedAccuracy == 0.5 && location.courseAccuracy == 8)
    #expect(location.sourceInformation?.isSimulatedBySoftware == false)
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: location, requiringSecureCoding: true)
    let copy = try NSKeyedUnarchiver.unarchivedObject(ofClass: CLLocation.self, from: data)
    #expect(copy?.ellipsoidalAltitude == 70 && copy?.altitude == 30)
  }

  @Test func theDemandFollowsTheProperties() async throws {
    source.add(walk(200))
    let scene = scene()
    scene.manager.desiredAccuracy = kCLLocationAccuracyKilometer
    scene.manager.startUpdatingLocation()
    await source.play(until: 5)
    #expect(source.demands.last??.fixes?.accuracy == 1000)
    scene.manager.desiredAccuracy = kCLLocationAccuracyBest
    scene.manager.distanceFilter = 30
    await eventually { source.demands.last??.fixes?.distance == 30 }
    #expect(source.demands.last??.fixes?.accuracy == 0)
    let before = scene.listener.all.count
    await source.play(until: 99)
    #expect(await scene.told(before + 3).count == before + 3, "at 35, 65 and 95 m")
    scene.manager.stopUpdatingLocation()
    await eventually { source.demands.last == .some(nil) }
  }

  @Test func aStartBringsTheCachedLocationAndASecondOneNothing() async throws {
    source.add(walk(10))
    let scene = scene()
    scene.manager.startUpdatingLocation()
    await source.play(until: 3)
    #expect(await scene.told(5).last == "fixes 3")
    scene.manager.startUpdatingLocation()
    scene.manager.stopUpdatingLocation()
    scene.manager.startUpdatingLocation()
    #expect(await scene.told(6).suffix(2) == ["fixes 3", "fixes 3"])
    await source.play(until: 4)
    #expect(await scene.told(7).last == "fixes 4")
    #expect(scene.listener.all.count == 7)
  }

  @Test func aRequestIsAnsweredOnceAndTheSourceRests() async throws {
    let scene = scene()
    scene.manager.requestLocation()
    scene.manager.requestLocation()
    // Only now is there a fix: it answers both.
    source.add(walk(10))
    source.allow(until: 10)
    #expect(await scene.told(2) == ["status 3", "fixes 0"])
    await eventually { source.demands.last == .some(nil) }
    #expect(scene.listener.all.count == 2)
    scene.manager.requestLocation()
    // A later fix, though not always the next one: the source may have gone on before it rested.
    let third = await scene.told(3).last
    #expect(third != "fixes 0" && third?.hasPrefix("fixes ") == true)
  }

  @Test func aRequestWithoutAFixFails() async throws {
    let scene = scene()
    scene.manager.requestLocation()
    // The time of the request begins with the first time of the source.
    await source.play(until: 0)
    await source.play(until: 59)
    #expect(await scene.told(1) == ["status 3"])
    await source.play(until: 61)
    #expect(await scene.told(2) == ["status 3", "failed 0"])
    await eventually { source.demands.last == .some(nil) }
    #expect(scene.listener.all.count == 2)
  }

  @Test func aRequestThatIsCanceledHasNoAnswer() async throws {
    source.add(walk(1, accuracy: 100))
    let scene = scene()
    scene.manager.requestLocation()
    await source.play(until: 5)
    scene.manager.stopUpdatingLocation()
    await eventually { source.demands.last == .some(nil) }
    #expect(await scene.told(1) == ["status 3"])
  }

  @Test func updatesPauseAndResume() async throws {
    source.add(walk(1000, metersNorth: 0))
    source.add(walk(100, from: (52.51, 13.4), metersNorth: 3, second: 1000))
    let scene = scene()
    scene.manager.distanceFilter = 10
    scene.manager.startUpdatingLocation()
    await source.play(until: 950)
    #expect(await scene.told(3) == ["status 3", "fixes 0", "paused"])
    #expect(source.demands.last??.fixes?.interval == 60)
    await source.play(until: 1010)
    #expect(await scene.told(5)[3...4] == ["resumed", "fixes 1001"])
    #expect(source.demands.last??.fixes?.interval == 1)
  }

  @Test func withoutPausesUpdatesResumeAtOnce() async throws {
    source.add(walk(2000, metersNorth: 0))
    let scene = scene()
    scene.manager.distanceFilter = 10
    scene.manager.activityType = .fitness
    scene.manager.startUpdatingLocation()
    await source.play(until: 650)
    #expect(await scene.told(3).last == "paused")
    scene.manager.pausesLocationUpdatesAutomatically = false
    #expect(await scene.told(4).last == "resumed")
    await source.play(until: 1999)
    #expect(scene.listener.all.count == 4)
  }

  // MARK: Failures

  @Test func aFaultIsReportedOnceAndADenialToo() async throws {
    let source = ScriptedLocations(isRecorded: false)
    let scene = Scene { $0.locationSource = .init(source) }
    scene.manager.startUpdatingLocation()
    _ = await scene.told(1)
    source.report(.notRunning)
    source.report(.notAnswering)
    #expect(await scene.told(2) == ["status 3", "failed 0"])
    source.report(.denied)
    #expect(await scene.told(4).suffix(2) == ["status 2", "failed 1"])
    source.report(.searching)
    await source.play(until: 1)
    source.add(walk(1, second: 1))
    #expect(await scene.told(6).suffix(2) == ["status 3", "fixes 1"])
    // A request that is made while the source refuses fails at once, and once.
    source.report(.denied)
    #expect(await scene.told(8).suffix(2) == ["status 2", "failed 1"])
    scene.manager.requestLocation()
    #expect(await scene.told(9).last == "failed 1")
    scene.manager.stopUpdatingLocation()
    await eventually { source.demands.last == .some(nil) }
    scene.manager.requestLocation()
    #expect(await scene.told(10).last == "failed 1")
    await eventually { source.demands.last == .some(nil) }
    #expect(scene.listener.all.count == 10)
  }

  /// A process that had to wait for its turn receives the last fix and the refusal at once.
  @Test(arguments: [false, true])
  func aFixOfBeforeADenialIsDeliveredBeforeIt(isStored: Bool) async throws {
    let scratch = try Scratch()
    let source = ScriptedLocations(isRecorded: false)
    let scene = Scene(persistence: isStored ? .file(scratch["state"]) : .none) {
      $0.locationSource = .init(source)
    }
    scene.manager.startUpdatingLocation()
    _ = await scene.told(1)
    source.add(walk(1, second: 1), then: .denied)
    #expect(await scene.told(4) == ["status 3", "fixes 1", "status 2", "failed 1"])
  }

  /// With updates or without, a request and a new refusal are one failure.
  @Test(arguments: [true, false]) func aRefusalEndsARequestOnce(hasUpdates: Bool) async throws {
    let source = ScriptedLocations(isRecorded: false)
    let scene = Scene { $0.locationSource = .init(source) }
    if hasUpdates { scene.manager.startUpdatingLocation() }
    scene.manager.requestLocation()
    await eventually { source.demands.contains { $0?.fixes != nil } }
    // A status that changes before it is reported is reported once.
    _ = await scene.told(1)
    source.report(.denied)
    #expect(await scene.told(3) == ["status 3", "status 2", "failed 1"])
    scene.manager.stopUpdatingLocation()
    scene.manager.requestLocation()
    #expect(await scene.told(4).suffix(1) == ["failed 1"])
  }

  @Test func whatFailsForGoodIsReported() async throws {
    let scene = scene()
    scene.manager.startUpdatingLocation()
    await source.play(until: 1)
    source.fail()
    #expect(await scene.told(2) == ["status 3", "failed 0"])
    scene.manager.startUpdatingLocation()
    #expect(await scene.told(3).last == "failed 0")
    await #expect {
      try await scene.services.ended()
    } throws: {
      "\($0)" == "Broken()"
    }
  }

  @Test(arguments: [AuthorizationRule.denied, .restricted])
  func aDenialOfTheSystemIsReported(rule: AuthorizationRule) async throws {
    source.add(walk(1))
    let administrator = Fickle(.granted(.authorizedAlways))
    let scene = Scene(authorization: administrator) { $0.locationSource = .init(source) }
    scene.manager.startUpdatingLocation()
    _ = await scene.told(2)
    administrator.current.withLock { $0 = rule }
    _ = scene.manager.authorizationStatus
    _ = await scene.told(4)
    #expect(Set(scene.listener.all.suffix(2)) == ["failed 1", "status \(rule == .denied ? 2 : 1)"])
    scene.manager.requestLocation()
    #expect(await scene.told(5).last == "failed 1")
  }

  /// What was started before the answer is refused by it.
  @Test func aDenialAfterTheStartIsReported() async throws {
    let administrator = Fickle(.onRequest)
    let scene = Scene(authorization: administrator) { $0.locationSource = .init(source) }
    scene.manager.startUpdatingLocation()
    _ = await scene.told(1)
    administrator.current.withLock { $0 = .denied }
    _ = scene.manager.authorizationStatus
    #expect(await scene.told(3).contains("failed 1"))
    #expect(source.demands.isEmpty)
  }

  // MARK: Deferral

  @Test func eachDeferralFinishesOnce() async throws {
    source.add(walk(1000))
    let scene = scene()
    let manager = scene.manager as any Deferring
    manager.defer(100, 60)
    #expect(await scene.told(2).last == "deferred 12", "updates are off")
    scene.manager.startUpdatingLocation()
    await source.play(until: 5)
    _ = await scene.told(8)
    manager.defer(100, 1000)
    await source.play(until: 50)
    #expect(scene.listener.all.count == 8)
    manager.defer(CLLocationDistanceMax, 10)
    #expect(await scene.told(10)[9] == "deferred 15")
    #expect(scene.listener.all[8].split(separator: " ").count == 46, "seconds 6 to 50")
    await source.play(until: 60)
    #expect(await scene.told(12)[11] == "deferred -1")
    manager.defer(20, CLTimeIntervalMax)
    await source.play(until: 100)
    #expect(scene.listener.all.contains { $0.hasPrefix("fixes 61 62 63") })
    let ends = codes(scene, "deferred")
    #expect(ends == ["deferred 12", "deferred 15", "deferred -1", "deferred -1"])
    manager.defer(1000, 1000)
    scene.manager.distanceFilter = 10
    #expect(await eventually { codes(scene, "deferred").last == "deferred 14" })
    scene.manager.distanceFilter = kCLDistanceFilterNone
    manager.defer(1000, 1000)
    scene.manager.desiredAccuracy = kCLLocationAccuracyKilometer
    #expect(await eventually { codes(scene, "deferred").last == "deferred 13" })
    scene.manager.desiredAccuracy = kCLLocationAccuracyBest
    manager.defer(1000, 1000)
    manager.endDeferral()
    #expect(await eventually { codes(scene, "deferred").last == "deferred 15" })
    manager.defer(1000, 1000)
    scene.manager.stopUpdatingLocation()
    #expect(await eventually { codes(scene, "deferred").last == "deferred 12" })
    manager.defer(-1, 10)
    #expect(await eventually { codes(scene, "deferred").count == 9 })
  }

  // MARK: Significant changes and visits

  @Test func significantChangesAndVisitsAreReported() async throws {
    source.add(walk(400, metersNorth: 10))
    source.add(walk(1200, from: (52.536, 13.4), metersNorth: 0, second: 400))
    source.add(walk(600, from: (52.536, 13.4), metersNorth: 10, second: 1600))
    source.finish(at: 2300)
    let scene = scene()
    scene.manager.distanceFilter = 1_000_000
    scene.manager.startMonitoringSignificantLocationChanges()
    scene.manager.startMonitoringVisits()
    scene.services.core.flush()
    source.allow(until: 2300)
    try await scene.services.ended()
    let lines = scene.listener.all
    #expect(lines.filter { $0 == "arrived" }.count == 1)
    #expect(lines.filter { $0 == "departed" }.count == 1)
    let changes = codes(scene, "fixes").compactMap { Int($0.dropFirst(6)) }
    // They are delivered five minutes apart; the last one has waited since the walk ended.
    #expect(changes == [0, 299, 599, 1650, 1949, 2199])
  }

  /// A manager that only has a delegate is told nothing, and one that updates too is told each fix once.
  @Test func significantChangesAreForThoseWhoAsked() async throws {
    let scene = scene()
    let (idle, both) = (Listener(), Listener())
    let others = [idle, both].map { listener in
      let manager = CLLocationManager(services: scene.services)
      manager.delegate = listener
      return manager
    }
    scene.manager.startMonitoringSignificantLocationChanges()
    others[1].startMonitoringSignificantLocationChanges()
    others[1].startUpdatingLocation()
    // All requests are there before the first fix, which a later one would be given again.
    scene.services.core.flush()
    source.add(walk(400, metersNorth: 10))
    source.finish(at: 500)
    source.allow(until: 500)
    try await scene.services.ended()
    #expect(idle.all == ["status 3"])
    #expect(codes(scene, "fixes").count > 1)
    let fixes = both.all.filter { $0.hasPrefix("fixes") }
    #expect(fixes.count == 400 && Set(fixes).count == 400)
  }

  /// Updates that were started while the app was denied run once it is permitted.
  @Test func aPermissionThatComesLaterBringsWhatFailed() async throws {
    source.add(walk(2))
    source.allow(until: 10)
    let administrator = Fickle(.denied)
    let scene = Scene(authorization: administrator) { $0.locationSource = .init(source) }
    scene.manager.startUpdatingLocation()
    #expect(await scene.told(2) == ["status 2", "failed 1"])
    administrator.current.withLock { $0 = .granted(.authorizedAlways) }
    _ = scene.manager.authorizationStatus
    #expect(await scene.told(5).suffix(3) == ["status 3", "fixes 0", "fixes 1"])
  }

  @Test func withoutASourceADenialIsToldFirst() async throws {
    let scene = Scene(authorization: Fickle(.denied)) { $0.locationSource = .none }
    scene.manager.requestLocation()
    scene.manager.startUpdatingLocation()
    #expect(await scene.told(3) == ["status 2", "failed 1", "failed 1"])
  }

  @Test func aRegionOfAnotherKindHasNoState() async throws {
    let scene = scene()
    scene.manager.requestState(for: CLRegion())
    #expect(await scene.told(2) == ["status 3", "state  0"])
  }

  @Test func whatIsStoppedIsNotReported() async throws {
    source.add(walk(400, metersNorth: 10))
    let scene = scene()
    scene.manager.startMonitoringSignificantLocationChanges()
    scene.manager.startMonitoringVisits()
    await source.play(until: 0)
    #expect(await scene.told(2).last == "fixes 0")
    scene.manager.stopMonitoringSignificantLocationChanges()
    scene.manager.stopMonitoringVisits()
    await eventually { source.demands.last == .some(nil) }
    #expect(scene.listener.all.count == 2)
  }

  // MARK: Spellings and sequences

  /// A delegate of former times.
  final class Former: CLLocationManagerDelegate, Sendable {
    let listener = Listener()

    func locationManager(
      _ manager: CLLocationManager, didUpdateTo newLocation: CLLocation,
      from oldLocation: CLLocation
    ) {
      let seconds = [newLocation, oldLocation].map { ScriptedLocations.second($0.timestamp) }
      listener.note(seconds.joined(separator: " from "))
    }
  }

  @Test func theFormerMethodIsCalledWhereTheNewOneIsNot() async throws {
    source.add(walk(3))
    source.allow(until: 3)
    let scene = scene()
    let former = Former()
    scene.manager.delegate = former
    scene.manager.startUpdatingLocation()
    #expect(await former.listener.lines(3) == ["0 from 0", "1 from 0", "2 from 1"])
  }

  @Test func liveUpdatesHaveLocationsAndTheirAbsence() async throws {
    source.add(walk(1000, metersNorth: 0))
    source.allow(until: 950)
    let scene = scene()
    var lines: [String] = []
    for try await update in CLLocationUpdate.liveUpdates(of: { scene.services }) {
      if lines.isEmpty { #expect(update.locationUnavailable && !update.authorizationDenied) }
      lines.append(
        update.isStationary
          ? "stationary" : update.location == nil ? "none" : "location")
      if update.isStationary {
        #expect(update.location != nil && !update.locationUnavailable)
        break
      }
    }
    #expect(lines.last == "stationary")
    await eventually { source.demands.last == .some(nil) }
  }

  @Test func liveUpdatesSayThatTheSourceRefuses() async throws {
    let source = ScriptedLocations(isRecorded: false)
    source.report(.denied)
    let scene = Scene { $0.locationSource = .init(source) }
    for try await update in CLLocationUpdate.liveUpdates(of: { scene.services })
    where update.authorizationDenied {
      #expect(update.locationUnavailable)
      break
    }
    #expect(scene.manager.authorizationStatus == .denied)
  }
}

/// The deprecated requests for deferral; reached through a protocol they bring no warning.
protocol Deferring {
  func `defer`(_ meters: Double, _ seconds: Double)
  func endDeferral()
}

extension CLLocationManager: Deferring {
  @available(*, deprecated)
  func `defer`(_ meters: Double, _ seconds: Double) {
    allowDeferredLocationUpdates(untilTraveled: meters, timeout: seconds)
  }

  @available(*, deprecated)
  func endDeferral() { disallowDeferredLocationUpdates() }
}
