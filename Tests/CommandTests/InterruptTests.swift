import Foundation
import TestSupport
import Testing

/// Ctrl-C: a clean end after something was done, 130 before.
@Suite(.blocking) struct InterruptTests {
  @Test(arguments: ["json", "csv", "table"])
  func afterSightings(format: String) throws {
    let running = try Running(
      "scan", "--follow", "--format", format, "--replay", Command.capture("visitor.btsnoop"))
    let expected = format == "json" ? 1113 : 1114
    try running.wait { running.output.split(separator: "\n").count == expected }
    running.interrupt()
    let run = try running.finish()
    #expect(run.status == 0 && run.error.isEmpty)
    #expect(run.lines.count == expected)
  }

  /// Whatever the format: a header is not yet a sighting.
  @Test(arguments: ["scan", "range"], ["json", "csv", "table"])
  func beforeAny(subcommand: String, format: String) throws {
    let scratch = try Scratch()
    let header = try scratch.file("header", try Recording.head(16))
    let running = try Running(
      subcommand, "--follow", "--format", format, "--replay", header.path)
    try running.waitForSignalHandler()
    usleep(200_000)
    running.interrupt()
    let run = try running.finish()
    #expect(run.status == 130)
    // It may not have opened the recording by then.
    let sentences = [
      "beaconscan: interrupted before anything was received\n",
      "beaconscan: interrupted while it waited for its input\n",
    ]
    #expect(sentences.contains(run.error), "\(run.error)")
  }

  /// A pipe that nothing has opened for writing is waited for, until an interrupt.
  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil,
      "ThreadSanitizer calls a signal's handler only when the pipe is open"),
    arguments: [
      ["scan"], ["range", "--config"], ["monitor", "--uuid", MonitorRun.visitor, "--replay"],
      ["simulate", "--output", "-"],
      ["serve", "--replay", Command.capture("visitor.btsnoop"), "--token-file"],
    ])
  func whileAPipeIsOpened(arguments: [String]) throws {
    let scratch = try Scratch()
    let pipe = scratch.path("pipe").path
    let made = unsafe mkfifo(pipe, 0o600)
    try #require(made == 0)
    let running = try Running(
      Command.folder.appending(path: "beaconscan"), arguments + [pipe])
    // Whether it waits for the pipe by now or not.
    try running.waitForSignalHandler()
    running.interrupt()
    let run = try running.finish()
    #expect(run.status == 130 && run.output.isEmpty)
    #expect(run.error == "beaconscan: interrupted while it waited for its input\n")
  }

  @Test func rangeAfterReports() throws {
    let running = try Running(
      "range", "--follow", "--format", "json", "--replay", Command.capture("visitor.btsnoop"))
    try running.wait { running.output.split(separator: "\n").count > 50 }
    running.interrupt()
    let run = try running.finish()
    #expect(run.status == 0 && run.error.isEmpty)
    #expect(try run.json().last?["type"] as? String == "summary")
  }

  @Test func monitorAfterEvents() throws {
    let running = try Running(
      "monitor", "--follow", "--format", "json", "--uuid", MonitorRun.visitor, "--replay",
      Command.capture("visitor.btsnoop"))
    try running.wait { running.output.contains("enter") }
    running.interrupt()
    let run = try running.finish()
    #expect(run.status == 0 && run.error.isEmpty)
    #expect(try run.json().last?["type"] as? String == "summary")
  }

  @Test func whilePaced() throws {
    let running = try Running(
      "scan", "--speed", "1x", "--format", "json", "--replay", Command.capture("lobby.btsnoop"))
    try running.wait { !running.output.isEmpty }
    running.interrupt()
    let run = try running.finish()
    #expect(run.status == 0 && run.error.isEmpty)
    #expect(run.lines.count < 1636)
  }

  /// What was read ahead was not shown.
  @Test(arguments: [["lobby.btsnoop"], ["lobby.btsnoop", "visitor.btsnoop"]])
  func whilePacedCountsWhatWasShown(recordings: [String]) throws {
    let running = try Running(
      Command.folder.appending(path: "beaconscan"),
      ["range", "--speed", "2x", "--format", "json"]
        + recordings.flatMap { ["--replay", Command.capture($0)] })
    try running.wait { running.output.split(separator: "\n").count > 3 }
    running.interrupt()
    let objects = try running.finish().json()
    let shown = objects.compactMap { $0["beacons"] as? [[String: Any]] }.joined()
      .reduce(0) { $0 + ($1["sightings"] as? Int ?? 0) }
    let counted = try #require(objects.last?["sightings"] as? Int)
    // Those since the last report were not shown yet, which are those of a second at most.
    #expect(counted >= shown && counted < shown + 60, "\(counted), \(shown)")
    #expect(try #require(objects.last?["packets"] as? Int) >= counted)
  }

  /// A pipe that nobody writes to must not keep an interrupt waiting.
  @Test func silentPipe() throws {
    let scratch = try Scratch()
    let script = """
      mkfifo pipe; exec 3<>pipe
      beaconscan scan --format json --replay - <pipe 3<&- & scan=$!
      until grep -q '^SigCgt:.*[2367abef]$' /proc/$scan/status; do sleep 0.05; done
      sleep 0.2; kill -INT $scan
      (for _ in $(seq 1200); do sleep 0.1; kill -0 $scan || exit; done; kill -KILL $scan) 2>&- &
      wait $scan
      """
    let run = try Command.shell(script, in: scratch.folder)
    #expect(run.status == 130)
  }
}
