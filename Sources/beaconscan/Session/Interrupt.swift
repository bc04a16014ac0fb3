import Dispatch
import Glibc
import Scanning
import Synchronization

/// The user's request to stop. The first interrupt ends the work cleanly, the second kills.
enum Interrupt {
  static var isRequested: Bool { interruptRequested.load(ordering: .relaxed) }

  /// The descriptor that is readable after a request, to poll beside others.
  static var descriptor: Int32 { interruptSignal.descriptor }

  static func onRequest(_ body: @escaping @Sendable () -> Void) -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(
      fileDescriptor: interruptSignal.descriptor, queue: .global())
    source.setEventHandler {
      // Otherwise the source would fire forever.
      interruptSignal.reset()
      body()
    }
    source.activate()
    return source
  }

  static func request() async {
    let (requests, continuation) = AsyncStream.makeStream(of: Void.self)
    let source = onRequest { continuation.yield() }
    defer { source.cancel() }
    // The request may have preceded the source.
    if isRequested { return }
    for await _ in requests { break }
  }

  /// Calls a function that may wait for its input, such as a pipe without a writer. Meanwhile an
  /// interrupt ends the process, since nothing was done yet.
  static func endingAtOnce<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // The order ensures that this function or the handler sees what the other one stored.
    endsAtOnce.store(true, ordering: .sequentiallyConsistent)
    if interruptRequested.load(ordering: .sequentiallyConsistent) { endAtOnce() }
    defer { endsAtOnce.store(false, ordering: .relaxed) }
    return try body()
  }

  /// Handles SIGINT, SIGTERM, SIGQUIT, and SIGHUP unless `nohup` ignores it, since a controller
  /// continues to scan and advertise after its program ends. Writes to a closed pipe fail instead
  /// of ending the process.
  static func install() {
    // The signal is created here, not in a handler.
    interruptSignal.reset()
    endsAtOnce.store(false, ordering: .relaxed)
    signal(SIGINT, recordInterrupt)
    signal(SIGTERM, recordInterrupt)
    signal(SIGQUIT, recordInterrupt)
    signal(SIGPIPE, SIG_IGN)
    let before = signal(SIGHUP, recordInterrupt)
    // SIG_IGN is the number 1, not a function, so numbers are compared.
    if unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
      signal(SIGHUP, SIG_IGN)
    }
  }
}

private let interruptRequested = Atomic<Bool>(false)
private let interruptSignal = WakeSignal()
private let endsAtOnce = Atomic<Bool>(false)

/// A signal handler. It stores to an atomic, writes a byte, and restores the terminal's mode and a
/// default, all of which handlers may do.
private func recordInterrupt(_ number: Int32) {
  interruptRequested.store(true, ordering: .sequentiallyConsistent)
  if endsAtOnce.load(ordering: .sequentiallyConsistent) { endAtOnce() }
  interruptSignal.send()
  // The second signal ends the process.
  TerminalMode.leave()
  signal(number, SIG_DFL)
}

/// Ends the process with a message. It only calls functions that signal handlers may call.
private func endAtOnce() -> Never {
  let sentence: StaticString = "beaconscan: interrupted while it waited for its input\n"
  // The string is a constant of the program.
  _ = unsafe write(STDERR_FILENO, sentence.utf8Start, sentence.utf8CodeUnitCount)
  _exit(CommandError.Status.interrupted.rawValue)
}
