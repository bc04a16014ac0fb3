import Glibc

/// Lines on a terminal that are drawn over again.
struct LiveScreen {
  private let output: StandardOutput
  private var linesDrawn = 0

  init(_ output: StandardOutput) {
    self.output = output
    output.flushesLines = false
  }

  /// Draws lines in place of those before; what is too wide is cut. A closure adds what occupies no column, such as
  /// color, to the line of a number.
  mutating func draw(
    _ lines: [String], decorate: (_ number: Int, _ text: String) -> String = { $1 }
  ) throws {
    // What does not fit would scroll, and could not be drawn over.
    var lines = lines
    let size = terminalSize()
    if lines.count > size.rows - 1 {
      let hidden = lines.count - (size.rows - 2)
      lines = lines.prefix(size.rows - 2) + ["and \(hidden) lines more"]
    }
    // Up to the first line drawn before, then each line over the old one, then clear what is left.
    var frame = linesDrawn > 0 ? "\u{1B}[\(linesDrawn)A\r" : ""
    for (number, line) in lines.enumerated() {
      frame += decorate(number, String(line.prefix(size.columns))) + "\u{1B}[K\n"
    }
    frame += "\u{1B}[J"
    linesDrawn = lines.count
    try output.write(frame)
    try output.flush()
  }
}

/// Returns the size of the terminal on standard output, or 24 × 80 where it is not known.
func terminalSize() -> (rows: Int, columns: Int) {
  var size = winsize()
  // The kernel fills the structure that the request is for.
  guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else {
    return (24, 80)
  }
  return (Int(size.ws_row), Int(size.ws_col))
}
