import AppDaemon
import Foundation
import TestDaemons
import TestSupport
import Testing

@testable import beaconscan

/// `beaconscan agent --notify` with a real notification daemon on a screen of its own.
@Suite(
  .blocking,
  .enabled(
    if: ["dunst", "Xvfb", "dbus-daemon"].allSatisfy {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }, "dunst, xvfb or dbus-daemon are missing"))
struct AgentNoticesTests {
  private let scratch: TestSupport.Scratch
  private let bus: BusDaemon
  private let screen: Daemon
  private let desktop: Daemon
  private let environment: [String]

  init() throws {
    scratch = try TestSupport.Scratch()
    bus = try BusDaemon(in: scratch, services: scratch.folder.path)
    let number = scratch["screen"]
    // The screen's number is the first free one.
    screen = try Daemon([
      "/bin/sh", "-c", "exec 9>\"$0\"; exec Xvfb -displayfd 9 -screen 0 640x480x24", number,
    ])
    func display() -> String {
      ((try? String(contentsOfFile: number, encoding: .utf8)) ?? "").filter { !$0.isWhitespace }
    }
    try #require(eventually { !display().isEmpty })
    // The menu of a notification, of which this program chooses a line.
    try """
    [global]
    dmenu = \(scratch["choose"])
    """.write(toFile: scratch["dunstrc"], atomically: true, encoding: .utf8)
    environment = [
      "DISPLAY=:\(display())", "DBUS_SESSION_BUS_ADDRESS=\(bus.address)",
      "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent",
    ]
    desktop = try Daemon(["/usr/bin/env"] + environment + ["dunst", "-conf", scratch["dunstrc"]])
  }

  private func run(_ arguments: String...) throws -> String {
    try runTool(["/usr/bin/env"] + environment + arguments)
  }

  @Test func aButtonOfTheDesktopAnswers() throws {
    _ = try run("/bin/sh", "-c", "until dunstctl is-paused; do sleep 0.05; done")
    let command = Command.folder.appending(path: "beaconscan").path
    let socket = scratch["apps.sock"]
    let service = try Running(
      URL(filePath: "/usr/bin/env"),
      environment + [
        command, "serve", "--listen", "127.0.0.1:0", "--replay",
        Command.capture("visitor.btsnoop"), "--apps", socket, "--apps-state", scratch["state"],
      ])
    try service.wait { FileManager.default.fileExists(atPath: socket) }
    let agent = try Running(
      URL(filePath: "/usr/bin/env"),
      environment + [command, "agent", "--notify", "--once", "--socket", socket])
    let app = try AppsCommandTests.App(socket)
    #expect(eventually { (try? run("dunstctl", "count", "displayed")) == "1\n" })
    let choose = scratch["choose"]
    try """
    #!/bin/sh
    tee "$0.lines" | grep -m 1 'While in use'
    """.write(toFile: choose, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: choose)
    _ = try run("dunstctl", "context")
    #expect(try agent.finish().status == 0)
    let lines = try String(contentsOfFile: "\(choose).lines", encoding: .utf8)
    #expect(lines.split(separator: "\n").count >= 3)
    let listed = try Command.run("apps", "--json", "--socket", socket).json().first
    #expect(listed?["status"] as? String == "authorizedWhenInUse")
    #expect(listed?["decidedBy"] as? String == "person")
    withExtendedLifetime(app) {}
    kill(service.identifier, SIGTERM)
    #expect(try service.finish().status == 0)
  }
}
