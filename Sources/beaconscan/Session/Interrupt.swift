import Dispatch
import Glibc
import Scanning
import Synchronization

/// Whether the user asked to stop. The first interrupt ends the work cleanly; a second kills.
enum Interrupt {
  static var isRequested: Bool { interruptRequested.load(ordering: .relaxed) }

  /// Calls a function once the user has asked to stop, until the returned source is canceled.
  static func onRequest(_ body: @escaping @Sendable () -> Void) -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(
      fileDescriptor: interruptSignal.descriptor, queue: .global())
    source.setEventHandler {
      // Otherwise it could be read for ever.
      interruptSignal.reset()
      body()
    }
    source.activate()
    return source
  }

  /// Handles SIGINT, SIGTERM and SIGQUIT, and SIGHUP unless `nohup` has it ignored: a controller goes on scanning and
  /// advertising when its program is gone. Lets writes to a closed pipe fail instead of killing the process.
  static func install() {
    // It is created here, not in a handler.
    interruptSignal.reset()
    signal(SIGINT, recordInterrupt)
    signal(SIGTERM, recordInterrupt)
    signal(SIGQUIT, recordInterrupt)
    signal(SIGPIPE, SIG_IGN)
    let before = signal(SIGHUP, recordInterrupt)
    // SIG_IGN is no function but the number 1; the two are compared as numbers.
    if unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
      signal(SIGHUP, SIG_IGN)
    }
  }
}

private let interruptRequested = Atomic<Bool>(false)
private let interruptSignal = WakeSignal()

/// A signal's handler: it only stores to an atomic, writes a byte and restores the terminal's mode and a default, which handlers may.
private func recordInterrupt(_ number: Int32) {
  interruptRequested.store(true, ordering: .relaxed)
  interruptSignal.send()
  // A second one kills.
  TerminalMode.leave()
  signal(number, SIG_DFL)
}
