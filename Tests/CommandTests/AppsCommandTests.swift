import AppDaemon
import Foundation
import ServiceCore
import TestSupport
import Testing

@testable import beaconscan

@Suite(.blocking) struct AppsCommandTests {
  private let scratch: Scratch
  private let socket: String

  init() throws {
    scratch = try Scratch()
    socket = scratch.path("apps.sock").path
  }

  /// Starts the service on a recording, without the machine's polkit.
  private func serve() throws -> Running {
    let service = try Running(
      URL(filePath: "/bin/sh"),
      [
        "-c",
        """
        export DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent
        exec beaconscan serve --listen 127.0.0.1:0 --replay "$0" --apps "$1" --apps-state "$2"
        """, Command.capture("visitor.btsnoop"), socket, scratch.path("state").path,
      ])
    try service.wait {
      guard let descriptor = DaemonLink.connect(to: socket) else { return false }
      close(descriptor)
      return true
    }
    return service
  }

  private func end(_ service: Running) throws {
    kill(service.identifier, SIGTERM)
    #expect(try service.finish().status == 0)
  }

  /// This process as an app that ranges all beacons.
  final class App {
    private let descriptor: Int32

    init(_ socket: String) throws {
      descriptor = try #require(DaemonLink.connect(to: socket))
      let client = ClientIdentifier(rawValue: 1)
      let messages: [AppMessage] = [
        .hello(AppHello()),
        .addClient(client, group: .application, isReceiving: true, pacesRecordings: true),
        .call(1, .beacons(.startRanging([RangingRequest(nil)]), client)),
        .call(2, .requestAuthorization(.authorizedWhenInUse)),
      ]
      // The greeting comes first.
      var byte: UInt8 = 0
      // The byte outlives the call.
      repeat { _ = unsafe read(descriptor, &byte, 1) } while byte != UInt8(ascii: "\n")
      for message in messages {
        let line = try message.line() + [UInt8(ascii: "\n")]
        // The bytes outlive the call.
        _ = unsafe write(descriptor, line, line.count)
      }
    }

    deinit { close(descriptor) }
  }

  private func report() throws -> [String: Any] {
    let run = try Command.run("apps", "--json", "--socket", socket)
    #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
    return try run.json().first ?? [:]
  }

  @Test func anAppIsAskedForListedAndRevoked() throws {
    let service = try serve()
    let none = try Command.run("apps", "--socket", socket)
    #expect(none.output == "no app has used the service\n")
    let app = try App(socket)
    let agent = try Command.shell(
      "printf 'x\\nu\\n' | beaconscan agent --once --quiet --socket '\(socket)'")
    #expect(agent.status == 0)
    #expect(
      agent.lines.last?.hasSuffix(
        " wants to use beacons and locations: [o]nce, while in [u]se, [n]o? u") == true)
    #expect(agent.error == "beaconscan: 'x' is not an answer; write o, u or n\n")

