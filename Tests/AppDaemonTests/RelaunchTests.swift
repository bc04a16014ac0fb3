import Advertising
import BeaconTesting
import Foundation
import Scanning
import ServiceCore
import Synchronization
import TestSupport
import Testing

@testable import AppDaemon

/// Apps that are started for the events that wait for them.
@Suite(.blocking) struct RelaunchTests {
  /// Runs an app until its region is stored.
  private static func runApp(_ machine: TestMachine, _ launch: AppLaunch) async throws {
    do {
      let app = try #require(machine.app(launch: launch))
      try app.client.register(AppServerTests.region("door"))
      app.manager.flush()
      app.end()
    }
    #expect(await machine.isWithoutProcesses())
  }

  @Test func theMarkerOfAnAppIsThereWhileEventsWait() async throws {
    let machine = try TestMachine(.visitor())
    try machine.start()
    try await Self.runApp(machine, .marker)
    let marker = try #require(machine.apps?.uses.keys.first).fileName
    let path = machine.scratch["launch/\(marker)"]
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(await machine.advance { FileManager.default.fileExists(atPath: path) })
    // After a reboot, events of before still wait.
    await machine.stop()
    try FileManager.default.removeItem(atPath: machine.scratch["launch"])
    try machine.start()
    #expect(await eventually { FileManager.default.fileExists(atPath: path) })
    let app = try #require(machine.app(launch: .marker))
    #expect(await machine.advance { app.crossings == ["enter door", "exit door"] })
    #expect(await eventually { !FileManager.default.fileExists(atPath: path) })
    #expect(machine.apps?.uses.values.compactMap(\.relaunch).isEmpty == true)
    await machine.stop()
  }

