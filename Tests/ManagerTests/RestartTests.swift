import AppTestSupport
import BeaconTesting
import CoreLocation
import Regions
import Scanning
import ServiceCore
import Storage
import Synchronization
import TestSupport
import Testing

/// One process after the other on the same state file, as far as services can tell.
@Suite struct RestartTests {
  final class Files {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    var folder: URL { scratch.folder }
    var state: String { scratch["state"] }

    /// A process: its delegate has received at least so many calls, its services are gone, and the file is free
    /// again, when this returns.
    func session(
      hearing: (ScriptedScanner) -> Void, until seconds: Double, lines count: Int = 3,
      _ use: (Scene) async throws -> Void = { _ in }
    ) async throws -> [String] {
      let rules = try RegionRules(exitTimeout: .fixed(seconds: 5))
      let scanner = ScriptedScanner()
      hearing(scanner)
      var scene: Scene? = Scene(scanner: scanner, persistence: .file(state)) { $0.rules = rules }
      if let scene { try await use(scene) }
      scanner.clock.advance(by: seconds)
      // Without demand a scanner stays where it is.
      await eventually {
        scanner.delivered >= scanner.clock.now || scene?.manager.monitoredRegions.isEmpty != false
      }
      _ = await scene?.told(count)
      // A call too many would come now.
      try await Task.sleep(for: .milliseconds(50))
      let lines = scene?.listener.all ?? []
      let remarks = scene?.remarks.all.withLock { $0 } ?? []
      #expect(remarks.isEmpty)
      scene = nil
      // The loop lets go of the services a moment later.
      await eventually { (try? Store(.file(state))) != nil }
      return lines
    }
  }

  static let here = { @Sendable (scanner: ScriptedScanner) in
    scanner.add(Scene.frame(7), rssi: -60, every: 1, from: 0.5, to: 100)
  }
  static let nobody = { @Sendable (scanner: ScriptedScanner) in }
  static let start = { @Sendable (scene: Scene) in
    scene.manager.startMonitoring(for: Scene.region("lobby"))
  }

  /// An expectation of awaited values does not show them.
  private func expect(
    _ lines: [String], _ expected: [String], at location: SourceLocation = #_sourceLocation
  ) {
    #expect(lines == expected, sourceLocation: location)
  }

  @Test func leavingWhileAwayIsToldOnce() async throws {
    let files = try Files()
    expect(
      try await files.session(hearing: Self.here, until: 10, Self.start),
      ["status 3", "monitors lobby", "state lobby 1"])
    // The region is monitored again without being asked for.
    let second = try await files.session(hearing: Self.nobody, until: 20) { scene in
      #expect(scene.manager.monitoredRegions == [Scene.region("lobby")])
    }
    #expect(second == ["status 3", "exit lobby", "state lobby 2"])
    #expect(
      try await files.session(hearing: Self.nobody, until: 20, lines: 2)
        == ["status 3", "state lobby 2"])
  }

  @Test func enteringWhileAwayIsToldOnce() async throws {
    let files = try Files()
    expect(
      try await files.session(hearing: Self.nobody, until: 10, Self.start),
      ["status 3", "monitors lobby", "state lobby 2"])
    // An app that starts as it always does keeps what was known.
    expect(
      try await files.session(hearing: Self.here, until: 10, lines: 4, Self.start),
      ["status 3", "monitors lobby", "enter lobby", "state lobby 1"])
    expect(
      try await files.session(hearing: Self.here, until: 10, Self.start),
      ["status 3", "monitors lobby", "state lobby 1"])
  }

  @Test func aRegionThatMeansOthersStartsAnew() async throws {
    let files = try Files()
    _ = try await files.session(hearing: Self.here, until: 10, Self.start)
    #expect(
      try await files.session(hearing: Self.nobody, until: 10) { scene in
        scene.manager.startMonitoring(for: Scene.region("lobby", minor: 1))
      } == ["status 3", "monitors lobby", "state lobby 2"])
  }

  @Test func whatNobodyWasThereToBeToldComesLater() async throws {
    let files = try Files()
    _ = try await files.session(hearing: Self.nobody, until: 10, Self.start)
    let silent = try await files.session(hearing: Self.here, until: 10, lines: 0) { scene in
      scene.manager.delegate = nil
    }
    #expect(silent.isEmpty || silent == ["status 3"])
    let lines = try await files.session(hearing: Self.here, until: 10, lines: 4)
    #expect(lines == ["status 3", "enter lobby", "state lobby 1", "state lobby 1"])
  }

  @Test func stoppedRegionsStayStopped() async throws {
    let files = try Files()
    _ = try await files.session(hearing: Self.here, until: 10, Self.start)
    _ = try await files.session(hearing: Self.here, until: 10, lines: 1) { scene in
      scene.manager.stopMonitoring(for: Scene.region("lobby"))
    }
    let third = try await files.session(hearing: Self.here, until: 1, lines: 1) { scene in
      #expect(scene.manager.monitoredRegions.isEmpty)
    }
    #expect(third == ["status 3"])
  }

  @Test func whatTheAppWasGrantedIsKept() async throws {
    let files = try Files()
    var configuration = LocationServices.Configuration()
    configuration.scanner = ScriptedScanner()
    configuration.authorization = SystemAuthorization(path: files.folder.path + "/none")
    configuration.persistence = .file(files.state)
    for (number, status) in [CLAuthorizationStatus.notDetermined, .authorizedWhenInUse].enumerated()
    {
      var services = LocationServices.tested(configuration)
      // The services before may not have closed the file yet.
      while services.core.storageFailure != nil {
        try await Task.sleep(for: .milliseconds(20))
        services = LocationServices.tested(configuration)
      }
      let manager = CLLocationManager(services: services)
      #expect(manager.authorizationStatus == status, "process \(number)")
      manager.requestWhenInUseAuthorization()
      #expect(manager.authorizationStatus == .authorizedWhenInUse)
      services.core.flush()
    }
  }

  @Test func aFileOfAnotherProgramIsLeftAlone() async throws {
    let files = try Files()
    try Data("not a store".utf8).write(to: URL(filePath: files.state))
    let scene = Scene(persistence: .file(files.state))
    #expect(scene.manager.monitoredRegions.isEmpty)
    let remarks = scene.remarks.all.withLock { $0 }
    #expect(remarks.count == 1)
    #expect(remarks.first?.contains(files.state) == true)
    #expect(try Data(contentsOf: URL(filePath: files.state)) == Data("not a store".utf8))
  }
}
