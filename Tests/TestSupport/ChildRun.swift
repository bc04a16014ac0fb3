import Foundation

/// A run of a program that stands beside the tests.
package final class ChildRun {
  private let process: StartedProcess
  private let output = Pipe()

  /// Where this test's own executable stands, and the helper beside it.
  private static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  /// The library of `Syncs.c`, built once.
  private static let library = Result {
    let library = try Scratch.forProcess["syncs.so"]
    let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Syncs.c")
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = ["clang", "-shared", "-fPIC", "-O1", "-o", library, source.path]
    let run = try StartedProcess(compiler)
    run.wait()
    guard run.status == 0 else { throw CocoaError(.featureUnsupported) }
    return library
  }

  /// Starts a run.
  ///
  /// - Parameters:
  ///   - program: The program's name.
  ///   - arguments: The program's arguments.
  ///   - variables: Variables of its environment.
  ///   - syncs: What a sync does, as `Syncs.c` says; `nil` for a real one.
  ///   - scratch: The working directory.
  /// - Throws: What prevents the start.
  package init(
    _ program: String, _ arguments: [String], _ variables: [String: String] = [:],
    syncs: String? = nil, in scratch: Scratch
  ) throws {
    var environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
    let process = Process()
    process.executableURL = Self.folder.appending(path: program)
    process.arguments = arguments
    process.currentDirectoryURL = scratch.folder
    environment["SWIFT_BACKTRACE"] = "enable=no"
    if let syncs {
      // Beside what the run has already, such as what ThreadSanitizer needs.
      let libraries = [try Self.library.get(), environment["LD_PRELOAD"] ?? ""]
      environment["LD_PRELOAD"] = libraries.filter { !$0.isEmpty }.joined(separator: ":")
      environment["SYNCS"] = syncs
      environment["SYNCS_COPY"] = scratch["copy"]
    }
    process.environment = environment
    process.standardOutput = output
    self.process = try StartedProcess(process)
  }

  package var identifier: Int32 { process.identifier }

  /// Kills it as the kernel does: it cannot do anything about it.
  package func kill() {
    Foundation.kill(process.identifier, SIGKILL)
    process.wait()
  }

  /// Waits for its end; what takes more than five minutes is killed, which its status shows.
  package func finish() -> (status: Int32, output: String) {
    if !process.wait(limit: 300) { kill() }
    return (process.status, remainingOutput)
  }

  /// What it printed, when it has ended.
  package var remainingOutput: String {
    let text = (try? output.fileHandleForReading.readToEnd()) ?? Data()
    return String(decoding: text, as: UTF8.self)
  }
}
