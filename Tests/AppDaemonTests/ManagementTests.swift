import Advertising
import BeaconTesting
import Foundation
import Logging
import Scanning
import ServiceCore
import TestDaemons
import TestSupport
import Testing

@testable import AppDaemon

/// The daemon's socket, as programs that manage apps use it.
@Suite(.blocking) final class ManagementTests {
  private let scratch: Scratch
  private let manager: ServiceManager
  private let server: AppServer
  private let path: String

  init() throws {
    scratch = try Scratch()
    path = scratch["apps.sock"]
    let logger = Logger(label: "test")
    var decisions = AppAuthorizations.Configuration(decisions: scratch["decisions.json"])
    decisions.file = scratch["authorization.json"]
    decisions.bus = nil
    var settings = ServiceManager.Configuration()
    settings.persistence = .none
    manager = ServiceManager(settings)
    let beacons = BeaconService(manager, scanner: ScriptedScanner(isRecorded: false))
    let apps = Apps(
      Apps.Configuration(folder: nil, beacons: BeaconService.Configuration()),
      authorizations: AppAuthorizations(decisions, logger: logger), beacons: beacons,
      locations: LocationService(manager, source: nil), logger: logger)
    server = AppServer(apps, logger: logger)
    do throws(AppRefusal) {
      server.listen(on: try AppServer.listen(at: path))
    } catch {
      Issue.record("\(error.sentence)")
    }
  }

  deinit { server.stop() }

  /// This process, connected to the socket.
  private final class Program {
    private let descriptor: Int32
    private var received: [UInt8] = []

    init(_ path: String) throws {
      descriptor = try #require(DaemonLink.connect(to: path))
      var patience = timeval(tv_sec: 120, tv_usec: 0)
      // The value outlives the call.
      unsafe setsockopt(
        descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
      guard case .greeting = try DaemonMessage(line: try line()) else {
        throw NoLine()
      }
    }

    deinit { close(descriptor) }

    struct NoLine: Error {}

    func send(_ message: some Encodable & Sendable) throws {
      let line = try message.line() + [UInt8(ascii: "\n")]
      // The bytes outlive the call.
      _ = unsafe Glibc.send(descriptor, line, line.count, Int32(MSG_NOSIGNAL))
    }

    func manage(_ message: ManagementMessage) throws { try send(message) }
    func ask(_ message: AppMessage) throws { try send(message) }

    /// Returns the next line; throws at the end of the connection.
    func line() throws -> [UInt8] {
      while true {
        if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
          defer { received.removeFirst(end + 1) }
          return Array(received[..<end])
        }
        var bytes = [UInt8](repeating: 0, count: 4096)
        // The array outlives the call.
        let count = unsafe read(descriptor, &bytes, bytes.count)
        guard count > 0 else { throw NoLine() }
        received += bytes[..<count]
      }
    }

    func reply() throws -> ManagementReply { try ManagementReply(line: try line()) }

    func isDone() throws -> Bool {
      if case .done = try reply() { true } else { false }
    }

    func failure() throws -> String {
      if case .failed(let sentence) = try reply() { sentence } else { "" }
    }

    func question() throws -> ConsentQuestion {
      guard case .consent(.ask(let question)) = try reply() else { throw NoLine() }
      return question
    }

    func apps() throws -> [AppReport] {
      try manage(.apps)
      guard case .apps(let apps) = try reply() else { throw NoLine() }
      return apps
    }
  }

  /// Connects as an app that ranges all beacons, and waits until the daemon lists it.
  private func app() throws -> Program {
    let app = try Program(path)
    let client = ClientIdentifier(rawValue: 1)
    try app.ask(.hello(AppHello()))
    try app.ask(
      .addClient(client, group: .application, isReceiving: true, pacesRecordings: true))
    try app.ask(.call(1, .beacons(.startRanging([RangingRequest(nil)]), client)))
    try app.ask(.call(2, .requestAuthorization(.authorizedWhenInUse)))
    let program = try Program(path)
    #expect(try eventually { try !program.apps().isEmpty })
    return app
  }

  @Test func anAgentAnswersAndAnAppIsListedAndRevoked() throws {
    let app = try app()
    let agent = try Program(path)
    try agent.manage(.agent)
    #expect(try agent.isDone())
    let question = try agent.question()
    #expect(question.wanted == .authorizedWhenInUse)
    #expect(question.user == geteuid())
    let before = try #require(try Program(path).apps().first)
    #expect(before.decision.status == .notDetermined && before.decision.decidedBy == .nobody)
    #expect(before.use.processes == [getpid()])

    try agent.manage(.answer(question: question.id, answer: .whileInUse))
    #expect(try agent.isDone())
    let program = try Program(path)
    #expect(try eventually { try program.apps().first?.use.beacons == .ranging })
    let report = try #require(try program.apps().first)
    #expect(report.decision.app == question.app)
    #expect(report.decision.status == .authorizedWhenInUse && report.decision.decidedBy == .person)
    #expect(report.decision.decidingUser == geteuid())
    #expect(try eventually { try program.apps().first?.use.events ?? 0 > 0 })

    try program.manage(.revoke(app: question.app, user: nil, denying: true))
    #expect(try program.isDone())
    #expect(try eventually { try program.apps().first?.use.beacons == ScanDemand.none })
    #expect(try program.apps().first?.decision.status == .denied)
    try program.manage(.revoke(app: question.app, user: geteuid(), denying: false))
    #expect(try program.isDone())
    #expect(try program.apps().first?.decision.status == .notDetermined)
    withExtendedLifetime(app) {}
    // Neither the agent nor the others are apps.
    #expect(try program.apps().count == 1)
  }

