import Glibc
import Records
import Synchronization
import SystemPackage

/// A progress line on standard error that is rewritten in place. It appears after half a second,
/// and changes at most five times a second.
final class StatusLine: Sendable {
  private let began = SuspendingClock.now
  private let isOver = Atomic<Bool>(false)
  /// The time of the visible line, or `nil` without one. A process has only one.
  private static let shownAt = Mutex<SuspendingClock.Instant?>(nil)

  private static let patience = Duration.milliseconds(500)
  private static let period = Duration.milliseconds(200)

  init?() {
    guard isScreen(STDERR_FILENO) else { return nil }
  }

  var elapsed: Double { began.duration(to: .now) / .seconds(1) }

  func show(_ text: () -> String) {
    let now = SuspendingClock.now
    Self.shownAt.withLock { shownAt in
      guard now - began > Self.patience, now - (shownAt ?? began) > Self.period,
        !isOver.load(ordering: .relaxed)
      else { return }
      shownAt = now
      // A wrapped line could not be rewritten.
      let width = TerminalSize.of(STDERR_FILENO)?.columns ?? 80
      let line = text().cut(to: width)
      Self.write("\r\u{1B}[K" + (Locale.hasUnicode ? line : line.ascii))
    }
  }

  func clear() { Self.withoutLine {} }

  /// Clears the line for good, also for other threads.
  func end() { Self.withoutLine { isOver.store(true, ordering: .relaxed) } }

  /// Clears the visible line, and calls a function that writes to the terminal.
  static func withoutLine<Failure: Error>(
    _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    try shownAt.withLock { shownAt throws(Failure) in
      if shownAt != nil { write("\r\u{1B}[K") }
      shownAt = nil
      try body()
    }
  }

  private static func write(_ text: String) {
    _ = try? FileDescriptor.standardError.writeAll(text.utf8)
  }
}
