import Advertising
import BeaconTesting
import CoreLocation
import Regions
import Scanning
import ServiceCore
import Synchronization
import SystemPackage
import TestSupport

// A process to be killed: beacons come and go, regions are added and removed, and everything that the
// delegate is told goes into a log with one write(2), which outlives the process. ManagerKillTests kills it
// at random moments, starts it again on the same files, and reads the log in the end.
//
//   ManagerTorture STATE-FILE LOG-FILE SEED STEPS     0 steps: settle, and end by itself
//   ManagerTorture STATE-FILE slow                    see SlowDisk
//   ManagerTorture shared                             see SharedServices
//   ManagerTorture daemon FOLDER SEED STEPS           see DaemonTorture
//   ManagerTorture app FOLDER SEED STEPS              see DaemonTorture

/// How many regions have a beacon that comes and goes.
let beacons: UInt16 = 6

@main
enum ManagerTorture {
  static func main() throws {
    let arguments = CommandLine.arguments
    switch arguments.last {
    case "slow": return try SlowDisk.run(arguments[1])
    case "shared": return SharedServices.run()
    default: break
    }
    if arguments.count == 5, ["daemon", "app"].contains(arguments[1]) {
      return try DaemonTorture.run(arguments)
    }
    let (state, path) = (arguments[1], arguments[2])
    guard let seed = UInt64(arguments[3]), let steps = Int(arguments[4]) else { return }
    let before = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    let log = Log(
      try FileDescriptor.open(
        FilePath(path), .writeOnly, options: [.append, .create], permissions: .ownerReadWrite))
    var world = World(log: before, seed: seed)
    log.write("start")

    let scanner = ScriptedScanner(
      clock: ManualClock(start: MonotonicTime(nanoseconds: world.step * 1_000_000_000)))
    var configuration = LocationServices.Configuration()
    configuration.scanner = scanner
    configuration.authorization = Anyone()
    configuration.persistence = .file(state)
    configuration.rules = try RegionRules(exitTimeout: .fixed(seconds: 0.5))
    let queue = DispatchQueue(label: "delegate")
    configuration.delegateQueue = queue
    let services = LocationServices(configuration)
    let manager = CLLocationManager(services: services)
    let listener = Listener(log)
    manager.delegate = listener
    let extras = Set(manager.monitoredRegions.map(\.identifier).filter { $0.hasPrefix("x") })
    log.write("kept " + extras.sorted().joined(separator: " "))
    for minor in 0..<beacons {
      manager.startMonitoring(for: World.region("\(minor)", minor: minor))
    }
    world.extras = extras
    for _ in 0..<(steps == 0 ? 4 : steps) {
      if steps > 0 { world.change(manager, log) }
      for minor in world.present {
        for part in 1...3 {
          scanner.add(World.frame(minor), rssi: -60, at: world.elapsed + 0.3 * Double(part))
        }
      }
      scanner.clock.advance(by: 1)
      world.elapsed += 1
      // The step is over when what came of it was told: the scanner rests in the wait for the next.
      while scanner.delivered < scanner.clock.now { usleep(200) }
      // Forty changes a second are more than any site has.
      usleep(25_000)
    }
    // The answer comes after everything that was to be delivered before.
    let answers = listener.states
    manager.requestState(for: World.region("0", minor: 0))
    eventually { listener.states > answers }
    queue.sync {}
    usleep(200_000)
    log.write("end " + world.present.sorted().map(String.init).joined(separator: " "))
    withExtendedLifetime((manager, listener)) {}
  }
}

/// Beacons that are there, and regions that the app added beside.
struct World {
  var step: Int64
  var elapsed = 0.0
  var present: Set<UInt16> = []
  var extras: Set<String> = []
  private var random: SplitMix64

  /// Goes on where the log ends.
  init(log: String, seed: UInt64) {
    random = SplitMix64(seed: seed)
    let worlds = log.split(separator: "\n").filter { $0.hasPrefix("world ") }
    step = Int64(worlds.count) + 1
    if let last = worlds.last {
      present = Set(last.split(separator: " ").dropFirst().compactMap { UInt16($0) })
    }
  }

  /// A number below a limit.
  mutating func random(below limit: UInt64) -> UInt64 { random.next() % limit }

  static func frame(_ minor: UInt16) -> BeaconFrame {
    BeaconFrame(uuid: ProximityUUID(high: 1, low: 2), major: 1, minor: minor)
  }

  static func region(_ identifier: String, minor: UInt16) -> CLBeaconRegion {
    let uuid = UUID(uuidString: "00000000-0000-0001-0000-000000000002") ?? UUID()
    return CLBeaconRegion(uuid: uuid, major: 1, minor: minor, identifier: identifier)
  }

  /// Waits until everything is stored, and the delegate was called for it.
  private func settle(_ manager: CLLocationManager) {
    manager.services.core.flush()
    manager.services.configuration.delegateQueue?.sync {}
  }

  /// A beacon comes or goes.
  mutating func changeBeacons(_ log: Log) {
    present.formSymmetricDifference([UInt16(random.next() % UInt64(beacons))])
    log.write("world " + present.sorted().map(String.init).joined(separator: " "))
  }

  /// A beacon comes or goes, and perhaps a region is added or removed.
  mutating func change(_ manager: CLLocationManager, _ log: Log) {
    changeBeacons(log)
    let name = "x\(random.next() % 20)"
    if extras.remove(name) != nil {
      // The delegate has been told of an addition when the removal begins.
      settle(manager)
      log.write("removes \(name)")
      manager.stopMonitoring(for: Self.region(name, minor: 9999))
      settle(manager)
      log.write("removed \(name)")
    } else {
      extras.insert(name)
      log.write("adds \(name)")
      manager.startMonitoring(for: Self.region(name, minor: 9999))
    }
  }
}

/// Lines that are in the file when the call returns, whatever becomes of the process.
final class Log: Sendable {
  private let file: FileDescriptor

  init(_ file: FileDescriptor) {
    self.file = file
  }

  func write(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = try? file.writeAll(bytes)
  }
}

final class Listener: CLLocationManagerDelegate, Sendable {
  private let log: Log
  private let stateCount = Mutex(0)

  /// How many states it has received.
  var states: Int { stateCount.withLock { $0 } }

  init(_ log: Log) {
    self.log = log
  }

  /// From here on the region outlives the process.
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    if region.identifier.hasPrefix("x") { log.write("added \(region.identifier)") }
  }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    log.write("enter \(region.identifier)")
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    log.write("exit \(region.identifier)")
  }
  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    log.write("state \(region.identifier) \(state.rawValue)")
    stateCount.withLock { $0 += 1 }
  }
}

final class Anyone: AuthorizationProvider {
  func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
    .granted(.authorizedAlways)
  }
}