  @Test func theQuestionOfAnAgentThatEndsGoesToAnother() throws {
    let app = try app()
    let other = try Program(path)
    try other.manage(.agent)
    #expect(try other.isDone())
    let first = try other.question()
    do {
      let agent = try Program(path)
      try agent.manage(.agent)
      #expect(try agent.isDone())
      try agent.manage(.agent)
      #expect(try agent.failure().contains("already"))
      // It may not answer the question of another agent.
      try agent.manage(.answer(question: first.id, answer: .always))
      #expect(try agent.isDone())
      try app.ask(.call(3, .requestAuthorization(.authorizedAlways)))
      let raised = try agent.question()
      #expect(raised.wanted == .authorizedAlways)
      guard case .consent(.withdraw(first.id)) = try other.reply() else { throw Program.NoLine() }
    }
    #expect(try other.question().wanted == .authorizedAlways)
  }

  @Test func aConnectionIsOneSession() throws {
    let program = try Program(path)
    try program.manage(.session)
    #expect(try program.isDone())
    try program.manage(.session)
    #expect(try program.failure().contains("already"))
  }

  @Test(
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv"), "setpriv is missing"))
  func aConfinedProgramActsForNobody() throws {
    let script = """
      import json, socket, sys
      link = socket.socket(socket.AF_UNIX)
      link.connect(sys.argv[1])
      lines, out = link.makefile("r"), link.makefile("w")
      lines.readline()
      for message in [{"agent": {}}, {"session": {}}]:
          out.write(json.dumps(message) + "\\n")
          out.flush()
          sys.stdout.write(lines.readline())
      """
    let output = try runTool([
      "/usr/bin/setpriv", "--no-new-privs", "/usr/bin/python3", "-c", script, path,
    ])
    let replies = try output.split(separator: "\n").map {
      try ManagementReply(line: Array($0.utf8))
    }
    #expect(replies.count == 2)
    for reply in replies {
      guard case .failed(let sentence) = reply else {
        Issue.record("a confined program is registered: \(reply)")
        continue
      }
      #expect(sentence.contains("NoNewPrivileges"))
    }
  }

  @Test func wrongMessagesAreRefusedWithASentence() throws {
    let program = try Program(path)
    try program.manage(.answer(question: 1, answer: .always))
    #expect(try program.failure().contains("agent"))
    try program.manage(.revoke(app: "a.service", user: nil, denying: true))
    #expect(try program.failure().contains("no app a.service"))
    // A connection is of one kind.
    try program.ask(.hello(AppHello()))
    guard case .refused = try DaemonMessage(line: try program.line()) else {
      Issue.record("a program that manages apps is served as an app")
      return
    }
    #expect(throws: Program.NoLine.self) { try program.line() }

    let app = try Program(path)
    try app.ask(.hello(AppHello()))
    guard case .welcome = try DaemonMessage(line: try app.line()) else { throw Program.NoLine() }
    try app.manage(.apps)
    guard case .refused = try DaemonMessage(line: try app.line()) else {
      Issue.record("an app manages apps on its own connection")
      return
    }
  }

  /// Another user sees nothing of root's apps, and cannot revoke them.
  @Test(.enabled(if: geteuid() == 0, "the test runs as root")) func usersAreApart() throws {
    let app = try app()
    let name = try #require(try Program(path).apps().first).decision.app
    let script = """
      import json, socket, sys
      link = socket.socket(socket.AF_UNIX)
      link.connect(sys.argv[1])
      lines = link.makefile("rw")
      lines.readline()
      for message in [{"apps": {}}, {"revoke": {"app": sys.argv[2], "user": 0, "denying": True}},
                      {"revoke": {"app": sys.argv[2], "denying": True}}, {"agent": {}}]:
          lines.write(json.dumps(message) + "\\n")
          lines.flush()
          sys.stdout.write(lines.readline())
      """
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/setpriv")
    process.arguments = [
      "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", script, path,
      name,
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let lines = try output.fileHandleForReading.readToEnd().map {
      String(decoding: $0, as: UTF8.self).split(separator: "\n")
    }
    process.waitUntilExit()
    let replies = try (lines ?? []).map { try ManagementReply(line: Array($0.utf8)) }
    try #require(replies.count == 4)
    guard case .apps(let apps) = replies[0], case .failed(let first) = replies[1],
      case .failed(let second) = replies[2], case .done = replies[3]
    else {
      Issue.record("\(lines ?? [])")
      return
    }
    #expect(apps.isEmpty)
    #expect(first == second)
    #expect(try Program(path).apps().first?.decision.status == .notDetermined)
    withExtendedLifetime(app) {}
  }
}
