import BeaconTesting
import Scanning
import Synchronization
import TestSupport
import Testing

@testable import ServiceCore

/// What clients are told of a fault that ends while nobody needs the source.
@Suite(.timeLimit(.minutes(10))) struct RecoveryTests {
  @Test func aFaultThatEndsAtRestIsTold() async throws {
    var configuration = ServiceManager.Configuration()
    configuration.persistence = .none
    configuration.authorization = Administrator()
    configuration.secondsBetweenLooks = 0.01
    let manager = ServiceManager(configuration)
    let scanner = ScriptedScanner(isRecorded: false)
    let beacons = BeaconService(manager, scanner: scanner)
    let told = Mutex<[ScannerHealth]>([])
    let core = manager.addClient { delivery in
      if case BeaconEvent.health(let health, _) = delivery.event {
        told.withLock { $0.append(health) }
      }
      delivery.finish()
    }
    let client = BeaconClient(core, of: beacons)
    manager.requestAuthorization(.authorizedAlways)
    scanner.report(.down, at: 0.5)
    try client.startRanging(RangingRequest(nil))
    scanner.clock.advance(by: 1)
    #expect(await eventually { told.withLock { $0.map(\.condition) } == [.down] })
    // An app that stops on a failure.
    scanner.availability = .unavailable("it is down")
    client.stopRanging(RangingRequest(nil))
    #expect(await eventually { scanner.demands.last == ScanDemand.none })
    #expect(beacons.fault == nil, "nobody knows whether it lasts")
    scanner.report(.scanning, at: 2)
    scanner.clock.advance(by: 2)
    scanner.availability = .available
    #expect(await eventually { told.withLock { $0.map(\.condition) } == [.down, .scanning] })
    #expect(told.withLock { $0.last?.sentence } == "script can be used again")
    // It starts again, and no old failure is told.
    try client.startRanging(RangingRequest(nil))
    scanner.clock.advance(by: 2)
    #expect(await eventually { scanner.demands.last == .ranging })
    #expect(told.withLock { $0.count { $0.isReceptionLost } } == 1)
  }
}
