import Foundation

/// A run of a program that stands beside the tests.
package final class ChildRun {
  private let process = Process()
  private let ended = DispatchSemaphore(value: 0)
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
    try withoutBlockedSignals { try compiler.run() }
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else { throw CocoaError(.featureUnsupported) }
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
    process.terminationHandler = { [ended] _ in ended.signal() }
    try withoutBlockedSignals { try process.run() }
  }

  package var identifier: Int32 { process.processIdentifier }

  /// Kills it as the kernel does: it cannot do anything about it.
  package func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    ended.wait()
  }

  /// Waits for its end; what takes more than five minutes is killed, which its status shows.
  package func finish() -> (status: Int32, output: String) {
    if ended.wait(timeout: .now() + 300) == .timedOut {
      kill()
    }
    let isExit = process.terminationReason == .exit
    return (
      isExit ? process.terminationStatus : 128 + process.terminationStatus, remainingOutput
    )
  }

  /// What it printed, when it has ended.
  package var remainingOutput: String {
    let text = (try? output.fileHandleForReading.readToEnd()) ?? Data()
    return String(decoding: text, as: UTF8.self)
  }
}
