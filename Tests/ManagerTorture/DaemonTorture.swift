import AppDaemon
import BeaconTesting
import CoreLocation
import Logging
import Regions
import Scanning
import ServiceCore
import SystemPackage
import TestSupport

/// A daemon and an app of it, two processes to be killed.
///
/// The daemon's log in the folder has the world, which goes on where it ended; the app's log has what its delegate was
/// told. With 0 steps, the world does not change: the daemon runs until it is killed, and the app ends by itself when
/// all is delivered.
enum DaemonTorture {
  static func run(_ arguments: [String]) throws {
    guard let seed = UInt64(arguments[3]), let steps = Int(arguments[4]) else { return }
    if arguments[1] == "daemon" {
      try runDaemon(arguments[2], seed, steps)
    } else {
      try runApp(arguments[2], seed, steps)
    }
  }

  private static func text(_ path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  }

  private static func log(_ path: String) throws -> Log {
    Log(
      try FileDescriptor.open(
        FilePath(path), .writeOnly, options: [.append, .create], permissions: .ownerReadWrite))
  }

  private static func runDaemon(_ folder: String, _ seed: UInt64, _ steps: Int) throws {
    let path = "\(folder)/daemon.log"
    var world = World(log: text(path), seed: seed)
    let log = try log(path)
    log.write("start")
    let scanner = ScriptedScanner(
      clock: ManualClock(start: MonotonicTime(nanoseconds: world.step * 1_000_000_000)),
      isRecorded: false)
    var settings = ServiceManager.Configuration()
    settings.persistence = .none
    settings.authorization = Anyone()
    let manager = ServiceManager(settings)
    let own = BeaconService.Configuration()
    let beacons = BeaconService(manager, scanner: scanner, configuration: own)
    var authorizations = AppAuthorizations.Configuration(decisions: "\(folder)/decisions.json")
    authorizations.file = "\(folder)/authorization.json"
    authorizations.bus = nil
    let logger = Logger(label: "daemon") { _ in SwiftLogNoOpLogHandler() }
    let apps = Apps(
      Apps.Configuration(folder: "\(folder)/apps", beacons: own),
      authorizations: AppAuthorizations(authorizations, logger: logger), beacons: beacons,
      locations: LocationService(manager, source: nil), logger: logger)
    apps.restore()
    let server = AppServer(apps, logger: logger)
    server.listen(on: try AppServer.listen(at: "\(folder)/apps.sock"))
    while true {
      if steps > 0 { world.changeBeacons(log) }
      for minor in world.present {
        for part in 1...3 {
          scanner.add(World.frame(minor), rssi: -60, at: world.elapsed + 0.3 * Double(part))
        }
      }
      scanner.clock.advance(by: 1)
      world.elapsed += 1
      // Without an app, the scanner rests.
      while (scanner.demands.last ?? .none) != .none, scanner.delivered < scanner.clock.now {
        usleep(200)
      }
      usleep(25_000)
    }
  }

  private static func runApp(_ folder: String, _ seed: UInt64, _ steps: Int) throws {
    let log = try log("\(folder)/app.log")
    log.write("start")
    var configuration = LocationServices.Configuration()
    configuration.daemon = .required
    configuration.relaunch = .never
    configuration.rules = try RegionRules(exitTimeout: .fixed(seconds: 0.5))
    configuration.logger = Logger(label: "app") { _ in SwiftLogNoOpLogHandler() }
    let queue = DispatchQueue(label: "delegate")
    configuration.delegateQueue = queue
    let services = LocationServices(configuration)
    let manager = CLLocationManager(services: services)
    let listener = Listener(log)
    manager.delegate = listener
    let daemonLog = "\(folder)/daemon.log"
    var world = World(log: "", seed: seed)

    // The regions that the daemon has are known only where one daemon answers all the time.
    confirm(services, daemonLog) {
      world.extras = Set(manager.monitoredRegions.map(\.identifier).filter { $0.hasPrefix("x") })
    }
    log.write("kept " + world.extras.sorted().joined(separator: " "))
    for minor in 0..<beacons {
      manager.startMonitoring(for: World.region("\(minor)", minor: minor))
    }
    for _ in 0..<steps {
      let name = "x\(world.random(below: 20))"
      let isAdded = world.extras.remove(name) == nil
      log.write("\(isAdded ? "adds" : "removes") \(name)")
      let region = World.region(name, minor: 9999)
      if isAdded {
        world.extras.insert(name)
        manager.startMonitoring(for: region)
      } else {
        manager.stopMonitoring(for: region)
      }
      confirm(services, daemonLog) {}
      log.write("\(isAdded ? "confirmed" : "removed") \(name)")
      usleep(25_000)
    }
    // The app ends when it is told of each region what the world is.
    let present = World(log: text(daemonLog), seed: seed).present
    for minor in 0..<beacons {
      let state: CLRegionState = present.contains(minor) ? .inside : .outside
      let line = "state \(minor) \(state.rawValue)"
      guard
        eventually({
          let before = listener.states
          manager.requestState(for: World.region("\(minor)", minor: minor))
          eventually { listener.states > before }
          let lines = text("\(folder)/app.log").split(separator: "\n")
          return lines.last { $0.hasPrefix("state \(minor) ") }.map(String.init) == line
        })
      else { exit(1) }
    }
    confirm(services, daemonLog) {}
    queue.sync {}
    log.write("end " + present.sorted().map(String.init).joined(separator: " "))
    withExtendedLifetime((manager, listener)) {}
  }

  /// Calls a function, and lets the daemon store what it changed: again, until one daemon did all of it.
  private static func confirm(
    _ services: LocationServices, _ daemonLog: String, _ body: () -> Void
  ) {
    func starts() -> Int { text(daemonLog).split(separator: "\n").count { $0 == "start" } }
    func answers() -> Bool { services.core.availability == .available }
    while true {
      let before = starts()
      if answers() {
        body()
        services.core.flush()
        if answers(), starts() == before { return }
      }
      usleep(5000)
    }
  }
}
