import AppTestSupport
import BeaconTesting
import CoreLocation
import Regions
import ServiceCore
import Synchronization
import TestSupport
import Testing

/// Where delegates are called.
@Suite struct DeliveryTests {
  /// Notes whether it is called on a thread.
  final class Witness: CLLocationManagerDelegate, Sendable {
    let isThere: @Sendable () -> Bool
    let seen = Mutex<[Bool]>([])

    init(_ isThere: @escaping @Sendable () -> Bool) {
      self.isThere = isThere
    }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) { note() }
    func locationManager(
      _ manager: CLLocationManager, didRange beacons: [CLBeacon],
      satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) { note() }

    func note() {
      let isThere = isThere()
      seen.withLock { $0.append(isThere) }
    }

    /// Waits for so many calls.
    func calls(_ count: Int) async -> [Bool] {
      await eventually { seen.withLock({ $0.count }) >= count }
      return seen.withLock { $0 }
    }
  }

  final class Counter: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    func add(_ number: Int) { value.withLock { $0 += number } }
  }

  final class Identity: Sendable {
    let value = Mutex<ObjectIdentifier?>(nil)
  }

  static func services(_ scanner: ScriptedScanner, queue: DispatchQueue? = nil)
    -> LocationServices
  {
    var configuration = LocationServices.Configuration()
    configuration.scanner = scanner
    configuration.authorization = Always()
    configuration.persistence = .none
    configuration.delegateQueue = queue
    return LocationServices.tested(configuration)
  }

  static let all = CLBeaconIdentityConstraint(uuid: Scene.lobby)

  @MainActor @Test func onTheMainActor() async {
    let scanner = ScriptedScanner()
    let manager = CLLocationManager(services: Self.services(scanner))
    // A delegate of the main actor traps elsewhere.
    let witness = Witness { MainActor.assumeIsolated { true } }
    manager.delegate = witness
    manager.startRangingBeacons(satisfying: Self.all)
    scanner.clock.advance(by: 1.5)
    #expect(await witness.calls(2) == [true, true])
  }

  @Test func onTheRunLoopOfAnotherThread() async {
    let scanner = ScriptedScanner()
    let own = Identity()
    let witness = Witness { own.value.withLock { $0 } == ObjectIdentifier(Thread.current) }
    let isDone = Counter()
    let worker = Thread {
      let manager = CLLocationManager(services: Self.services(scanner))
      manager.delegate = witness
      manager.startRangingBeacons(satisfying: Self.all)
      while isDone.count == 0 {
        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.2))
      }
      withExtendedLifetime(manager) {}
    }
    let identity = ObjectIdentifier(worker)
    own.value.withLock { $0 = identity }
    worker.start()
    scanner.clock.advance(by: 1.5)
    let calls = await witness.calls(2)
    isDone.add(1)
    #expect(calls == [true, true])
  }

  /// What was on its way to a thread that ended is released, so that ranging goes on elsewhere.
  @Test func aThreadThatEndsHoldsNothingUp() async {
    let scanner = ScriptedScanner()
    let witness = Witness { true }
    let kept = Mutex<WeaklySafe?>(nil)
    let worker = Thread {
      let manager = CLLocationManager(services: Self.services(scanner))
      manager.delegate = witness
      manager.startRangingBeacons(satisfying: Self.all)
      kept.withLock { $0 = WeaklySafe(manager: manager) }
    }
    worker.start()
    await eventually { kept.withLock { $0 != nil } && worker.isFinished }
    // Reports come while the thread has no run loop that runs.
    scanner.clock.advance(by: 3.5)
    await eventually { scanner.delivered >= scanner.clock.now }
    kept.withLock { $0?.manager.delegateQueue = DispatchQueue(label: "elsewhere") }
    scanner.clock.advance(by: 3)
    #expect(await witness.calls(2).count >= 2)
  }

  /// A manager on its way from the thread that made it.
  private struct WeaklySafe: @unchecked Sendable {
    // Sendable: the thread that made it has ended.
    let manager: CLLocationManager
  }

  /// A dispatch queue and a Swift task have no run loop: the main one stands in.
  @Test(arguments: ["queue", "global", "task"])
  func onTheMainQueueForThreadsOfAPool(kind: String) async {
    let scanner = ScriptedScanner()
    let services = Self.services(scanner)
    let witness = Witness { MainActor.assumeIsolated { true } }
    let start = { @Sendable in
      let manager = CLLocationManager(services: services)
      manager.delegate = witness
      manager.startRangingBeacons(satisfying: Self.all)
      return manager
    }
    let manager: CLLocationManager
    switch kind {
    case "queue":
      manager = await withCheckedContinuation { continuation in
        DispatchQueue(label: "somebody's").async { continuation.resume(returning: start()) }
      }
    case "global":
      manager = await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: start()) }
      }
    default: manager = await Task.detached { start() }.value
    }
    scanner.clock.advance(by: 1.5)
    #expect(await witness.calls(2) == [true, true])
    withExtendedLifetime(manager) {}
  }

  @Test func onAQueueOfTheManagerOrOfTheServices() async {
    let key = DispatchSpecificKey<String>()
    let (own, common) = (DispatchQueue(label: "own"), DispatchQueue(label: "common"))
    own.setSpecific(key: key, value: "own")
    common.setSpecific(key: key, value: "common")
    let scanner = ScriptedScanner()
    let services = Self.services(scanner, queue: common)
    let (first, second) = (
      CLLocationManager(services: services), CLLocationManager(services: services)
    )
    second.delegateQueue = own
    let witnesses = (
      Witness { DispatchQueue.getSpecific(key: key) == "common" },
      Witness { DispatchQueue.getSpecific(key: key) == "own" }
    )
    first.delegate = witnesses.0
    second.delegate = witnesses.1
    for manager in [first, second] { manager.startRangingBeacons(satisfying: Self.all) }
    scanner.clock.advance(by: 1.5)
    // The status of the second was on its way before it had a queue of its own.
    #expect(await witnesses.0.calls(2) == [true, true])
    #expect(await witnesses.1.calls(2).last == true)
  }

  /// What a delegate does is done before time goes on, so that a recording gives the same each time.
  @Test func timeStandsStillWhileADelegateIsCalled() async throws {
    final class Starter: CLLocationManagerDelegate, Sendable {
      let listener = Listener()

      func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        listener.note("enter")
        manager.startRangingBeacons(satisfying: DeliveryTests.all)
      }
      func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        listener.note("exit")
        manager.stopRangingBeacons(satisfying: DeliveryTests.all)
      }
      func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
      ) {
        listener.note("range \(beacons.count)")
      }
    }
    let rules = try RegionRules(exitTimeout: .fixed(seconds: 2.4))
    let scene = Scene { $0.rules = rules }
    let starter = Starter()
    scene.manager.delegate = starter
    scene.scanner.add(Scene.frame(7), rssi: -60, every: 0.5, from: 10, to: 13.6)
    scene.manager.startMonitoring(for: Scene.region("lobby"))
    scene.scanner.clock.advance(by: 100)
    #expect(
      await starter.listener.lines(7)
        == ["enter", "range 1", "range 1", "range 1", "range 1", "range 1", "exit"])
    try await Task.sleep(for: .milliseconds(50))
    #expect(starter.listener.all.count == 7)
  }

  /// A controller owns its manager, is its delegate, and goes while it is being told.
  @Test func delegatesMayGoAtAnyTime() async throws {
    final class Controller: CLLocationManagerDelegate, Sendable {
      let manager: CLLocationManager

      init(_ services: LocationServices) {
        manager = CLLocationManager(services: services)
        manager.delegate = self
        manager.startRangingBeacons(satisfying: DeliveryTests.all)
        manager.startMonitoring(for: Scene.region("lobby"))
      }
    }
    let scanner = ScriptedScanner(isRecorded: false)
    scanner.add(Scene.frame(7), rssi: -60, every: 0.5, from: 0, to: 400)
    let services = Self.services(scanner, queue: .global())
    for _ in 0..<300 {
      let controller = Controller(services)
      scanner.clock.advance(by: 1)
      withExtendedLifetime(controller) {}
    }
    #expect(CLLocationManager(services: services).monitoredRegions.count == 1)
  }

  /// The first call may already wait where nobody calls.
  @Test func aQueueThatIsNamedLateTakesAllCalls() async {
    let scanner = ScriptedScanner()
    let services = Self.services(scanner)
    let witness = Witness { true }
    let manager = await MainActor.run {
      let manager = CLLocationManager(services: services)
      manager.delegateQueue = DispatchQueue(label: "own")
      manager.delegate = witness
      manager.startRangingBeacons(satisfying: Self.all)
      scanner.clock.advance(by: 1.5)
      // The main thread hangs for a while, and is not waited for.
      eventually { witness.seen.withLock { $0.count } >= 2 }
      #expect(witness.seen.withLock { $0.count } == 2)
      return manager
    }
    withExtendedLifetime(manager) {}
  }

  /// At a radio, reports do not pile up before a delegate that hangs.
  @Test func aSlowDelegateMissesReports() async throws {
    final class Slow: CLLocationManagerDelegate, Sendable {
      let reports = Counter()
      let gate = DispatchSemaphore(value: 0)

      func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
      ) {
        reports.add(1)
        gate.wait()
      }
    }
    let scanner = ScriptedScanner(isRecorded: false)
    let manager = CLLocationManager(
      services: Self.services(scanner, queue: DispatchQueue(label: "slow")))
    let slow = Slow()
    manager.delegate = slow
    manager.startRangingBeacons(satisfying: Self.all)
    for second in 1...20 {
      scanner.clock.advance(by: 1)
      await eventually { scanner.delivered >= scanner.clock.now }
      if second == 1 { await eventually { slow.reports.count > 0 } }
    }
    for _ in 0..<30 { slow.gate.signal() }
    try await Task.sleep(for: .milliseconds(100))
    #expect((1...2).contains(slow.reports.count))
    withExtendedLifetime(manager) {}
  }

  /// Ten thousand managers, made, used and dropped on many threads; none is left.
  @Test func managersLeaveNothingBehind() async {
    let services = Self.services(ScriptedScanner(isRecorded: false), queue: .global())
    let alive = Counter()
    final class Counted: CLLocationManager, @unchecked Sendable {
      let end: @Sendable () -> Void

      init(_ services: LocationServices, end: @escaping @Sendable () -> Void) {
        self.end = end
        super.init(using: services)
      }

      deinit {
        end()
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for number in 0..<1250 {
            alive.add(1)
            let manager = Counted(services) { alive.add(-1) }
            let listener = Listener()
            manager.delegate = listener
            manager.startRangingBeacons(satisfying: Self.all)
            manager.startMonitoring(for: Scene.region("\(task)", minor: UInt16(number)))
            manager.requestState(for: Scene.region("\(task)"))
            _ = manager.monitoredRegions
            if number.isMultiple(of: 3) { manager.stopRangingBeacons(satisfying: Self.all) }
            manager.stopMonitoring(for: Scene.region("\(task)"))
          }
        }
      }
    }
    await eventually { alive.count == 0 }
    #expect(alive.count == 0)
    #expect(CLLocationManager(services: services).monitoredRegions.isEmpty)
  }
}
