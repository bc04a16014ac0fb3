import Foundation
import TestSupport
import Testing

/// A process that a test starts. What it writes to standard error goes to a file, so that no pipe can fill.
final class Child {
  /// Where its standard output goes.
  enum Output {
    /// Into a file, to be read at the end.
    case file
    /// Into a file of the test's own.
    case path(String)
    /// Through a pipe, to be read as it comes.
    case pipe(Pipe)
  }

  let folder: URL
  private let process: StartedProcess
  private let arguments: [String]
  private var status: Int32?

  init(
    _ program: String, _ arguments: [String], input: Pipe? = nil, output: Output
  ) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "guest-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    self.arguments = arguments
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.currentDirectoryURL = Guest.root
    var environment = ProcessInfo.processInfo.environment
    let path = environment["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin"
    environment["PATH"] = Guest.root.appending(path: ".build/guest/built").path + ":" + path
    // What the command keeps of its regions is this child's alone.
    environment["XDG_STATE_HOME"] = folder.path
    process.environment = environment
    process.standardInput = input ?? FileHandle.nullDevice
    switch output {
    case .file: process.standardOutput = try Self.write(folder.appending(path: "output").path)
    case .path(let path): process.standardOutput = try Self.write(path)
    case .pipe(let pipe): process.standardOutput = pipe
    }
    process.standardError = try Self.write(folder.appending(path: "error").path)
    self.process = try StartedProcess(process)
  }

  deinit {
    if status == nil {
      send(SIGTERM)
      process.wait(limit: 10)
    }
    try? FileManager.default.removeItem(at: folder)
  }

  private static func write(_ path: String) throws -> FileHandle {
    try Data().write(to: URL(filePath: path))
    return try #require(FileHandle(forWritingAtPath: path))
  }

  var id: Int32 { process.identifier }
  var isRunning: Bool { process.isRunning }

  /// What it has written to standard output, where that is a file.
  var output: String { text("output") }
  /// What it has written to standard error.
  var error: String { text("error") }

  private func text(_ name: String) -> String {
    (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
  }

  /// Sends a signal.
  func send(_ signal: Int32) {
    if process.isRunning { kill(id, signal) }
  }

  /// Waits for its end; what takes too long is killed and is a failure.
  ///
  /// - Returns: Its status, or 128 and the signal that ended it.
  @discardableResult
  func finish(limit: Double = Guest.patience) -> Int32 {
    if let status { return status }
    if !process.wait(limit: limit) {
      kill(id, SIGKILL)
      // A process that still holds what it inherited keeps Foundation from noticing the end.
      guard process.wait(limit: 30) else {
        Issue.record("left something running: \(arguments)")
        status = -1
        return -1
      }
      Issue.record("killed after \(limit) s: \(arguments)\n\(error)")
    }
    status = process.status
    return process.status
  }
}
