package import Foundation

/// A program that a test has started.
package final class StartedProcess {
  private let process: Process
  private let ended = DispatchSemaphore(value: 0)

  /// Starts a program.
  package init(_ process: Process) throws {
    self.process = process
    process.terminationHandler = { [ended] _ in ended.signal() }
    try withoutBlockedSignals { try process.run() }
  }

  package var identifier: Int32 { process.processIdentifier }
  package var isRunning: Bool { process.isRunning }

  /// Its status, or 128 and the signal that ended it, once ``wait(limit:)`` has returned `true`.
  package var status: Int32 {
    process.terminationReason == .exit
      ? process.terminationStatus : 128 + process.terminationStatus
  }

  /// Waits for its end, at most for a number of seconds.
  ///
  /// - Returns: Whether it has ended.
  @discardableResult
  package func wait(limit: Double = .infinity) -> Bool {
    let until = limit.isFinite ? DispatchTime.now() + limit : .distantFuture
    guard ended.wait(timeout: until) == .success else { return false }
    ended.signal()
    // Without it, Foundation keeps each process and its open files for ever: the run loop of the thread that started
    // it, which does not run, refers to them.
    process.waitUntilExit()
    return true
  }
}

/// Starts a process with no signal blocked: a child inherits what the thread that starts it blocks, and the
/// threads of a pool block signals.
private func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
  var none = sigset_t()
  var before = sigset_t()
  // The sets outlive the calls.
  unsafe sigemptyset(&none)
  unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
  defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
  try body()
}
