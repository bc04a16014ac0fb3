import Advertising
import BeaconTesting
import Foundation
import Glibc
import Regions
import Scanning
import ServiceCore
import Synchronization

/// Measures a daemon with many apps, which run in a second process and connect to a Unix socket, and
/// a single manager that has the regions of one of them by itself.
///
///     apps-cost [APPS [REGIONS [ROUNDS]]]
@main
struct AppsCost {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "apps" {
      let numbers = arguments.dropFirst(2).compactMap { Int($0) }
      try Apps(at: arguments[2], count: numbers[0], regions: numbers[1]).run()
      return
    }
    let numbers = arguments.compactMap { Int($0) }
    let count = numbers.first ?? 200
    let regions = numbers.dropFirst().first ?? 50
    let rounds = numbers.dropFirst(2).first ?? 200
    // Each app has a connection and the files of a database.
    var files = rlimit()
    // The structure outlives the calls.
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    files.rlim_cur = files.rlim_max
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let alone = try Alone(folder.path, regions: regions).measure(rounds: rounds)
    let daemon = try Daemon(folder.path, apps: count, regions: regions)
    let served = try daemon.measure(rounds: rounds)
    print("\(count) apps, each with \(regions) regions; \(rounds) entries and exits")
    print("latency: median \(served.latency(0.5)) µs, 99 % \(served.latency(0.99)) µs")
    print("memory of an app in the daemon: \(daemon.memory / count) KiB")
    print("processor time of an entry and an exit: \(served.round) µs, alone \(alone.round) µs")
    print("processor time of a sighting: \(served.sighting) ns, alone \(alone.sighting) ns")
  }
}

/// The results of a daemon, or of a single manager.
struct Costs {
  /// The sorted nanoseconds from a sighting to the event in the app.
  var latencies: [UInt64] = []
  /// The microseconds of processor time of an entry and an exit.
  var round = 0.0
  /// The nanoseconds of processor time of a sighting that changes nothing.
  var sighting = 0.0

  func latency(_ part: Double) -> UInt64 {
    latencies.isEmpty ? 0 : latencies[Int(Double(latencies.count - 1) * part)] / 1000
  }
}

/// Returns the nanoseconds of a clock, which all processes share if it is monotonic.
func nanoseconds(_ clock: clockid_t) -> UInt64 {
  var now = timespec()
  // The structure outlives the call.
  unsafe clock_gettime(clock, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}

/// The radio of a measurement: beacons that come and go, then beacons that stay.
final class Air: Sendable {
  static let sightings = 50_000

  let scanner = ScriptedScanner(isRecorded: false)
  private let regions: Int
  private let time = Mutex(0.0)

  init(regions: Int) { self.regions = regions }

  static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

  static func region(_ number: Int) -> BeaconRegion {
    BeaconRegion(
      identifier: "region \(number)",
      constraint: BeaconConstraint(uuid: uuid, major: 1, minor: UInt16(number)))
  }

  /// The rules with which a round lasts ten seconds of the radio's time.
  static func rules() throws -> RegionRules { try RegionRules(exitTimeout: .fixed(seconds: 5)) }

  /// Lets the radio return once, so that all services take part in its next turn.
  func join() {
    scanner.clock.advance(by: 1)
    while scanner.delivered < scanner.clock.now { usleep(50) }
  }

  /// Delivers a sighting of the next beacon, when the previous one has left. Returns the time.
  func begin(_ round: Int) -> UInt64 {
    time.withLock { time in
      time += 10
      scanner.add(frame(round), rssi: -60, at: time)
    }
    let now = nanoseconds(CLOCK_MONOTONIC)
    scanner.clock.advance(by: 10)
    return now
  }

  /// Delivers sightings of all beacons ten times a second, and waits until all are processed.
  func stay(_ finish: () -> Void) -> Double {
    // The first second has the entries.
    deliver(Double(Self.sightings / 10) / Double(regions) / 10)
    finish()
    let before = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    deliver(Double(Self.sightings) / Double(regions) / 10)
    finish()
    return Double(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - before) / Double(Self.sightings)
  }

  private func deliver(_ seconds: Double) {
    let start = time.withLock { time in
      defer { time += seconds }
      return time
    }
    for number in 0..<regions {
      scanner.add(frame(number), rssi: -60, every: 0.1, from: start, to: start + seconds)
    }
    for _ in 0..<Int(seconds.rounded(.up)) {
      scanner.clock.advance(by: 1)
      while scanner.delivered < scanner.clock.now { usleep(50) }
    }
    time.withLock { $0 = start + seconds.rounded(.up) }
  }

  private func frame(_ number: Int) -> BeaconFrame {
    BeaconFrame(uuid: Self.uuid, major: 1, minor: UInt16(number % regions))
  }
}

final class Anyone: AuthorizationProvider {
  func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
    .granted(.authorizedAlways)
  }
}

func settings(_ file: String?) -> ServiceManager.Configuration {
  var settings = ServiceManager.Configuration()
  settings.persistence = file.map { .file($0) } ?? .none
  settings.authorization = Anyone()
  return settings
}