    #expect(try eventually { try report()["scan"] as? String == "ranging" })
    let listed = try report()
    #expect(listed["status"] as? String == "authorizedWhenInUse")
    #expect(listed["decidedBy"] as? String == "person")
    #expect(listed["userID"] as? Int == Int(getuid()))
    #expect(listed["decidingUser"] as? String == listed["user"] as? String)
    #expect(listed["processes"] as? [Int] == [Int(getpid())])
    let file = Command.root.appending(path: "Tests/Outputs/apps.jsonl")
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      #expect(object.map { Set($0.keys) } == Set(listed.keys))
    }
    let name = try #require(listed["app"] as? String)
    let table = try Command.run("apps", "--utc", "--socket", socket)
    #expect(table.lines.count == 2 && table.output.contains(" while in use "))
    #expect(try Command.run("apps", "--format", "csv", "--socket", socket).lines.count == 2)

    let denial = try Command.run("apps", "revoke", name, "--deny", "--socket", socket)
    #expect(denial.status == 0 && denial.output.isEmpty && denial.error.isEmpty)
    #expect(try report()["status"] as? String == "denied")
    let user = try #require(listed["user"] as? String)
    let revocation = try Command.run("apps", "revoke", name, "--user", user, "--socket", socket)
    #expect(revocation.status == 0)
    #expect(try report()["status"] as? String == "notDetermined")
    let unknown = try Command.run("apps", "revoke", "no.service", "--socket", socket)
    #expect(unknown.status == 77 && unknown.error.contains("no app no.service"))
    withExtendedLifetime(app) {}
    try end(service)
  }

  @Test func anAgentConnectsAgainAndEndsCleanly() throws {
    let first = try serve()
    // Its standard input does not end.
    let agent = try Running(
      URL(filePath: "/bin/sh"),
      [
        "-c", "mkfifo \"$0\" && exec beaconscan agent --socket \"$1\" <> \"$0\"",
        scratch.path("input").path, socket,
      ])
    func questions() -> Int { agent.output.components(separatedBy: "wants to use").count - 1 }
    let before = try App(socket)
    try agent.wait { questions() == 1 }
    try end(first)
    try agent.wait { agent.output.hasSuffix("\nthis question is withdrawn\n") }
    let second = try serve()
    let after = try App(socket)
    try agent.wait { questions() == 2 }
    agent.interrupt()
    let run = try agent.finish()
    #expect(run.status == 0)
    #expect(
      run.error.split(separator: "\n") == [
        "beaconscan: waiting for questions at \(socket)",
        "beaconscan: the service for apps has ended; waiting for it",
        "beaconscan: waiting for questions at \(socket)",
      ])
    withExtendedLifetime((before, after)) {}
    try end(second)
  }

  @Test func anAgentWithoutInputEndsAtAQuestion() throws {
    let service = try serve()
    let app = try App(socket)
    let run = try Command.run("agent", "--quiet", "--socket", socket)
    #expect(run.status == 66)
    #expect(run.error.hasPrefix("beaconscan: standard input ended before an answer; "))
    withExtendedLifetime(app) {}
    try end(service)
  }

  @Test func anInterruptBeforeTheOneAnswerIsAnError() throws {
    let service = try serve()
    let agent = try Running("agent", "--once", "--socket", socket)
    try agent.waitForSignalHandler()
    agent.interrupt()
    #expect(try agent.finish().status == 130)
    try end(service)
  }

  @Test(arguments: [["agent"], ["apps"], ["apps", "revoke", "a.service"]])
  func withoutAServiceThereIsOneSentence(words: [String]) throws {
    let run = try Command.run(words + ["--socket", socket])
    #expect(run.status == 69 && run.output.isEmpty)
    #expect(
      run.error
        == "beaconscan: no service for apps answers at \(socket); start one with beaconscan serve "
        + "--apps, or name its socket with --socket\n")
  }

  @Test func oneQuestionIsShownAtATime() throws {
    func question(_ id: Int, _ app: String, _ wanted: String) throws -> ConsentMessage {
      let text =
        #"{"ask":{"_0":{"id":\#(id),"app":"\#(app)","description":"the program \#(app)","#
        + #""wanted":"\#(wanted)","user":4294967294}}}"#
      return try ConsentMessage(line: Array(text.utf8))
    }
    var dialog = AgentDialog(user: 4_294_967_294)
    #expect(dialog.prompt == nil && dialog.take("o") == nil)
    dialog.receive(try question(1, "/a\\u001b[2J", "authorizedAlways"))
    dialog.receive(try question(2, "/b", "authorizedWhenInUse"))
    #expect(
      dialog.prompt
        == "The program /a?[2J wants to use beacons and locations, also while it does not run: "
        + "[o]nce, while in [u]se, [a]lways, [n]o? ")
    #expect(dialog.take("yes") == nil)
    let answer = dialog.take(" Always\r")
    #expect(answer?.question == 1 && answer?.answer == .always)
    #expect(dialog.question?.id == 2)
    dialog.receive(.withdraw(2))
    #expect(dialog.question == nil)
    var other = AgentDialog(user: 0)
    other.receive(try question(3, "/c", "authorizedWhenInUse"))
    #expect(other.prompt?.hasPrefix("The program /c of the user 4294967294 wants") == true)
  }
}
