import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct StartedProcessTests {
  private func process(_ arguments: String...) -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    return process
  }

  /// What a child inherits, another test waits for: the end of a pipe, or of a program.
  @Test func aChildHasTheStandardFilesAlone() throws {
    var ends: [Int32] = [-1, -1]
    // The array outlives the call.
    try #require(unsafe pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let process = process("ls", "/proc/self/fd")
    let output = Pipe()
    process.standardOutput = output
    let run = try StartedProcess(process)
    let text = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    // The last one is the directory that is listed.
    #expect(text == "0\n1\n2\n3\n")
    #expect(run.wait() && run.status == 0 && !run.isRunning)
  }

  @Test func aChildIgnoresNoSignal() throws {
    // Two signals are the C library's own.
    let process = process(
      "grep", "-E", "^Sig(Ign|Blk):\t0000000[01][08]0000000$", "/proc/self/status")
    let output = Pipe()
    process.standardOutput = output
    // As some libraries do for the whole process; a write to a closed pipe is an error for the tests too.
    signal(SIGPIPE, SIG_IGN)
    let run = try StartedProcess(process)
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    #expect(String(decoding: text, as: UTF8.self).split(separator: "\n").count == 2)
    run.wait()
  }

  @Test func statuses() throws {
    let failed = try StartedProcess(process("sh", "-c", "exit 3"))
    #expect(failed.wait() && failed.status == 3)
    let sleeping = try StartedProcess(process("sleep", "1000"))
    #expect(!sleeping.wait(limit: 0) && sleeping.isRunning && sleeping.status == -1)
    kill(sleeping.identifier, SIGKILL)
    #expect(sleeping.wait() && sleeping.status == 128 + SIGKILL)
    #expect(throws: POSIXError(.ENOENT)) {
      let process = Process()
      process.executableURL = URL(filePath: "/nowhere")
      _ = try StartedProcess(process)
    }
  }
}
