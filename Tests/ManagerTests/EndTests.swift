import BeaconTesting
import LiveScanning
import Logging
import ServiceCore
import Synchronization
import TestSupport
import Testing

@testable import CoreLocation

/// The end of what is heard, and where delegates are called until then.
@Suite struct EndTests {
  struct Broken: Error {}

  final class Kept: Sendable {
    let manager = Mutex<CLLocationManager?>(nil)
  }

  @Test func comesWhenAllIsTold() async throws {
    let scene = Scene()
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 0.1, from: 0, to: 20)
    scene.scanner.finish(at: 30)
    scene.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: Scene.lobby))
    scene.scanner.clock.advance(by: 100)
    try await scene.services.ended()
    #expect(scene.listener.all.count == 31)
    // It stays so.
    try await scene.services.ended()
    #expect(scene.listener.all.count == 31)
  }

  /// It comes while others begin to wait for it.
  @Test func isNeverMissed() async throws {
    for _ in 0..<100 {
      let scene = Scene()
      scene.scanner.finish(at: 1)
      scene.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: Scene.lobby))
      try await withThrowingTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            for _ in 0..<Int.random(in: 0..<200) { await Task.yield() }
            try await scene.services.ended()
          }
        }
        scene.scanner.clock.advance(by: 2)
        try await group.waitForAll()
      }
    }
  }

  @Test func doesNotComeBefore() async throws {
    let scene = Scene()
    scene.scanner.finish(at: 30)
    try await withThrowingTaskGroup { group in
      group.addTask {
        try await scene.services.ended()
        scene.listener.note("over")
      }
      #expect(await scene.told(1) == ["status 3"])
      // Nothing is registered yet.
      scene.scanner.clock.advance(by: 100)
      try await Task.sleep(for: .milliseconds(50))
      #expect(scene.listener.all == ["status 3"])
      scene.manager.startMonitoring(for: Scene.region("lobby"))
      try await group.waitForAll()
    }
    #expect(scene.listener.all.suffix(2) == ["state lobby 2", "over"])
  }

  @Test func saysWhatWentWrong() async throws {
    let scene = Scene()
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.scanner.fail(Broken())
    // A daemon passes only the sentence on.
    await #expect {
      try await scene.services.ended()
    } throws: {
      "\($0)" == "Broken()"
    }
    #expect(scene.listener.all.last == "cannot monitor lobby 5")
  }

  @Test func hasComeWhereNoRecordingCanBeOpened() async throws {
    var configuration = LocationServices.Configuration()
    configuration.persistence = .none
    configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let services = LocationServices(
      configuration, environment: ["BEACONSCAN_REPLAY": "/nowhere.btsnoop"])
    await #expect(throws: CLError.self) { try await services.ended() }
  }

  /// A replay that the environment names is a trial: it neither finds nor leaves the app's regions.
  @Test(arguments: [
    (LocationServices.Persistence.standard, LocationServices.Persistence.none),
    (.file("/nowhere/file"), .file("/nowhere/file")),
  ])
  func keepsNothingOfAReplayOfTheEnvironment(
    asked: LocationServices.Persistence, used: LocationServices.Persistence
  ) {
    var configuration = LocationServices.Configuration()
    configuration.persistence = asked
    configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let services = LocationServices(
      configuration,
      environment: [
        "BEACONSCAN_REPLAY": MemberTable.root.appending(path: "captures/visitor.btsnoop").path
      ])
    #expect(services.core.configuration.persistence == used)
  }

  /// Apps that were written for Apple's systems configure nothing, and receive.
  @Test func theAdaptersAreTheDefault() {
    var configuration = LocationServices.Configuration()
    configuration.persistence = .none
    let services = LocationServices(configuration, environment: [:])
    #expect(services.scanner is LiveScanner)
  }

  @Test func canBeCancelled() async throws {
    let scene = Scene()
    let task = Task { try await scene.services.ended() }
    try await Task.sleep(for: .milliseconds(20))
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  /// In a program with an asynchronous main function, other threads than the main one serve the main
  /// queue; what is started there is told there all the same.
  @Test func whatTheMainQueueStartsIsToldThere() async throws {
    let scene = Scene { $0.delegateQueue = nil }
    scene.scanner.finish(at: 5)
    let kept = Kept()
    DispatchQueue.main.async {
      let made = CLLocationManager(services: scene.services)
      made.delegate = scene.listener
      made.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: Scene.lobby))
      kept.manager.withLock { $0 = made }
    }
    await eventually { kept.manager.withLock({ $0 != nil }) }
    scene.scanner.clock.advance(by: 10)
    try await scene.services.ended()
    #expect(scene.listener.all.filter { $0.hasPrefix("range") }.count == 5)
    #expect(kept.manager.withLock { $0 != nil })
  }
}
