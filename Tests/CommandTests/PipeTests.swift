import Foundation
import TestSupport
import Testing

/// Standard input, pipes that close, and pace.
@Suite(.blocking) struct PipeTests {
  private static let scan = "beaconscan scan --format json --replay"

  @Test(arguments: [
    "cat captures/lobby.btsnoop | \(scan) -", "\(scan) - < captures/lobby.btsnoop",
    "gzip -c captures/lobby.btsnoop | \(scan) -",
    "(head -c 3; sleep 0.1; cat) < captures/lobby.btsnoop | \(scan) -",
    "(head -c 1; sleep 0.1; cat) < /dev/null | cat - captures/lobby.btsnoop | \(scan) -",
    "gzip -c captures/lobby.btsnoop | (head -c 1; sleep 0.2; cat) | \(scan) -",
  ])
  func standardInput(line: String) throws {
    let plain = try Command.shell("\(Self.scan) captures/lobby.btsnoop")
    let run = try Command.shell(line)
    #expect(run.status == 0 && run.error.isEmpty)
    let isSame = run.output == plain.output && plain.lines.count == 1636
    #expect(isSame)
  }

  @Test func errorsNameStandardInput() throws {
    let run = try Command.shell("head -c 20000 captures/visitor.btsnoop | \(Self.scan) -")
    #expect(run.status == 65)
    #expect(run.error.hasPrefix("beaconscan: standard input: byte "))
    let gzip = try Command.shell(
      "gzip -c captures/visitor.btsnoop | head -c 5000 | \(Self.scan) -")
    #expect(gzip.status == 65)
    #expect(gzip.error.contains("the gzip data ends too early"))
    #expect(gzip.lines.count > 10)
  }

  /// The reader goes away: nothing is left to be done, and nothing to be said.
  @Test(arguments: [
    "scan --replay captures/lobby.btsnoop", "inspect captures/lobby.btsnoop",
    "scan --replay captures/lobby.btsnoop --format json --speed 100x",
    "range --replay captures/lobby.btsnoop --format csv",
    "monitor --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 --replay captures/lobby.btsnoop",
  ])
  func closedPipe(arguments: String) throws {
    let run = try Command.shell(
      "(beaconscan \(arguments); echo status $? >&2) | head -n 1")
    #expect(run.lines.count == 1)
    #expect(run.error == "status 0\n")
  }

  /// A source that goes on is a service: it is to be started again with its reader.
  @Test func closedPipeOfAService() throws {
    let run = try Command.shell(
      """
      (beaconscan scan --follow --replay captures/lobby.btsnoop --format json; echo status $? >&2) \
        | head -n 1
      """)
    #expect(run.lines.count == 1)
    #expect(
      run.error
        == "beaconscan: standard output: the program that read it has closed it; start both again\n"
        + "status 74\n")
  }

  /// The program that gives the token may keep the pipe open. What it gives here is refused.
  @Test func aTokenIsALineOfAPipeThatStaysOpen() throws {
    let scratch = try Scratch()
    let run = try Command.shell(
      """
      mkfifo '\(scratch.path("token").path)'; exec 3<> '\(scratch.path("token").path)'; echo >&3
      beaconscan serve --replay captures/visitor.btsnoop --token-file '\(scratch.path("token").path)'
      """)
    #expect(run.status == 65 && run.error.contains("token"), "\(run.error)")
  }

  /// Where no screen can be redrawn, a line for each beacon of a report comes with the report.
  @Test func reportsComeLineByLine() throws {
    let recording = Command.capture("visitor.btsnoop")
    let run = try Running("range", "--speed", "1x", "--utc", "--replay", recording)
    try run.wait { run.output.contains("1      1  near") }
    #expect(run.output.hasPrefix("TIME  ") && !run.output.contains("SIGHTINGS"), "\(run.output)")
    run.interrupt()
    let parts = try run.finish().output.split(separator: "\n\n")
    #expect(parts.count == 2 && parts.last?.contains("SIGHTINGS") == true)
    let scratch = try Scratch()
    let dumb = try Command.shell(
      "TERM=dumb script -qec 'beaconscan range --speed 100x --duration 9 --replay \(recording)' x",
      in: scratch.folder)
    #expect(dumb.output.contains("  near  ") && dumb.output.contains("SIGHTINGS"), "\(dumb)")
    // A replay that is not paced has only the table at the end.
    let plain = try Command.run("range", "--replay", recording)
    #expect(plain.lines.count == 4 && !plain.output.contains("TIME"))
  }

  /// A pipe between two of our own.
  @Test func simulateIntoScan() throws {
    let run = try Command.shell(
      "beaconscan simulate captures/visitor.json --output - | \(Self.scan) -")
    #expect(run.status == 0 && run.lines.count == 1113)
  }

  /// A paced replay takes its time: 3 s of the recording at ten times its speed.
  @Test func pace() throws {
    let begin = ContinuousClock.now
    let run = try Command.shell(
      "\(Self.scan) captures/visitor.btsnoop --speed 10x --duration 3")
    let paced = begin.duration(to: .now)
    #expect(run.status == 0)
    #expect(paced >= .milliseconds(250))
    let unpaced = try Command.shell("\(Self.scan) captures/visitor.btsnoop --duration 3")
    let isSame = run.output == unpaced.output && !run.lines.isEmpty
    #expect(isSame)
  }
}
