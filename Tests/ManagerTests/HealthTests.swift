import BeaconTesting
import CoreLocation
import Regions
import Scanning
import Synchronization
import TestSupport
import Testing

/// A deaf radio is not a quiet room: no exit, no empty list, one error, and all goes on by itself.
@Suite struct HealthTests {
  static let all = CLBeaconIdentityConstraint(uuid: Scene.lobby)

  private func scene(_ scanner: ScriptedScanner = ScriptedScanner()) throws -> Scene {
    let rules = try RegionRules(exitTimeout: .fixed(seconds: 10))
    return Scene(scanner: scanner) { $0.rules = rules }
  }

  @Test func whileDeafNothingIsLeftAndNothingIsRanged() async throws {
    let scene = try scene()
    let script = scene.scanner
    script.add(Scene.frame(7), rssi: -60, every: 0.1, from: 0.05, to: 3.99)
    script.report(.removed, "hci0 is gone; plug it in", at: 4)
    script.report(.scanning, at: 100)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.manager.startRangingBeacons(satisfying: Self.all)
    script.clock.advance(by: 112)
    var expected = ["status 3", "monitors lobby", "state lobby 1"]
    expected += Array(repeating: "range 7@-60", count: 4)
    expected += ["cannot range 16", "cannot monitor lobby 5"]
    // It has not gone because it could not be heard: the list and the region keep it for ten seconds of hearing.
    expected += Array(repeating: "range 7@0", count: 9) + ["exit lobby", "state lobby 2"]
    expected += ["range ", "range ", "range "]
    #expect(await scene.told(expected.count) == expected)
  }

