import Foundation
import TestSupport
import Testing

/// `beaconscan monitor --state-file`: what is known outlives the process.
@Suite(.blocking) struct MonitorStateTests {
  private static let kiosk = ["--region", "kiosk=\(MonitorRun.visitor):1:100"]

  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  /// Runs it in the scratch directory.
  private func monitor(_ recording: String, _ arguments: [String] = kiosk) throws -> MonitorRun {
    try MonitorRun(
      ["--replay", recording, "--state-file", "state"] + arguments, in: scratch.folder)
  }

  private func split(after seconds: Int, to names: (String, String)) throws {
    let parts = try Recording.split("visitor.btsnoop", after: seconds)
    _ = try scratch.file(names.0, parts.head)
    _ = try scratch.file(names.1, parts.tail)
  }

  /// A crossing is told once, and the dwell counts from the run before.
  @Test func goesOn() throws {
    try split(after: 40, to: ("first", "second"))
    let first = try monitor("first")
    #expect(first.events.map(\.type) == ["enter"])
    let second = try monitor("second")
    #expect(second.run.status == 0 && second.run.error.isEmpty)
    let times = try second.run.json().compactMap { $0["time"] as? String }
    #expect(times == times.sorted(), "states first")
    try #require(second.events.map(\.type) == ["state", "exit"])
    #expect(second.events[0].state == "inside")
    let dwell = try #require(second.events[1].dwell)
    #expect(abs(dwell - (second.events[1].time - first.events[0].time)) < 0.001)
    let whole = try MonitorRun(["--replay", Command.capture("visitor.btsnoop")] + Self.kiosk)
    #expect(whole.crossings.map(\.time) == [first.events[0].time, second.events[1].time])
  }

  /// Who left meanwhile is told once, and only when it is sure.
  @Test func leftMeanwhile() throws {
    try split(after: 40, to: ("first", "rest"))
    try split(after: 85, to: ("most", "last"))
    let rules = Self.kiosk + ["--exit-after", "5"]
    #expect(try monitor("first", rules).crossings.map(\.type) == ["enter"])
    let gone = try monitor("last", rules)
    let event = try #require(gone.events.first)
    #expect(gone.events.count == 1 && event.type == "exit" && event.rule == "start")
    #expect(abs(event.time - (9 * 3600 + 90)) < 0.5)
    #expect(try monitor("last", rules).crossings.isEmpty)
  }

  /// Killed at any moment, what was written is not told again.
  @Test func killed() throws {
    try split(after: 40, to: ("first", "second"))
    let script = """
      beaconscan monitor --follow --format json --replay first --state-file state \
        \(Self.kiosk.joined(separator: " ")) > told & monitor=$!
      until grep -q enter told; do sleep 0.02; done
      beaconscan monitor --replay second --state-file state \(Self.kiosk.joined(separator: " "))
      echo "status $?"
      # What was told is recorded as told while the threads work, which they do late on a busy machine.
      until ! grep -h State: /proc/$monitor/task/*/status | grep -q '[RD] (' ; do sleep 0.1; done
      kill -KILL $monitor; wait $monitor
      """
    let busy = try Command.shell(script, in: scratch.folder)
    #expect(busy.output == "status 73\n")
    #expect(busy.error.contains("uses this file; stop it first"))
    let second = try monitor("second")
    #expect(
      second.events.map(\.type) == ["state", "exit"], "\(second.events) \(second.run.error)")
  }

  /// Two regions are entered at one moment; who has enough after the first leaves the other.
  @Test func enoughInTheMiddle() throws {
    let regions = ["a", "b"].flatMap { ["--region", "\($0)=\(MonitorRun.visitor):1:1"] }
    var told: [String] = []
    for _ in 0..<3 {
      let run = try monitor(Command.capture("visitor.btsnoop"), regions + ["--count", "1"])
      #expect(run.run.status == 0)
      told += run.crossings.map { "\($0.type) \($0.region)" }
    }
    #expect(told == ["enter a", "enter b"])
  }

  @Test func otherRegions() throws {
    let visitor = Command.capture("visitor.btsnoop")
    let old = ["--region", "old=\(MonitorRun.visitor):1:2"]
    _ = try monitor(visitor, Self.kiosk + old + ["--duration", "40"])
    // Other rules for the same beacons: the state stays.
    let fewer = try monitor(visitor, Self.kiosk + ["--exit-after", "20", "--duration", "40"])
    #expect(fewer.run.error.contains("'old', which is not named any more"))
    try #require(fewer.events.map(\.type) == ["state"])
    #expect(fewer.events[0].state == "inside")
    // Other beacons of the same name: it begins anew.
    let other = try monitor(visitor, ["--region", "kiosk=\(MonitorRun.visitor):1:1"])
    #expect(other.run.error.isEmpty)
    #expect(other.events.map(\.type) == ["enter"])
  }

  @Test func cannotBeKept() throws {
    let told = try MonitorRun(
      Self.kiosk + [
        "--replay", Command.capture("visitor.btsnoop"), "--state-file", "/dev/null/state",
      ])
    #expect(told.run.status == 73 && told.run.output.isEmpty)
    #expect(told.run.error.hasPrefix("beaconscan: /dev/null/state"))
    #expect(told.run.error.split(separator: "\n").count == 1)
  }
}
