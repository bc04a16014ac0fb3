import Advertising
import BeaconTesting
import Foundation
import Glibc
import Logging
import Regions
import Scanning
import ServiceCore
import Synchronization
import TestSupport

@testable import AppDaemon

private final class Anyone: AuthorizationProvider {
  func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
    .granted(.authorizedAlways)
  }
}

extension ScriptedScanner {
  /// A radio that receives a visitor from the 10th to the 20th second.
  static func visitor() -> ScriptedScanner {
    let scanner = ScriptedScanner(isRecorded: false)
    scanner.add(
      BeaconFrame(uuid: AppServerTests.uuid, major: 1, minor: 1), rssi: -60, every: 0.5, from: 10,
      to: 20)
    scanner.report(.scanning, at: 0)
    return scanner
  }
}

/// A value that several threads use.
final class Locked<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  init(_ value: Value) { self.value = Mutex(value) }

  func withLock<Result>(_ body: (inout sending Value) -> sending Result) -> Result {
    value.withLock(body)
  }
}

/// A daemon, which can end and start again on the same files.
final class TestMachine {
  let scratch: Scratch
  let scanner: ScriptedScanner
  private let start: MonotonicTime
  let file: String
  private(set) var server: AppServer?
  private(set) var apps: Apps?
  private var beacons: BeaconService?
  var maximumApps: UserLimit?
  /// Whether apps run that are not connected.
  let appsRun = Locked(false)
  var returnTime = 0.0

  /// The names of the stored settings of apps.
  var profiles: [String] { scratch.names.filter { $0.hasSuffix(".app.json") } }

  var socket: String { scratch["apps.sock"] }

  init(_ scanner: ScriptedScanner, file: String = #"{"*": "always"}"#) throws {
    self.scanner = scanner
    start = scanner.clock.now
    scratch = try Scratch()
    self.file = scratch["authorization.json"]
    try file.write(toFile: self.file, atomically: true, encoding: .utf8)
  }

  func start(
    accepting accept: @escaping @Sendable (Int32) -> Int32 = { Glibc.accept($0, nil, nil) }
  ) throws {
    var settings = ServiceManager.Configuration()
    settings.persistence = .none
    settings.authorization = Anyone()
    let manager = ServiceManager(settings)
    var own = BeaconService.Configuration()
    own.rules = try RegionRules(exitTimeout: .fixed(seconds: 5))
    let beacons = BeaconService(manager, scanner: scanner, configuration: own)
    var configuration = AppAuthorizations.Configuration(decisions: scratch["decisions.json"])
    configuration.file = file
    configuration.bus = nil
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    var files = Apps.Configuration(folder: scratch.folder.path, beacons: own)
    files.markers = scratch["launch"]
    files.pauses = [0.05, 0.1]
    files.returnTime = returnTime
    // The apps are in this process, which lives longer than they.
    let isRunning = appsRun
    files.isRunning = { _ in isRunning.withLock { $0 } }
    if let maximumApps { files.maximumApps = maximumApps }
    let apps = Apps(
      files,
      authorizations: AppAuthorizations(configuration, logger: logger), beacons: beacons,
      locations: LocationService(manager, source: nil), logger: logger)
    apps.restore()
    let server = AppServer(apps, logger: logger)
    server.listen(on: try AppServer.listen(at: socket), accepting: accept)
    self.beacons = beacons
    self.apps = apps
    self.server = server
  }

  func stop() async {
    apps?.endRelaunch()
    server?.stop()
    await apps?.stop()
    server = nil
    apps = nil
    beacons = nil
  }

  func app(_ hello: AppHello = AppHello()) -> TestApp? { TestApp(socket, hello) }

  func app(launch: AppLaunch) -> TestApp? {
    var hello = AppHello()
    hello.launch = launch
    return app(hello)
  }

  /// Waits until the daemon knows of the end of all processes.
  func isWithoutProcesses() async -> Bool {
    await eventually { apps?.uses.values.allSatisfy(\.processes.isEmpty) == true }
  }

  /// Advances the radio's time, as far as the daemon receives, until a condition is true.
  ///
  /// Events come later than the time that causes them, so a condition that is true for a while only
  /// needs a limit, in seconds since the radio's start.
  func advance(
    by seconds: Double = 0.5, to limit: Double = .infinity, until isDone: () -> Bool
  ) async -> Bool {
    await eventually {
      let receives = scanner.demands.last ?? .none != .none
      if receives, scanner.delivered >= scanner.clock.now,
        scanner.clock.now.seconds(since: start) < limit
      {
        scanner.clock.advance(by: seconds)
      }
      return isDone()
    }
  }
}

/// An app's process, as far as the daemon can tell.
final class TestApp: Sendable {
  let manager: ServiceManager
  let client: BeaconClient
  private let received = Mutex<[BeaconEvent]>([])

  init?(_ socket: String, _ hello: AppHello) {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let link = DaemonLink(hello, patience: (600, 600), logger: logger) {
      DaemonLink.connect(to: socket)
    }
    guard link.open() else { return nil }
    var settings = ServiceManager.Configuration()
    settings.persistence = .none
    settings.daemon = link
    let manager = ServiceManager(settings)
    self.manager = manager
    let beacons = BeaconService(manager, scanner: nil)
    client = BeaconClient(manager.addClient(pacesRecordings: false), of: beacons)
    let client = client
    Task { [weak self] in try? await Self.read(client, self) }
  }

  private static func read(
    _ client: BeaconClient, _ app: @autoclosure () -> TestApp?
  ) async throws {
    var events = client.events.makeAsyncIterator()
    while let event = try await events.next() {
      // What the test sees is acknowledged, so it does not come again.
      events.acknowledge()
      app()?.received.withLock { $0.append(event) }
    }
  }

  /// Ends the process. The connection ends with the last reference to the manager.
  func end() { client.remove() }

  var events: [BeaconEvent] { received.withLock { $0 } }

  var crossings: [String] {
    events.compactMap {
      guard case .region(let event) = $0, event.transition.change.isCrossing else { return nil }
      return "\(event.transition.change) \(event.region.identifier)"
    }
  }

  var isWithoutDaemon: Bool {
    events.contains {
      if case .health(let health, at: _) = $0 { health.isReceptionLost } else { false }
    }
  }
}
