import Glibc
import SystemPackage

/// One line on a terminal's standard error that is written over again: how far long work has come.
///
/// Nothing is shown in the first half second, and then five times a second at most.
final class StatusLine {
  private let began = MonotonicClock.now()
  private var shownAt: Int64 = 0

  private static let patience: Int64 = 500_000_000
  private static let period: Int64 = 200_000_000

  /// Makes a line; `nil` where standard error is no terminal.
  init?() {
    guard isatty(STDERR_FILENO) == 1 else { return nil }
  }

  /// Seconds since the work began.
  var elapsed: Double { Double(MonotonicClock.now() - began) / 1e9 }

  /// Shows a text, if it is time to.
  func show(_ text: () -> String) {
    let now = MonotonicClock.now()
    guard now - began > Self.patience, now - shownAt > Self.period else { return }
    shownAt = now
    write("\r\u{1B}[K" + text())
  }

  /// Takes the line away.
  func clear() {
    guard shownAt > 0 else { return }
    shownAt = 0
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) {
    _ = try? FileDescriptor.standardError.writeAll(text.utf8)
  }
}
