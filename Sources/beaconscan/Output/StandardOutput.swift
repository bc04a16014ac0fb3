import Glibc
import Records
import SystemPackage

/// Standard output, or another file, in a buffer of 64 KiB.
final class StandardOutput {
  /// Whether a person looks at it, on a terminal that can move its cursor.
  let isTerminal: Bool
  /// Whether there is color; where that is not said, a person has it who has not set `NO_COLOR`
  /// (<https://no-color.org>).
  var hasColor: Bool {
    guard color == .auto else { return color == .always }
    guard isTerminal, let setting = unsafe getenv("NO_COLOR") else { return isTerminal }
    return unsafe setting.pointee == 0
  }
  /// Whether each line goes out at once: on a terminal, and where events come as they happen.
  var flushesLines: Bool
  /// The zone of the times in tables.
  private(set) var zone = ClockZone.local
  private var color = ColorChoice.auto
  /// Whether only ASCII is written: tables of a locale that has no other characters.
  private var isASCII = false
  /// The header of the table whose lines are written; another one is written where the terminal's width changes.
  var header: String?
  private(set) var hasWritten = false

  private var buffer: [UInt8] = []
  let file: FileDescriptor
  private static let capacity = 64 * 1024

  /// The number of columns that a table may have: that of the terminal; `nil` elsewhere, where nothing is cut.
  var width: Int? { isTerminal ? TerminalSize.current?.columns : nil }

  init(_ file: FileDescriptor = .standardOutput) {
    self.file = file
    isTerminal = isScreen(file.rawValue)
    flushesLines = isTerminal
    buffer.reserveCapacity(Self.capacity + 4096)
  }

  /// Uses the options of a subcommand.
  func apply(_ form: FormatOptions) {
    zone = form.zone
    color = form.color
    isASCII = form.format == .table && !Locale.hasUnicode
  }

  func write(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    try written()
  }

  /// Writes what a closure appends.
  func write(_ append: (inout [UInt8]) -> Void) throws {
    append(&buffer)
    try written()
  }

  /// Sends everything on.
  ///
  /// - Throws: ``ClosedPipe`` where nobody reads any more, else ``CommandError``.
  func flush() throws {
    guard !buffer.isEmpty else { return }
    defer { buffer.removeAll(keepingCapacity: true) }
    do {
      let bytes =
        isASCII ? Array(String(decoding: buffer, as: UTF8.self).ascii.utf8) : buffer
      if isTerminal {
        try StatusLine.withoutLine { _ = try file.writeAll(bytes) }
      } else {
        try file.writeAll(bytes)
      }
    } catch Errno.brokenPipe {
      throw ClosedPipe()
    } catch {
      throw CommandError(.ioError, "standard output: cannot write (\(error))")
    }
  }

  private func written() throws {
    hasWritten = true
    if flushesLines || buffer.count >= Self.capacity { try flush() }
  }
}

/// Returns whether a file is a terminal that can move its cursor, which one with `TERM=dumb` cannot.
func isScreen(_ file: CInt) -> Bool {
  guard isatty(file) == 1 else { return false }
  // The value is compared before the environment can change.
  return unsafe getenv("TERM").map { unsafe strcmp($0, "dumb") != 0 } ?? true
}

/// Writes a line to standard error. What cannot be written there is lost.
///
/// A line may quote a file's name or a scenario's text: no control character of theirs reaches the terminal, and of a
/// very long one the middle is left out.
func printError(_ line: String) {
  var harmless = line.printable
  if harmless.utf8.count > 4096 { harmless = "\(harmless.prefix(512)) … \(harmless.suffix(512))" }
  if !Locale.hasUnicode { harmless = harmless.ascii }
  StatusLine.withoutLine {
    _ = try? FileDescriptor.standardError.writeAll((harmless + "\n").utf8)
  }
}
