import Dispatch
import Glibc
import Synchronization

/// The user's request to stop: SIGINT, SIGTERM, or SIGHUP of a terminal that closes.
enum Interrupt {
  private static let isHandled = Atomic(false)

  /// Carries out work until it ends, or until the request cancels it. The second request kills.
  /// Inside other such work, this is only the work: the request cancels the outer one.
  static func canceling(_ work: @escaping @Sendable () async throws -> Void) async throws {
    guard !isHandled.exchange(true, ordering: .relaxed) else { return try await work() }
    signal(SIGPIPE, SIG_IGN)
    let task = Task { try await work() }
    let sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        task.cancel()
        signal(number, SIG_DFL)
      }
      source.activate()
      return source
    }
    defer { for source in sources { source.cancel() } }
    try await task.value
  }
}
