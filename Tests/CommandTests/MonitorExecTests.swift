import Foundation
import TestSupport
import Testing

/// `beaconscan monitor --exec`: a command on each event.
@Suite(.blocking) struct MonitorExecTests {
  private static let regions =
    "--region kiosk=\(MonitorRun.visitor):1:100 --region nobody=\(MonitorRun.visitor):9"
  private static let replay = "--replay '\(Command.capture("visitor.btsnoop"))'"

  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  private func monitor(_ options: String, exec: String) throws -> Run {
    _ = try scratch.file("command", exec)
    return try Command.shell(
      "beaconscan monitor \(Self.regions) \(Self.replay) \(options) --exec \"$(cat command)\"",
      in: scratch.folder)
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: scratch.path(name), encoding: .utf8)
  }

  /// In order, each with its line and its environment, and all done at the end.
  @Test(arguments: ["--speed max", "--speed 50x"])
  func orderInputAndEnvironment(speed: String) throws {
    let run = try monitor(
      "\(speed) --format json",
      exec: """
        cat >> lines
        b() { eval echo "\\${BEACONSCAN_$1-none}"; }
        echo "$(b TYPE) $(b STATE) $(b REGION) $(b DWELL) $(b RULE) $(b MAJOR) $(b MINOR) $(b RSSI)" >> told
        echo "$(b TIME) $(b UUID)" >> more
        """)
    #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
    let lines = try text("lines").split(separator: "\n")
    #expect(lines.count == 5 && lines == run.lines.dropLast(2))
    #expect(
      try text("told") == """
        state outside kiosk none request none none none
        state outside nobody none request none none none
        enter inside kiosk none sighting 1 100 -86
        state outside nobody none start none none none
        exit outside kiosk 78.272 exitTimeout 1 100 -79

        """)
    #expect(
      try text("more") == """
        2026-01-15T09:00:00.000000Z none
        2026-01-15T09:00:00.000000Z none
        2026-01-15T09:00:05.043068Z \(MonitorRun.visitor)
        2026-01-15T09:00:30.000000Z none
        2026-01-15T09:01:23.314854Z \(MonitorRun.visitor)

        """)
  }

  /// What it prints is not among our results; one that fails is said, and the next event comes.
  @Test func outputAndFailure() throws {
    let run = try monitor(
      "--format csv", exec: "echo hello; [ $BEACONSCAN_TYPE != exit ] || kill $$; exit 3")
    #expect(run.status == 0 && run.lines.count == 6)
    let error = run.error.split(separator: "\n")
    try #require(error.count == 10)
    #expect(error.filter { $0 == "hello" }.count == 5)
    #expect(
      error[5] == """
        beaconscan: --exec: the command ended with status 3 (enter of 'kiosk', \
        2026-01-15T09:00:05.043068Z)
        """)
    #expect(error.last?.contains("the command was ended by signal 15 (exit of 'kiosk'") == true)
  }

  /// What the shell finds is run, whatever it is.
  @Test(arguments: [
    "  if true; then :; fi", "X=1 env", "f() { :; }; f", "[ 1 ]", "\"$(which env)\"", "true",
  ])
  func startsWithAnything(exec: String) throws {
    let run = try monitor("--quiet", exec: exec)
    #expect(run.status == 0, "\(run.error)")
  }

  /// A command that closes its input does no harm.
  @Test func unreadInput() throws {
    let run = try Command.shell(
      """
      beaconscan monitor --region "$(head -c 4000 /dev/zero | tr '\\0' a)=\(MonitorRun.visitor)" \
        \(Self.replay) --format json --exec 'exec <&-; sleep 0.1'
      """)
    #expect(run.status == 0 && run.error.isEmpty && run.lines.count == 3)
  }

  /// A command that hangs does not stop monitoring; what waits is run when it is done.
  @Test func hanging() throws {
    let script = """
      beaconscan monitor \(Self.regions) \(Self.replay) --speed 50x --exec '
        until [ -e go ]; do sleep 0.02; done; echo $BEACONSCAN_TYPE >> done' > told & monitor=$!
      for _ in $(seq 6000); do grep -q EXIT told && break; sleep 0.02; done
      grep -c 'ENTER\\|EXIT' told; [ -e done ] && echo too early
      touch go; wait $monitor; echo "status $?"; cat done
      """
    let run = try Command.shell(script, in: scratch.folder)
    #expect(
      run.output == "2\nstatus 0\nstate\nstate\nenter\nstate\nexit\n", "\(run.output)\(run.error)")
  }

  /// An interrupt waits for the command that runs, and says what was not run.
  @Test func interrupt() throws {
    let script = """
      beaconscan monitor \(Self.regions) \(Self.replay) --follow --exec '
        touch began; until [ -e go ]; do sleep 0.02; done; echo $BEACONSCAN_TYPE >> done' > told &
      monitor=$!
      until [ -e began ] && grep -q EXIT told; do sleep 0.02; done
      kill -TERM $monitor; sleep 0.3; touch go; wait $monitor; echo "status $?"; cat done
      """
    let run = try Command.shell(script, in: scratch.folder)
    #expect(run.output == "status 0\nstate\n", "\(run.output)")
    #expect(run.error == "beaconscan: --exec: the command was not run on 4 events\n")
  }
}
