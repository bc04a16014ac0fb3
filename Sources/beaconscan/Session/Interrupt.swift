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

  /// Waits until the user has asked to stop, or the task is canceled.
  static func request() async {
    let (requests, continuation) = AsyncStream.makeStream(of: Void.self)
    let source = onRequest { continuation.yield() }
    defer { source.cancel() }
    // It may have come before.
    if isRequested { return }
    for await _ in requests { break }
  }

  /// Calls a function that may wait for its input, such as a pipe that has no writer yet. An interrupt meanwhile ends the
  /// process: nothing was done yet.
  static func endingAtOnce<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Of this and the handler, one at least sees what the other one stored.
    endsAtOnce.store(true, ordering: .sequentiallyConsistent)
    if interruptRequested.load(ordering: .sequentiallyConsistent) { endAtOnce() }
    defer { endsAtOnce.store(false, ordering: .relaxed) }
    return try body()
  }

  /// Handles SIGINT, SIGTERM and SIGQUIT, and SIGHUP unless `nohup` has it ignored: a controller goes on scanning and
  /// advertising when its program is gone. Lets writes to a closed pipe fail instead of killing the process.
  static func install() {
    // It is created here, not in a handler.
    interruptSignal.reset()
    endsAtOnce.store(false, ordering: .relaxed)
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
private let endsAtOnce = Atomic<Bool>(false)

/// A signal's handler: it only stores to an atomic, writes a byte and restores the terminal's mode and a default, which handlers may.
private func recordInterrupt(_ number: Int32) {
  interruptRequested.store(true, ordering: .sequentiallyConsistent)
  if endsAtOnce.load(ordering: .sequentiallyConsistent) { endAtOnce() }
  interruptSignal.send()
  // A second one kills.
  TerminalMode.leave()
  signal(number, SIG_DFL)
}

/// Ends the process with a sentence. It only calls what a signal's handler may.
private func endAtOnce() -> Never {
  let sentence: StaticString = "beaconscan: interrupted while it waited for its input\n"
  // The string is a constant of the program.
  _ = unsafe write(STDERR_FILENO, sentence.utf8Start, sentence.utf8CodeUnitCount)
  _exit(CommandError.Status.interrupted.rawValue)
}
