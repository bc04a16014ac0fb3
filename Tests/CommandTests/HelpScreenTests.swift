import ArgumentParser
import Foundation
import Testing

@testable import beaconscan

/// The help of each subcommand.
@Suite struct HelpScreenTests {
  private static let commands = Beaconscan.configuration.subcommands.filter {
    $0.configuration.subcommands.isEmpty
  }

  @Test(arguments: commands.map { $0.name }) func fitsAScreen(name: String) throws {
    let command = try #require(Self.commands.first { $0.name == name })
    let screen = HelpScreen(command, path: [name])
    let (short, whole) = (screen.lines(isWhole: false), screen.lines(isWhole: true))
    #expect(short.count <= HelpScreen.height + 6 && whole.count >= short.count, "\(short.count)")
    for input in Input.all(of: command) where !input.isArgument {
      #expect(whole.contains { $0.contains("--\(input.name)") }, "\(input.name)")
    }
    // What is left out is named.
    #expect(whole == short || short.last?.contains("--help-all") == true || short.count > 50)
    #expect(short.filter { $0.count > 80 && !$0.contains("beaconscan ") } == [])
  }

  @Test func theCommonOptionsComeFirst() throws {
    let lines = HelpScreen(MonitorCommand.self, path: ["monitor"]).lines(isWhole: false)
    for option in ["--region", "--uuid", "--replay", "--exit-after", "--format", "--state-file"] {
      #expect(lines.contains { $0.hasPrefix("  \(option) ") }, "\(option)")
    }
    #expect(!lines.contains { $0.hasPrefix("  --coded") })
  }

  /// The man pages are made from the first, and completions name options in the same way in each shell.
  @Test func whatManPagesAndCompletionsNameIsAccepted() throws {
    let dump = try Command.run("--experimental-dump-help").output
    let pages = try JSONDecoder().decode(Page.Tool.self, from: Data(dump.utf8)).command
    let fish = Beaconscan.completionScript(for: .fish)
    let offers = fish.matches(of: /"beaconscan ([a-z ]+)".*? -l '([a-z-]+)'/)
    for subcommand in WrongInputTests.Subcommand.all where subcommand.path != ["schema"] {
      let accepted = Set(subcommand.options.map(\.name)).union(["help", "version"])
      let page = subcommand.path.reduce(pages) { page, name in
        page?.subcommands?.first { $0.commandName == name }
      }
      #expect(page?.options == accepted, "\(subcommand.path)")
      let path = subcommand.path.joined(separator: " ")
      #expect(Set(offers.filter { $0.1 == path }.map { String($0.2) }) == accepted, "\(path)")
    }
  }

  /// A man page, before it is written.
  private struct Page: Decodable {
    struct Tool: Decodable { var command: Page? }
    struct Argument: Decodable {
      struct Name: Decodable {
        var kind: String
        var name: String
      }
      var names: [Name]?
    }

    var commandName: String
    var subcommands: [Page]?
    var arguments: [Argument]?
    var options: Set<String> {
      Set((arguments ?? []).flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map(\.name))
    }
  }

  @Test func helpIsTheSameInEachForm() throws {
    let short = try Command.run("monitor", "--help")
    #expect(short.status == 0 && short.error.isEmpty)
    #expect(try Command.run("help", "monitor").output == short.output)
    #expect(try Command.run("monitor", "-h").output == short.output)
    let whole = try Command.run("monitor", "--help-all")
    #expect(whole.status == 0 && whole.output.contains("--coded"))
  }
}
