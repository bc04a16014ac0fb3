import Foundation
import TestSupport
import Testing

/// A run of `storage-torture`.
final class TortureRun {
  private let process = Process()
  private let ended = DispatchSemaphore(value: 0)
  private let output = Pipe()

  /// Where this test's own executable stands, and the helper beside it.
  private static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  /// The library of `Syncs.c`, built once.
  private static let library = Result {
    let library = folder.appending(path: "storage-syncs-\(getpid()).so").path
    let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Syncs.c")
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = ["clang", "-shared", "-fPIC", "-O1", "-o", library, source.path]
    try withoutBlockedSignals { try compiler.run() }
    compiler.waitUntilExit()
    try #require(compiler.terminationStatus == 0)
    return library
  }

  /// Starts a run.
  ///
  /// - Parameters:
  ///   - arguments: The helper's arguments.
  ///   - syncs: What a sync does, as `Syncs.c` says; `nil` for a real one.
  ///   - scratch: The working directory.
  /// - Throws: What prevents the start.
  init(_ arguments: String..., syncs: String? = nil, in scratch: Scratch) throws {
    var environment = ProcessInfo.processInfo.environment
    // Another build of it, such as an optimized one.
    let helper = environment["STORAGE_TORTURE"].map { URL(filePath: $0) }
    process.executableURL = helper ?? Self.folder.appending(path: "storage-torture")
    process.arguments = arguments
    process.currentDirectoryURL = scratch.folder
    environment["SWIFT_BACKTRACE"] = "enable=no"
    if let syncs {
      environment["LD_PRELOAD"] = try Self.library.get()
      environment["SYNCS"] = syncs
      environment["SYNCS_COPY"] = scratch["copy"]
    }
    process.environment = environment
    process.standardOutput = output
    process.terminationHandler = { [ended] _ in ended.signal() }
    try withoutBlockedSignals { try process.run() }
  }

  var identifier: Int32 { process.processIdentifier }

  /// Kills it as the kernel does: it cannot do anything about it.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    ended.wait()
  }

  /// Waits for its end; what takes more than five minutes is killed.
  func finish() -> (status: Int32, output: String) {
    if ended.wait(timeout: .now() + 300) == .timedOut {
      kill()
      Issue.record("killed after five minutes: \(process.arguments ?? [])")
    }
    let isExit = process.terminationReason == .exit
    return (
      isExit ? process.terminationStatus : 128 + process.terminationStatus, remainingOutput
    )
  }

  /// What it printed, when it has ended.
  var remainingOutput: String {
    let text = (try? output.fileHandleForReading.readToEnd()) ?? Data()
    return String(decoding: text, as: UTF8.self)
  }
}