  @Test func whatIsNoticedLateIsNoSilenceEither() async throws {
    let scene = try scene()
    let script = scene.scanner
    script.add(Scene.frame(7), rssi: -60, at: 1)
    script.report(.notAnswering, at: 2, noticed: 9)
    script.report(.scanning, at: 30)
    script.add(Scene.frame(7), rssi: -60, at: 38)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    script.clock.advance(by: 47)
    #expect(
      await scene.told(4) == [
        "status 3", "monitors lobby", "state lobby 1", "cannot monitor lobby 5",
      ])
    script.clock.advance(by: 2)
    #expect(await scene.told(6).suffix(2) == ["exit lobby", "state lobby 2"])
  }

  /// A kiosk starts faster than its adapter is plugged in.
  @Test func whatIsStartedBeforeTheRadioIsThereWaitsForIt() async throws {
    let scene = try scene(ScriptedScanner(isRecorded: false))
    let script = scene.scanner
    script.availability = .unavailable("there is no Bluetooth adapter; plug one in")
    script.report(.removed, "hci0 is not there; plug it in", at: 0)
    script.report(.scanning, at: 20)
    script.add(Scene.frame(7), rssi: -60, at: 21)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    script.clock.advance(by: 1)
    let refused = ["status 3", "monitors lobby", "cannot monitor lobby 5"]
    #expect(await scene.told(3) == refused)
    script.availability = .available
    script.clock.advance(by: 21)
    #expect(await scene.told(4) == refused + ["state lobby 1"])
  }

  @Test func eachFaultIsToldOnceWithItsSentence() async throws {
    let scene = try scene()
    let script = scene.scanner
    let sentences = Sentences()
    scene.manager.delegate = sentences
    script.report(.scanning, at: 0)
    script.report(.down, "hci0 is down; run 'hciconfig hci0 up'", at: 1)
    script.report(.removed, "hci0 is gone", at: 2)
    script.report(.scanning, at: 3)
    script.report(.quiet, at: 4)
    script.report(.blocked, "hci0 is blocked; run 'rfkill unblock bluetooth'", at: 5)
    scene.manager.startRangingBeacons(satisfying: Self.all)
    script.clock.advance(by: 6)
    await eventually { sentences.all.count >= 2 }
    #expect(
      sentences.all == [
        "hci0 is down; run 'hciconfig hci0 up'", "hci0 is blocked; run 'rfkill unblock bluetooth'",
      ])
  }

  @Test func oneAdapterOfTwoIsNoFault() async throws {
    let scene = try scene()
    let script = scene.scanner
    script.report(.removed, at: 0.5, adapter: 1, isReceptionLost: false)
    script.add(Scene.frame(7), rssi: -60, at: 0.7)
    scene.manager.startRangingBeacons(satisfying: Self.all)
    script.clock.advance(by: 1)
    #expect(await scene.told(2) == ["status 3", "range 7@-60"])
  }

  @Test func whatIsStartedWhileDeafFailsAtOnceAndGoesOnByItself() async throws {
    let scene = try scene()
    let script = scene.scanner
    script.report(.down, at: 0.5)
    script.report(.scanning, at: 5)
    script.add(Scene.frame(7), rssi: -60, every: 0.5, from: 5.2, to: 7)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    script.clock.advance(by: 1)
    #expect(
      await scene.told(3) == ["status 3", "monitors lobby", "cannot monitor lobby 5"])
    scene.manager.requestState(for: Scene.region("lobby"))
    scene.manager.startRangingBeacons(satisfying: Self.all)
    #expect(await scene.told(5).suffix(2) == ["state lobby 0", "cannot range 16"])
    script.clock.advance(by: 5.1)
    #expect(await scene.told(7).suffix(2) == ["state lobby 1", "range 7@-60"])
  }

  @Test func whatWasAskedIsAnsweredWhenItCannotBeFoundOut() async throws {
    let scene = try scene()
    scene.scanner.report(.down, at: 2)
    _ = await scene.told(1)
    scene.manager.requestState(for: Scene.region("lobby"))
    scene.scanner.clock.advance(by: 3)
    #expect(await scene.told(2).last == "state lobby 0")
  }

  @Test func deafnessOutlastsARest() async throws {
    let scene = try scene(ScriptedScanner(isRecorded: false))
    let script = scene.scanner
    script.add(Scene.frame(7), rssi: -60, at: 0.5)
    script.report(.down, at: 1)
    script.report(.scanning, at: 60)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    script.clock.advance(by: 2)
    #expect(await scene.told(4).last == "cannot monitor lobby 5")
    scene.manager.stopMonitoring(for: Scene.region("lobby"))
    await eventually { script.demands.last == ScanDemand.none }
    script.clock.advance(by: 20)
    scene.manager.startMonitoring(for: Scene.region("hall"))
    // It would be outside after ten seconds of hearing.
    script.clock.advance(by: 30)
    await eventually { script.delivered >= script.clock.now }
    #expect(
      await scene.told(6).suffix(2) == ["monitors hall", "cannot monitor hall 5"])
    script.clock.advance(by: 20)
    #expect(await scene.told(7).last == "state hall 2")
  }

  /// Faults come faster than a delegate takes them: one call waits, and brings the latest.
  @Test func faultsDoNotPileUpBeforeASlowDelegate() async throws {
    let scene = try scene(ScriptedScanner(isRecorded: false))
    let script = scene.scanner
    let sentences = Sentences()
    scene.manager.delegate = sentences
    sentences.hangs.withLock { $0 = true }
    for number in 0..<100 {
      script.report(.removed, "gone \(number)", at: Double(number) + 0.2)
      script.report(.scanning, at: Double(number) + 0.7)
    }
    let heard = Mutex<[String]>([])
    let health = scene.services.health
    let listener = Task {
      for await change in health { heard.withLock { $0.append(change.sentence) } }
    }
    scene.manager.startRangingBeacons(satisfying: Self.all)
    for step in 1...200 {
      script.clock.advance(by: 0.5)
      // Who listens to health is not held up.
      await eventually { heard.withLock({ $0.count }) >= step }
    }
    sentences.hangs.withLock { $0 = false }
    await eventually { sentences.all.last == "gone 99" }
    #expect(sentences.all.last == "gone 99")
    #expect(sentences.all.count <= 2)
    #expect(heard.withLock { $0.count } == 200)
    listener.cancel()
  }
}

/// Writes down what cannot be ranged, and hangs if it is to.
private final class Sentences: CLLocationManagerDelegate, Sendable {
  private let told = Mutex<[String]>([])
  let hangs = Mutex(false)

  var all: [String] { told.withLock { $0 } }

  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) {
    while hangs.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.005) }
    told.withLock { $0.append(error.localizedDescription) }
  }
}

extension HealthTests {
  /// A scan that another program took over reports each beacon once: who comes enters, and nobody leaves.
  @Test func whatIsHeardOnceWhileAsGoodAsDeafCounts() async throws {
    let scene = Scene()
    let script = scene.scanner
    script.report(.takenOver, at: 1, isReceptionLost: true)
    script.add(Scene.frame(7), rssi: -60, at: 5)
    script.report(.scanning, at: 3000)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    script.clock.advance(by: 2990)
    #expect(
      await scene.told(4) == [
        "status 3", "monitors lobby", "cannot monitor lobby 5", "state lobby 1",
      ])
    script.clock.advance(by: 100)
    #expect(await scene.told(6).suffix(2) == ["exit lobby", "state lobby 2"])
  }
}
