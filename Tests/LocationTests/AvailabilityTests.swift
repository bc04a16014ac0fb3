import Dispatch
import Positioning
import Scanning
import Synchronization
import TestSupport
import Testing

@testable import ServiceCore

/// A source whose daemon answers when the test lets it.
private final class SlowSource: LocationSource {
  let name = "a daemon"
  let isRecorded = false
  private let looks = Mutex(0)
  private let gate = DispatchSemaphore(value: 0)

  /// How often it was found out whether the daemon can be used.
  var count: Int { looks.withLock { $0 } }

  /// Whether that was once, and on a busy machine once more for each half minute.
  var isAskedSeldom: Bool {
    (1...(1 + Int((ContinuousClock.now - start) / .seconds(30)))).contains(count)
  }
  private let start = ContinuousClock.now

  /// Lets the daemon answer, once and for all.
  func answer() { gate.signal() }

  var availability: ScannerAvailability {
    looks.withLock { $0 += 1 }
    gate.wait()
    gate.signal()
    return .unavailable("there is none")
  }

  func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress { LocationProgress(isOver: true) }

  func wake() {}
  func rest() {}
}

/// A radio that the system refuses.
private final class RefusedScanner: Scanner {
  let name = "a radio"
  let isRecorded = false
  let availability = ScannerAvailability.notPermitted("ask the administrator")
  let counts = ScanCounts()

  func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress { ScanProgress() }

  func rest() {}
}

@Suite struct AvailabilityTests {
  @Test func nobodyWaitsForADaemon() async {
    var configuration = ServiceManager.Configuration()
    configuration.persistence = .none
    let manager = ServiceManager(configuration)
    let source = SlowSource()
    let service = LocationService(manager, source: source)
    _ = manager.addClient()
    manager.requestAuthorization(.authorizedAlways)
    manager.checkAuthorization()
    #expect(manager.availability == .available)
    #expect(source.count == 0, "for the authorization no daemon is asked")
    #expect(service.availability == .available)
    #expect(service.availability == .available)
    source.answer()
    await eventually { service.availability == .unavailable("there is none") }
    #expect(service.availability == .unavailable("there is none"))
    #expect(source.isAskedSeldom)
  }

  /// A radio that is refused restricts the application, unless locations can be found.
  @Test func onlyWhereAnotherSourceIsRefusedIsTheDaemonAsked() async {
    var configuration = ServiceManager.Configuration()
    configuration.persistence = .none
    configuration.authorization = SystemAuthorization(path: "/nowhere/authorization.json")
    let manager = ServiceManager(configuration)
    let source = SlowSource()
    _ = BeaconService(manager, scanner: RefusedScanner())
    let service = LocationService(manager, source: source)
    _ = manager.addClient()
    manager.requestAuthorization(.authorizedAlways)
    #expect(manager.authorizationStatus == .authorizedAlways)
    source.answer()
    #expect(await eventually { manager.authorizationStatus == .denied })
    manager.checkAuthorization()
    #expect(source.isAskedSeldom)
    withExtendedLifetime(service) {}
  }
}
