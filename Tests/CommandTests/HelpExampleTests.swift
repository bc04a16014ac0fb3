import Foundation
import TestSupport
import Testing

/// Every example in every help text works when it is pasted from the project's root.
@Suite(.blocking) struct HelpExampleTests {
  /// The commands of a help text: each line under EXAMPLES, continued where it ends in a backslash or
  /// a pipe.
  private func examples(_ help: String) -> [String] {
    let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
    guard let title = lines.firstIndex(where: { $0 == "EXAMPLES" }) else { return [] }
    var commands: [String] = []
    var isContinued = false
    for line in lines[(title + 1)...].prefix(while: { !$0.isEmpty }) {
      if isContinued {
        commands[commands.count - 1] += "\n" + line
      } else {
        commands.append(String(line))
      }
      isContinued = line.hasSuffix("\\") || line.hasSuffix("|")
    }
    return commands
  }

  /// Whether a command needs an adapter or a service: it names no recording, and is not about one.
  private func isLive(_ command: String) -> Bool {
    let subcommands = [
      "scan", "range", "monitor", "record", "advertise", "adapters", "doctor", "locate", "history",
      "apps", "agent", "session",
    ]
    return command.contains("--adapter")
      || command.contains("calibrate") && !command.contains("captures/")
      || !command.contains("--replay") && !command.contains("captures/")
        && subcommands.contains { command.contains("beaconscan \($0)") }
  }

  @Test(arguments: [
    "", "scan", "range", "monitor", "locate", "history", "inspect", "decode", "simulate", "record",
    "advertise",
    "adapters", "doctor", "calibrate", "beacons", "config", "config check", "config show",
    "apps", "apps revoke", "agent", "session",
  ])
  func work(subcommand: String) throws {
    let help = try Command.shell("beaconscan \(subcommand) --help-all").output
    let commands = examples(help)
    #expect(commands.count >= 1)
    // A copy, so that what the examples write does not stay.
    let scratch = try Scratch()
    try FileManager.default.copyItem(
      at: Command.root.appending(path: "captures"), to: scratch.path("captures"))
    _ = try scratch.file("site.toml", "format = 'json'\n")
    for command in commands {
      #expect(command.contains("beaconscan "), "not a command: \(command)")
      if isLive(command) {
        // Without an adapter there is one sentence, and nothing else is wrong; without a person, too.
        let run = try Command.shell("timeout -s INT -k 60 3 \(command)", in: scratch.folder)
        #expect([0, 66, 69, 77, 124].contains(run.status), "\(command)\n\(run.error)")
        // What waits for an adapter or a daemon says which source it uses, or at its end how long it received nothing.
        let lines = run.status == 124 ? 2 : 1
        #expect(run.status == 0 || run.error.split(separator: "\n").count <= lines, "\(run.error)")
        // The examples stand for themselves.
        try? FileManager.default.removeItem(at: scratch.path("regions"))
        continue
      }
      let run = try Command.shell(command, in: scratch.folder)
      #expect(run.status == 0, "\(command)\n\(run.error)")
      // A summary is no complaint.
      #expect(run.error.isEmpty || subcommand == "record", "\(command)\n\(run.error)")
    }
  }

  /// Every subcommand that the help lists has a help text of its own with examples.
  @Test func allAreCovered() throws {
    let help = try Command.run("--help").output
    let list = try #require(help.split(separator: "SUBCOMMANDS:\n").last)
    let names = list.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
      .compactMap { $0.split(separator: " ").first.map(String.init) }
      .filter { $0 != "See" && $0 != "help" }
    #expect(names.count >= 6)
    for name in names {
      let text = try Command.run(name, "--help").output
      #expect(examples(text).count >= 1, "\(name)")
    }
  }
}
