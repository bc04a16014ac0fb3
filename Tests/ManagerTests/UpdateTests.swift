import BeaconTesting
import CoreLocation
import Scanning
import ServiceCore
import Synchronization
import TestSupport
import Testing

@Suite struct UpdateTests {
  static let all = CLBeaconIdentityConstraint(uuid: Scene.lobby)

  @Test func rangedBeaconsCanBeIteratedOver() async throws {
    let scanner = ScriptedScanner()
    scanner.add(Scene.frame(7), rssi: -60, every: 0.1, from: 1.05, to: 2.95)
    scanner.add(Scene.frame(8), rssi: -80, every: 0.1, from: 1.05, to: 2.95)
    let services = DeliveryTests.services(scanner)
    scanner.clock.advance(by: 3.5)
    var updates: [[NSNumber]] = []
    for try await update in CLBeaconUpdate.liveUpdates(satisfying: Self.all, services: services) {
      #expect(update.constraint == Self.all)
      updates.append(update.beacons.map(\.minor))
      if updates.count == 3 { break }
    }
    #expect(updates == [[], [7, 8], [7, 8]])
    // Nobody iterates any more: the radio rests.
    scanner.clock.advance(by: 1)
    await eventually { scanner.demands.last == ScanDemand.none }
    #expect(scanner.demands == [.ranging, .none])
  }

  @Test func aRefusalIsAnUpdateAndTheIterationContinues() async throws {
    let administrator = Fickle(.denied)
    let scene = Scene(authorization: administrator)
    var refusals = 0
    // Ranging starts some time after the authorization is given: time goes on until then.
    let time = Task {
      while !Task.isCancelled {
        scene.scanner.clock.advance(by: 0.5)
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    defer { time.cancel() }
    for try await update in CLBeaconUpdate.liveUpdates(
      satisfying: Self.all, services: scene.services)
    {
      if update.error == nil { break }
      #expect(update.authorizationDenied && update.beacons.isEmpty)
      refusals += 1
      administrator.current.withLock { $0 = .granted(.authorizedAlways) }
      _ = scene.manager.authorizationStatus
    }
    #expect(refusals == 1)
  }
}
