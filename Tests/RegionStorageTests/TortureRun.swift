import Foundation
import Testing

/// A run of `region-store-torture`.
final class TortureRun {
  private let process = Process()
  private let ended = DispatchSemaphore(value: 0)
  private let output = Pipe()

  /// Where this test's own executable stands, and the helper beside it.
  private static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  init(_ arguments: String...) throws {
    var environment = ProcessInfo.processInfo.environment
    // Another build of it, such as an optimised one.
    let helper = environment["REGION_STORE_TORTURE"].map { URL(filePath: $0) }
    process.executableURL = helper ?? Self.folder.appending(path: "region-store-torture")
    process.arguments = arguments
    environment["SWIFT_BACKTRACE"] = "enable=no"
    process.environment = environment
    process.standardOutput = output
    process.terminationHandler = { [ended] _ in ended.signal() }
    try process.run()
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
    let text = (try? output.fileHandleForReading.readToEnd()) ?? Data()
    let isExit = process.terminationReason == .exit
    return (
      isExit ? process.terminationStatus : 128 + process.terminationStatus,
      String(decoding: text, as: UTF8.self)
    )
  }
}
