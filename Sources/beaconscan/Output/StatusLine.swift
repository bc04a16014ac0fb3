import Glibc
import Records
import Synchronization
import SystemPackage

/// One line on a terminal's standard error that is written over again: how far long work has come.
///
/// Nothing is shown in the first half second, and then five times a second at most.
final class StatusLine: Sendable {
  private let began = SuspendingClock.now
  private let isOver = Atomic<Bool>(false)
  /// When the line was written that is on the terminal; `nil` where none is. A process has one.
  private static let shownAt = Mutex<SuspendingClock.Instant?>(nil)

  private static let patience = Duration.milliseconds(500)
  private static let period = Duration.milliseconds(200)

  /// Creates a line; `nil` where standard error is no terminal.
  init?() {
    guard isScreen(STDERR_FILENO) else { return nil }
  }

  /// Seconds since the work began.
  var elapsed: Double { began.duration(to: .now) / .seconds(1) }

  /// Shows a text, if it is time to.
  func show(_ text: () -> String) {
    let now = SuspendingClock.now
    Self.shownAt.withLock { shownAt in
      guard now - began > Self.patience, now - (shownAt ?? began) > Self.period,
        !isOver.load(ordering: .relaxed)
      else { return }
      shownAt = now
      // A second line could not be written over.
      let width = TerminalSize.of(STDERR_FILENO)?.columns ?? 80
      let line = text().cut(to: width)
      Self.write("\r\u{1B}[K" + (Locale.hasUnicode ? line : line.ascii))
    }
  }

  func clear() { Self.withoutLine {} }

  /// Clears the line; nothing is shown any more, whichever thread asks for it.
  func end() { Self.withoutLine { isOver.store(true, ordering: .relaxed) } }

  /// Clears the line that is on the terminal, and calls a function that writes to it.
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

/// A number that one thread counts and another shows.
final class Counter: Sendable {
  private let number = Atomic<Int>(0)

  var value: Int {
    get { number.load(ordering: .relaxed) }
    set { number.store(newValue, ordering: .relaxed) }
  }
}
