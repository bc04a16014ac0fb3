import Glibc

/// How much a terminal shows.
struct TerminalSize {
  var rows: Int
  var columns: Int

  /// The size of the terminal on standard output, or 24 × 80 where it is not known.
  static var current: TerminalSize {
    var size = winsize()
    // The kernel fills the structure that the request is for.
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else {
      return TerminalSize(rows: 24, columns: 80)
    }
    return TerminalSize(rows: Int(size.ws_row), columns: Int(size.ws_col))
  }
}
