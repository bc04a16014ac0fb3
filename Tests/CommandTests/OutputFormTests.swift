import TestSupport
import Testing

/// Options and variables that decide how results look.
@Suite(.blocking) struct OutputFormTests {
  private static let monitor =
    "beaconscan monitor --uuid \(MonitorRun.visitor) captures/visitor.btsnoop"

  @Test func jsonIsTheFormat() throws {
    let short = try Command.shell("\(Self.monitor) --json")
    let long = try Command.shell("\(Self.monitor) --format json")
    #expect(short.status == 0 && !short.output.isEmpty && short.output == long.output)
  }

  /// Where color is not said, a file has none.
  @Test(arguments: [("", false), ("--color always", true), ("--color never", false)])
  func color(option: String, hasColor: Bool) throws {
    let run = try Command.shell("\(Self.monitor) \(option)")
    #expect(run.output.contains("\u{1B}[") == hasColor)
  }

  /// A terminal has color, unless a variable or its kind forbids it. Where the machine is slow, standard error has progress.
  @Test(arguments: [
    ("TERM=xterm", true), ("TERM=xterm NO_COLOR=1", false), ("TERM=dumb", false),
    ("TERM=dumb NO_COLOR=", false),
  ])
  func terminal(variables: String, hasColor: Bool) throws {
    let run = try Command.shell(
      "script -qec \"stty cols 120; env -u NO_COLOR \(variables) \(Self.monitor) 2> /dev/null\" /dev/null"
    )
    #expect(run.status == 0 && run.output.contains("ENTER"))
    #expect(run.output.contains("\u{1B}[") == hasColor)
  }

  /// A locale without Unicode gets as many columns of ASCII; JSON has UTF-8 always.
  @Test(arguments: ["range", "inspect"])
  func ascii(subcommand: String) throws {
    let line = "beaconscan \(subcommand) captures/visitor.btsnoop"
    let plain = try Command.shell("LC_ALL=C \(line)")
    let unicode = try Command.shell("LC_ALL=C.UTF-8 \(line)")
    #expect(plain.status == 0 && plain.output.utf8.allSatisfy { $0 < 0x80 })
    #expect(!unicode.output.utf8.allSatisfy { $0 < 0x80 })
    #expect(plain.lines.map(\.count) == unicode.lines.map(\.count))
  }
}
