import Dispatch
import Foundation
import TestSupport
import Testing

/// The result of a run of a program.
struct Run {
  var status: Int32
  var output: String
  var error: String

  /// Lines of standard output.
  var lines: [Substring] { output.split(separator: "\n") }

  /// Standard output as JSON lines.
  func json() throws -> [[String: Any]] {
    try lines.map { line in
      try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
  }
}

/// The command as a user runs it: the built binary, its own process.
enum Command {
  /// The project's root.
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Where this test's own executable stands, and `beaconscan` beside it.
  static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  /// Runs `beaconscan` to its end.
  static func run(_ arguments: String..., in place: URL = root) throws -> Run {
    try finish(folder.appending(path: "beaconscan"), arguments, in: place)
  }

  /// Runs `beaconscan` to its end.
  static func run(_ arguments: [String]) throws -> Run {
    try finish(folder.appending(path: "beaconscan"), arguments, in: root)
  }

  /// Runs a line of shell, with `beaconscan` on the path.
  static func shell(_ script: String, in place: URL = root) throws -> Run {
    try finish(URL(filePath: "/bin/sh"), ["-c", script], in: place)
  }

  private static func finish(
    _ program: URL, _ arguments: [String], in place: URL
  ) throws -> Run {
    let running = try Running(program, arguments, in: place)
    return try running.finish()
  }

  /// The truth of a recording that ships, as its scenario makes it.
  static func truth(_ name: String) throws -> [Substring] {
    let run = try run(
      "simulate", capture("\(name).json"), "--output", "/dev/null", "--truth", "-")
    try #require(run.status == 0, "\(run.error)")
    return run.lines
  }

  /// A recording that ships.
  static func capture(_ name: String) -> String {
    root.appending(path: "captures/\(name)").path
  }
}

/// A program that runs. What it writes goes to files, so that no pipe can fill.
final class Running {
  private let process: StartedProcess
  private let arguments: [String]
  private let scratch: Scratch

  init(_ program: URL, _ arguments: [String], in place: URL = Command.root) throws {
    scratch = try Scratch()
    self.arguments = arguments
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.currentDirectoryURL = place
    var environment = ProcessInfo.processInfo.environment
    environment["PATH"] = Command.folder.path + ":" + (environment["PATH"] ?? "/usr/bin:/bin")
    environment["LC_ALL"] = "C.UTF-8"
    // A crash must be a status, not a long report.
    environment["SWIFT_BACKTRACE"] = "enable=no"
    // The developer's configuration is not the tests', and none can be written below a file.
    environment["XDG_CONFIG_HOME"] = "/dev/null"
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: scratch.file("output"))
    process.standardError = try FileHandle(forWritingTo: scratch.file("error"))
    self.process = try StartedProcess(process)
  }

  /// Its process.
  var identifier: Int32 { process.identifier }

  /// Starts `beaconscan`.
  convenience init(_ arguments: String...) throws {
    try self.init(Command.folder.appending(path: "beaconscan"), arguments)
  }

  /// What it has written to standard output so far.
  var output: String {
    (try? String(contentsOf: scratch.path("output"), encoding: .utf8)) ?? ""
  }

  /// Waits until a condition holds.
  func wait(until condition: () -> Bool) throws {
    let holds = eventually(condition)
    try #require(holds, "it did not come: \(output.suffix(200))")
  }

  /// Waits until it handles interrupts.
  func waitForSignalHandler() throws {
    try wait {
      let path = "/proc/\(process.identifier)/status"
      guard let status = try? String(contentsOfFile: path, encoding: .utf8),
        let line = status.split(separator: "\n").first(where: { $0.hasPrefix("SigCgt:") }),
        let mask = UInt64(line.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16)
      else { return false }
      return mask & 2 != 0
    }
  }

  /// Sends SIGINT.
  func interrupt() {
    kill(process.identifier, SIGINT)
  }

  /// Waits for its end. What takes minutes even on a busy machine is killed and is a failure.
  func finish(limit: Double = 300) throws -> Run {
    if !process.wait(limit: limit) {
      kill(process.identifier, SIGKILL)
      process.wait()
      Issue.record("killed after \(limit) s: \(arguments)")
    }
    return Run(
      status: process.status, output: output,
      error: try String(contentsOf: scratch.path("error"), encoding: .utf8))
  }
}
