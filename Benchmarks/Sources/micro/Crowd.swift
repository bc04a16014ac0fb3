import Advertising
import CoreLocation
import Ranging
import Regions
import Scanning
import ServiceCore
import Synchronization

/// What a sighting costs among many regions and as many beacons, each received once a second.
enum Crowd {
  static let sizes = [100, 1000, 10_000]

  /// The monitor alone: one region a beacon, besides one of them all.
  static func monitor(_ size: Int) throws {
    var monitor = RegionMonitor()
    for number in 0..<size {
      let beacon = Workload.identity(number)
      try monitor.add(
        MonitoredRegion(
          identifier: "\(number)",
          constraint: BeaconConstraint(uuid: beacon.uuid, major: beacon.major, minor: beacon.minor))
      )
    }
    try monitor.add(
      MonitoredRegion(
        identifier: "all", constraint: BeaconConstraint(uuid: Workload.identity(0).uuid)))
    var source = Sightings(beacons: size)
    // All are inside, and every interval is learned.
    for _ in 0..<(size * 10) { _ = monitor.receive(source.next()) }
    Harness.measure("RegionMonitor.receive, \(size) regions and beacons", operations: size) {
      var sum = 0
      for _ in 0..<size { sum &+= monitor.receive(source.next()).count }
      return sum
    }
  }

  /// The whole way: a scanner's batches through the services of a manager that monitors and ranges all.
  static func manager(_ size: Int) {
    let scanner = CrowdScanner(beacons: size)
    var configuration = LocationServices.Configuration()
    configuration.scanner = scanner
    configuration.authorization = Anyone()
    configuration.persistence = .none
    configuration.delegateQueue = DispatchQueue(label: "delegate")
    let services = LocationServices(configuration)
    let manager = CLLocationManager(services: services)
    for number in 0..<size {
      let beacon = Workload.identity(number)
      manager.startMonitoring(
        for: CLBeaconRegion(
          uuid: Crowd.uuid, major: beacon.major, minor: beacon.minor, identifier: "\(number)"))
    }
    manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: Crowd.uuid))
    let isOver = DispatchSemaphore(value: 0)
    Task {
      try? await services.ended()
      isOver.signal()
    }
    isOver.wait()
    withExtendedLifetime(manager) {}
    let tenths = Int((scanner.nanosecondsPerSighting * 10).rounded())
    print("manager, \(size) regions and beacons\t\(tenths / 10).\(tenths % 10)\t0")
  }

  static let uuid = UUID(uuidString: "\(Workload.identity(0).uuid)") ?? UUID()
}

/// All beacons in turn, once a second.
struct Sightings {
  let beacons: Int
  private var count = 0

  init(beacons: Int) { self.beacons = beacons }

  mutating func next() -> Sighting {
    let time = MonotonicTime(nanoseconds: Int64(count) * (1_000_000_000 / Int64(beacons)))
    let number = count % beacons
    count += 1
    return Sighting(
      time: time, wallTime: time.wallClockTime(.zero), beacon: Workload.identity(number),
      measuredPower: -59,
      rssi: Int8(-60 - count % 5), address: BluetoothAddress(rawValue: UInt64(number)),
      addressType: .random)
  }
}

/// Delivers a crowd's sightings in batches, and measures the time until the next one is requested.
final class CrowdScanner: Scanning.Scanner {
  let name = "crowd"
  let isRecorded = true
  let availability = ScannerAvailability.available
  let counts = ScanCounts()

  /// For so many seconds of the crowd the services learn; then so many are measured.
  private static let (learning, measured) = (10, 40)
  private let state: Mutex<State>

  private struct State {
    var source: Sightings
    var given = 0
    var began: ContinuousClock.Instant?
    var elapsed = Duration.zero
    var reached = MonotonicTime(nanoseconds: 0)
  }

  init(beacons: Int) {
    state = Mutex(State(source: Sightings(beacons: beacons)))
  }

  var nanosecondsPerSighting: Double {
    state.withLock { state in
      state.elapsed / .nanoseconds(1) / Double(state.source.beacons * Self.measured)
    }
  }

  func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    sightings.removeAll(keepingCapacity: true)
    var batch: [Sighting] = []
    swap(&batch, &sightings)
    defer { swap(&batch, &sightings) }
    return state.withLock { state in
      let beacons = state.source.beacons
      if state.began == nil, state.given >= beacons * Self.learning { state.began = .now }
      let total = beacons * (Self.learning + Self.measured)
      if state.given >= total, let began = state.began { state.elapsed = .now - began }
      while batch.count < 1024, state.given < total {
        batch.append(state.source.next())
        state.given += 1
      }
      state.reached = batch.last?.time ?? state.reached
      return ScanProgress(
        began: MonotonicTime(nanoseconds: 0), reached: state.reached, isOver: batch.isEmpty)
    }
  }

  func rest() {}
}

/// Authorizes every application.
final class Anyone: AuthorizationProvider {
  func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
    .granted(.authorizedAlways)
  }
}

extension Crowd {
  /// Which adapter's sightings count, with as many adapters as receive each advert.
  static func adapters(_ count: UInt16) {
    var choice = AdapterChoice()
    var source = Sightings(beacons: 1000)
    func receive(_ sightings: Int) -> Int {
      var sum = 0
      for _ in 0..<sightings {
        var sighting = source.next()
        for adapter in 0..<count {
          sighting.adapter = adapter
          sighting.rssi = -60 - Int8(adapter) * 10
          sum &+= choice.receive(sighting) == .followed ? 1 : 0
        }
      }
      return sum
    }
    _ = receive(10_000)
    Harness.measure("AdapterChoice.receive, \(count) adapters", operations: 1000 * Int(count)) {
      receive(1000)
    }
  }
}