  @Test func theSessionIsOrderedUntilTheEventsAreProcessed() async throws {
    let machine = try TestMachine(.visitor())
    try machine.start()
    let launch = AppLaunch.busName("org.example.Kiosk")
    try await Self.runApp(machine, launch)
    func report() -> RelaunchReport? { machine.apps?.uses.values.first?.relaunch }
    // Without a session, the app waits.
    #expect(await machine.advance { report()?.failure?.contains("beaconscan-session") == true })
    let orders = Mutex<[LaunchOrder]>([])
    let failure = Mutex<String?>("there is no such program")
    let queue = DispatchQueue(label: "test")
    let session = LineSocket(
      try #require(DaemonLink.connect(to: machine.socket)), maximumLine: 1 << 20, on: queue)
    defer { session.close() }
    session.start(
      received: { line in
        if case .launch(let order)? = try? ManagementReply(line: line) {
          orders.withLock { $0.append(order) }
          let answer = ManagementMessage.launched(
            order: order.id, failure: failure.withLock { $0 })
          if let line = try? answer.line() { session.send(line) }
        } else if (try? DaemonMessage(line: line)) != nil {
          if let line = try? ManagementMessage.session.line() { session.send(line) }
        }
      }, ended: {})
    #expect(await eventually { orders.withLock { $0.count } >= 1 })
    let order = orders.withLock { $0[0] }
    #expect(order.launch == launch)
    #expect(machine.apps?.uses.keys.first?.identifier == order.app)
    #expect(await eventually { report()?.failure == "there is no such program" })
    // A later attempt succeeds. The app that it started ends without having processed anything.
    failure.withLock { $0 = nil }
    #expect(await eventually { report() != nil && report()?.failure == nil })
    let count = orders.withLock { $0.count }
    #expect(await eventually { orders.withLock { $0.count } > count })
    let app = try #require(machine.app(launch: launch))
    #expect(await machine.advance { app.crossings == ["enter door", "exit door"] })
    #expect(await eventually { report() == nil })
    await machine.stop()
  }

  /// Without a connection, an app may still run.
  @Test(arguments: [false, true])
  func anAppThatRunsIsNotStartedAgain(afterRestart: Bool) async throws {
    let machine = try TestMachine(.visitor())
    try machine.start()
    try await Self.runApp(machine, .marker)
    machine.appsRun.withLock { $0 = true }
    let marker = try #require(machine.apps?.uses.keys.first).fileName
    let path = machine.scratch["launch/\(marker)"]
    #expect(await machine.advance { machine.apps?.uses.values.first?.relaunch != nil })
    if afterRestart {
      await machine.stop()
      try machine.start()
      #expect(await eventually { machine.apps?.uses.values.first?.relaunch != nil })
    }
    #expect(machine.apps?.uses.values.first?.relaunch?.attempts == 0)
    #expect(!FileManager.default.fileExists(atPath: path))
    machine.appsRun.withLock { $0 = false }
    #expect(await eventually { FileManager.default.fileExists(atPath: path) })
    await machine.stop()
  }

  /// A connection without a greeting of an app, such as that of an agent, is not one of the app.
  @Test func anotherConnectionOfTheProgramIsNotTheApp() async throws {
    let machine = try TestMachine(.visitor())
    try machine.start()
    try await Self.runApp(machine, .marker)
    let app = try #require(machine.apps?.uses.keys.first)
    await machine.stop()
    // No process of the app is known.
    let file = URL(filePath: machine.scratch[try #require(machine.profiles.first)])
    let object = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
    var profile = try #require(object as? [String: Any])
    profile["processes"] = nil
    try JSONSerialization.data(withJSONObject: profile).write(to: file)
    try machine.start()
    machine.appsRun.withLock { $0 = true }
    let link = LineSocket(
      try #require(DaemonLink.connect(to: machine.socket)), maximumLine: 1 << 20,
      on: DispatchQueue(label: "test"))
    let isGreeted = Locked(false)
    let hasEnded = Locked(false)
    link.start(received: { _ in isGreeted.withLock { $0 = true } }) {
      hasEnded.withLock { $0 = true }
    }
    #expect(await eventually { isGreeted.withLock { $0 } })
    // It ends the connection.
    link.send(Array("{}".utf8))
    #expect(await eventually { hasEnded.withLock { $0 } })
    let path = machine.scratch["launch/\(app.fileName)"]
    #expect(await machine.advance { FileManager.default.fileExists(atPath: path) })
    await machine.stop()
  }

  @Test func aSessionThatBeginsStartsOnlyAppsThatWaitForOne() async {
    let app = AppIdentity("/usr/bin/kiosk", strength: .claim, user: 0)
    let failure = Mutex<Relauncher.Failure?>(nil)
    let starts = Mutex(0)
    let relauncher = Relauncher(pauses: [1000]) { _ in
      .launch(nil)
    } start: { _, _, then in
      starts.withLock { $0 += 1 }
      then(failure.withLock { $0 })
    } end: { _ in
    }
    relauncher.update(app)
    #expect(await eventually { starts.withLock { $0 } == 1 })
    // The app is starting.
    for _ in 1...10 { relauncher.sessionBegan(for: app) }
    try? await Task.sleep(for: .milliseconds(100))
    #expect(starts.withLock { $0 } == 1)
    #expect(relauncher.reports[app]?.attempts == 1)
    let other = AppIdentity("/usr/bin/other", strength: .claim, user: 0)
    failure.withLock { $0 = Relauncher.Failure(sentence: "no session", awaitsSession: true) }
    relauncher.update(other)
    #expect(await eventually { relauncher.reports[other]?.failure == "no session" })
    failure.withLock { $0 = nil }
    relauncher.sessionBegan(for: other)
    #expect(await eventually { starts.withLock { $0 } == 3 })
    #expect(await eventually { relauncher.reports[other]?.failure == nil })
  }

  @Test func theMarkerIsReadableForAllAndOnlyInAFolderOfTheService() throws {
    let scratch = try Scratch()
    let folder = scratch["launch"]
    let app = AppIdentity("kiosk.service", strength: .systemUnit, user: 7)
    let starter = AppStarter(system: nil, markers: folder, sessions: SessionPrograms())
    func start() -> String? {
      let answer = Mutex<[Relauncher.Failure?]>([])
      starter.start(app, .marker) { failure in answer.withLock { $0.append(failure) } }
      #expect(eventually { !answer.withLock { $0.isEmpty } })
      return answer.withLock { $0.first }??.sentence
    }
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    // As under the service's unit.
    let mask = umask(0o077)
    let failure = start()
    umask(mask)
    #expect(failure == nil)
    #expect(try mode(folder) == 0o755)
    let path = "\(folder)/7-kiosk.service"
    #expect(try mode(path) == 0o644)
    // Nobody reads this pipe.
    try FileManager.default.removeItem(atPath: path)
    #expect(unsafe mkfifo(path, 0o600) == 0)
    #expect(start()?.contains("kiosk.service: ") == true)
    try FileManager.default.moveItem(atPath: folder, toPath: scratch["other"])
    try FileManager.default.createSymbolicLink(
      atPath: folder, withDestinationPath: scratch["other"])
    #expect(start()?.contains("is not a folder of the service's user") == true)
  }

  @Test func anAppThatMustNotBeStartedIsNot() async throws {
    let machine = try TestMachine(.visitor())
    let start = machine.scanner.clock.now
    try machine.start()
    try await Self.runApp(machine, .never)
    #expect(
      await machine.advance { machine.scanner.delivered.seconds(since: start) > 40 })
    #expect(machine.apps?.uses.values.compactMap(\.relaunch).isEmpty == true)
    await machine.stop()
  }

  /// An app that the tests order.
  private final class ScriptedApp: Sendable {
    let need = Mutex(Relauncher.Need.nothing)
    let starts = Mutex<[DispatchTime]>([])
    let hasEnded = Atomic<Bool>(false)
  }

  @Test func theAttemptsBackOffAndBeginAnewAfterSuccess() async {
    let app = ScriptedApp()
    let identity = AppIdentity("kiosk.service", strength: .systemUnit, user: 0)
    let pauses = [0.03, 0.06, 0.12]
    let relauncher = Relauncher(pauses: pauses) { _ in
      app.need.withLock { $0 }
    } start: { _, _, then in
      app.starts.withLock { $0.append(.now()) }
      then(Relauncher.Failure(sentence: "no"))
    } end: { _ in
      app.hasEnded.store(true, ordering: .releasing)
    }
    app.need.withLock { $0 = .launch(nil) }
    for _ in 1...3 { relauncher.update(identity) }
    #expect(await eventually { app.starts.withLock { $0.count } >= 6 })
    let starts = app.starts.withLock { $0 }
    for (index, pause) in (pauses + [0.12, 0.12]).enumerated() {
      let nanoseconds = starts[index + 1].uptimeNanoseconds - starts[index].uptimeNanoseconds
      #expect(Double(nanoseconds) / 1e9 >= pause * 0.99)
    }
    // While the app runs, it is not started.
    app.need.withLock { $0 = .served }
    relauncher.update(identity)
    #expect(await eventually { relauncher.reports[identity]?.next == nil })
    let count = app.starts.withLock { $0.count }
    try? await Task.sleep(for: .milliseconds(200))
    #expect(app.starts.withLock { $0.count } == count)
    #expect(relauncher.reports[identity]?.attempts == count)
    #expect(relauncher.reports[identity]?.failure == "no")
    // Once it has processed its events, the next one starts it at once.
    app.need.withLock { $0 = .nothing }
    relauncher.update(identity)
    #expect(await eventually { relauncher.reports.isEmpty })
    let hasEnded = app.hasEnded.load(ordering: .acquiring)
    #expect(hasEnded)
    app.need.withLock { $0 = .launch(nil) }
    relauncher.update(identity)
    #expect(await eventually { app.starts.withLock { $0.count } > count })
  }

  /// A real bus, which starts the program that it has for a name.
  @Test func aNameOnTheBusOfTheSessionIsStarted() throws {
    let scratch = try Scratch()
    let sign = scratch["started"]
    try """
    [D-BUS Service]
    Name=org.example.Kiosk
    Exec=/bin/sh -c 'echo started >\(sign); exec sleep 60'
    """.write(
      toFile: scratch["org.example.Kiosk.service"], atomically: true, encoding: .utf8)
    let bus = try BusDaemon(in: scratch, services: scratch.folder.path)
    let launcher = SessionLauncher(bus: bus.address, process: 1, timeout: 100_000_000)
    func start(_ app: String, _ launch: AppLaunch?) -> String? {
      launcher.start(LaunchOrder(id: 1, app: app, launch: launch), for: "/run/apps.sock")
    }
    // The program does not take its name, which the launcher does not await for long.
    _ = start("/usr/bin/kiosk", .busName("org.example.Kiosk"))
    #expect(eventually { FileManager.default.fileExists(atPath: sign) })
    #expect(start("flatpak:org.example.Other", nil)?.contains("org.example.Other") == true)
    #expect(start("snap:other", nil)?.contains("a bus name or a file") == true)
    // There is no systemd on this bus.
    let program = AppLaunch.program(path: "/usr/bin/kiosk", arguments: [], folder: "/")
    #expect(start("/usr/bin/kiosk", program)?.contains("systemd1") == true)
    #expect(start("user:kiosk.service", nil)?.contains("systemd1") == true)
  }

  /// polkit is asked about a process, and there is none when a daemon starts.
  @Test func polkitsAnswerOutlivesTheDaemon() async throws {
    let machine = try TestMachine(.visitor())
    try machine.start()
    try await Self.runApp(machine, .marker)
    await machine.stop()
    let name = try #require(machine.profiles.first)
    let profile = try String(contentsOfFile: machine.scratch[name], encoding: .utf8)
    try "{}".write(toFile: machine.file, atomically: true, encoding: .utf8)
    for answer in ["yes", "no"] {
      // What the daemon stores when polkit has answered so.
      let answers = #"{"polkit":{"use":"yes","always":"\#(answer)"},"#
      let others = profile.replacing(#""polkit":{},"#, with: "")
        .replacing(#","polkit":{}"#, with: "")
      let changed = answers + others.dropFirst()
      try changed.write(toFile: machine.scratch[name], atomically: true, encoding: .utf8)
      try machine.start()
      let regions = answer == "yes" ? [1] : []
      #expect(await eventually { machine.apps?.uses.values.map(\.regions) == regions })
      await machine.stop()
    }
  }

  @Test func anAppWithoutRegionsLeavesNoFiles() async throws {
    let machine = try TestMachine(.visitor())
    try machine.start()
    try await Self.runApp(machine, .never)
    let app = try #require(machine.apps?.uses.keys.first)
    #expect(machine.scratch.names.contains { $0.hasPrefix("\(app.fileName).sqlite") })
    do {
      let app = try #require(machine.app(launch: .never))
      app.client.unregister("door")
      app.manager.flush()
      app.end()
    }
    #expect(
      await eventually { !machine.scratch.names.contains { $0.hasPrefix(app.fileName) } },
      "\(machine.scratch.names)")
    await machine.stop()
  }
}
