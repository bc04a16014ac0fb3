import Foundation
import TestSupport
import Testing

/// A terminal in which a command runs: a window of a tmux server of its own.
final class Terminal {
  private let scratch: Scratch
  private(set) var columns: Int

  /// Runs a line of shell with `beaconscan` on the path, in a window of a size.
  init(_ script: String, columns: Int, rows: Int, zone: String = "UTC") throws {
    scratch = try Scratch()
    self.columns = columns
    _ = try scratch.file(
      "script",
      """
      export TZ=\(zone) PATH='\(Command.folder.path)':"$PATH" LC_ALL=C.UTF-8
      unset NO_COLOR
      trap : INT QUIT
      \(script)
      echo ended >'\(scratch.path("ended").path)'
      exec sleep 1000
      """)
    try tmux(
      "-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)",
      "-c", Command.root.path, "sh '\(scratch.path("script").path)'")
  }

  deinit { _ = try? tmux("kill-server") }

  /// The lines that the window shows, those joined that the terminal wrapped.
  func screen() throws -> [String] {
    var lines = try tmux("capture-pane", "-p", "-J").split(
      separator: "\n", omittingEmptySubsequences: false
    ).map { line in
      String(line.reversed().drop { $0 == " " }.reversed())
    }
    while lines.last == "" { lines.removeLast() }
    return lines
  }

  /// The device of the window.
  var device: String {
    get throws {
      try tmux("display-message", "-p", "#{pane_tty}").trimmingCharacters(
        in: .whitespacesAndNewlines)
    }
  }

  /// Whether the script has come to its end.
  var hasEnded: Bool { FileManager.default.fileExists(atPath: scratch.path("ended").path) }

  /// Waits until the script has come to its end.
  func finish() throws {
    let ends = eventually { hasEnded }
    try #require(ends, "it does not end")
  }

  /// Presses keys, by tmux's names.
  func press(_ keys: String...) throws { try tmux(["send-keys"] + keys) }

  func resize(columns: Int, rows: Int) throws {
    self.columns = columns
    try tmux("resize-window", "-x", "\(columns)", "-y", "\(rows)")
  }

  /// Waits until what is shown meets a condition, and returns it; where it should be still, it was the same at two looks:
  /// while a table is drawn anew, parts of both can be seen.
  @discardableResult
  func wait(isStill: Bool = false, until condition: ([String]) -> Bool) throws -> [String] {
    var lines: [String] = []
    let holds = try eventually {
      let before = lines
      lines = try screen()
      return condition(lines) && (!isStill || lines == before)
    }
    try #require(holds, "it was not shown: \(lines.joined(separator: "\n"))")
    return lines
  }

  @discardableResult
  private func tmux(_ arguments: String...) throws -> String { try tmux(arguments) }

  @discardableResult
  private func tmux(_ arguments: [String]) throws -> String {
    // Foundation knows that a process has ended by a descriptor that tmux's server would hold open.
    let script = """
      for fd in $(ls /proc/self/fd); do [ "$fd" -lt 3 ] || eval "exec $fd>&-"; done
      exec env LC_ALL=C.UTF-8 tmux -u -S "$0" "$@"
      """
    let run = try Running(
      URL(filePath: "/bin/bash"), ["-c", script, scratch.path("tmux").path] + arguments
    ).finish()
    try #require(run.status == 0, "tmux \(arguments): install tmux: \(run.error)")
    return run.output
  }
}
