import Foundation
import TestSupport
import Testing

/// `beaconscan monitor --each`, and rules of a region's own.
@Suite(.blocking) struct EachCommandTests {
  private static let replay = ["--replay", Command.capture("visitor.btsnoop")]

  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  /// `enter 100, 3`: what happened to which minor, and how many are inside.
  private func describe(_ events: [MonitorRun.Event]) -> [String] {
    events.map { event in
      "\(event.type) \(event.minor.map { "\($0)" } ?? "-"), "
        + (event.beacons.map { "\($0)" } ?? "-")
    }
  }

  /// Two beacons are always there; without --each they hide the visitor.
  @Test func showsTheVisitor() throws {
    let plain = try MonitorRun(["--uuid", MonitorRun.visitor] + Self.replay)
    #expect(describe(plain.events) == ["enter 1, 1"])
    let each = try MonitorRun(["--each", "--uuid", MonitorRun.visitor] + Self.replay)
    #expect(describe(each.events) == ["enter 1, 1", "enter 2, 2", "enter 100, 3", "exit 100, 2"])
    #expect(each.events[3].dwell.map { abs($0 - 78.272) < 0.001 } == true)
    let alone = try MonitorRun(["--region", "v=\(MonitorRun.visitor):1:100"] + Self.replay)
    #expect(each.events.suffix(2).map(\.time) == alone.events.map(\.time))
  }

  @Test func table() throws {
    let run = try Command.run(
      ["monitor", "--each", "--region", "lobby=\(MonitorRun.visitor)"] + Self.replay)
    #expect(run.status == 0 && run.lines.count == 5)
    #expect(run.lines[3].contains("ENTER  lobby ") && run.lines[3].contains(" 1:100 "))
    #expect(run.lines[4].contains("EXIT   lobby ") && run.lines[4].contains("78.3 s  1:100 "))
  }

  /// Each beacon's state outlives the process: those that are still there are no entries, and the dwell counts from
  /// the run before. The first lines are the states.
  @Test func restart() throws {
    let parts = try Recording.split("visitor.btsnoop", after: 40)
    _ = try scratch.file("first", parts.head)
    _ = try scratch.file("second", parts.tail)
    func monitor(_ recording: String, _ more: String...) throws -> MonitorRun {
      try MonitorRun(
        ["--replay", recording, "--state-file", "state", "--uuid", MonitorRun.visitor, "--each"]
          + more,
        in: scratch.folder)
    }
    let first = try monitor("first")
    #expect(describe(first.starts) == ["state -, 0"])
    #expect(describe(first.events) == ["enter 1, 1", "enter 2, 2", "enter 100, 3"])
    let second = try monitor("second")
    #expect(describe(second.starts) == ["state -, 3", "state 1, 3", "state 2, 3", "state 100, 3"])
    #expect(second.starts.allSatisfy { $0.state == "inside" })
    #expect(
      describe(second.events).sorted() == [
        "exit 100, 2", "state 1, 3", "state 100, 3", "state 2, 3",
      ])
    let exit = try #require(second.events.last)
    #expect(
      exit.type == "exit" && abs(exit.time - first.events[2].time - (exit.dwell ?? 0)) < 0.001)
    // Other rules for the same beacons: they stay inside. Those that do not come have left.
    let third = try monitor("first", "--exit-after", "20")
    #expect(describe(third.starts) == ["state -, 2", "state 1, 2", "state 2, 2"])
    #expect(describe(third.events) == ["state 1, 2", "state 2, 2", "enter 100, 3"])
    let head = try Recording.head(16)
    _ = try scratch.file("none", head)
    // Without --each, the region keeps its state, and loses its beacons.
    let plain = try MonitorRun(
      ["--replay", "second", "--state-file", "state", "--uuid", MonitorRun.visitor],
      in: scratch.folder)
    #expect(describe(plain.starts) == ["state -, -"])
    #expect(plain.events.map(\.type) == ["state"] && plain.events[0].beacons == 1)
    // Now it is not known with whom it is inside: those that come at first were there.
    let again = try monitor("first")
    #expect(describe(again.starts) == ["state -, -"])
    #expect(Set(describe(again.events)) == ["state 1, 1", "state 2, 2", "state 100, 3"])
  }

  /// Killed at any moment, who was reported inside does not enter again.
  @Test func killed() throws {
    let parts = try Recording.split("visitor.btsnoop", after: 40)
    _ = try scratch.file("first", parts.head)
    _ = try scratch.file("second", parts.tail)
    let script = """
      beaconscan monitor --each --uuid \(MonitorRun.visitor) --follow --format json --replay first \
        --state-file state > told & monitor=$!
      until [ "$(grep -c enter told)" = 3 ]; do sleep 0.02; done
      kill -KILL $monitor; wait $monitor 2>/dev/null
      beaconscan monitor --each --uuid \(MonitorRun.visitor) --format csv --replay second \
        --state-file state | cut -d, -f2,10 | tail -n +6 | sort
      """
    let run = try Command.shell(script, in: scratch.folder)
    #expect(run.output == "exit,100\nstate,1\nstate,100\nstate,2\n", "\(run.output)")
  }

  /// Rules behind a region are its own; the options are those of the others, and its own limits replace all limits.
  @Test func ownRules() throws {
    let visitor = "\(MonitorRun.visitor):1:100"
    func times(_ arguments: String...) throws -> [String: [Double]] {
      Dictionary(
        grouping: try MonitorRun(arguments + Self.replay).crossings, by: \.region
      ).mapValues { $0.map(\.time) }
    }
    let far = try times("--region", "all=\(visitor)")
    let near = try times(
      "--enter-distance", "1", "--exit-distance", "3", "--region", "all=\(visitor)")
    let late = try times("--exit-after", "10", "--region", "all=\(visitor)")
    let mixed = try times(
      "--boundary", "-50", "--region", "near=\(visitor),enter-distance=1,exit-distance=3",
      "--region", "far=\(visitor),enter-rssi=-128", "--region", "level=\(visitor)")
    #expect(mixed["near"] == near["all"] && mixed["far"]?.first != mixed["level"]?.first)
    let level = try times("--boundary=-50", "--region", "all=\(visitor)")
    #expect(mixed["level"] == level["all"] && level["all"] != near["all"])
    let timeouts = try times(
      "--exit-after", "1m", "--region", "a=\(visitor),exit-after=adaptive", "--region",
      "b=\(visitor),exit-after=10s,enter-count=1/1", "--region", "c=\(visitor)")
    #expect(timeouts["a"] == far["all"] && timeouts["b"] == late["all"])
    #expect(timeouts["c"]?.count == 1)
    let each = try MonitorRun(
      ["--region", "one=\(MonitorRun.visitor),each", "--region", "whole=\(MonitorRun.visitor)"]
        + Self.replay)
    #expect(each.crossings.count { $0.region == "one" } == 4)
    #expect(each.crossings.count { $0.region == "whole" } == 1)
    // The reason is that of the region's own rules.
    let run = try Command.run(
      ["monitor", "--dwell", "9", "--region", "d=\(visitor),dwell=5s"] + Self.replay)
    #expect(run.output.contains("received for 5 s"))
  }
}
