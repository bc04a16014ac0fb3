import Glibc
import Records
import SystemPackage

/// Standard output or another file, with a buffer of 64 KiB.
final class StandardOutput {
  let isTerminal: Bool
  /// Whether to use color: by default on a terminal without `NO_COLOR` (<https://no-color.org>).
  var hasColor: Bool {
    guard color == .auto else { return color == .always }
    guard isTerminal, let setting = unsafe getenv("NO_COLOR") else { return isTerminal }
    return unsafe setting.pointee == 0
  }
  /// Whether to write each line at once: on a terminal, and for events in real time.
  var flushesLines: Bool
  private(set) var zone = ClockZone.local
  private var color = ColorChoice.auto
  /// Whether to write ASCII only: for tables, if the locale has no other characters.
  private var isASCII = false
  /// The last header of a table written line by line. A new terminal width may require another.
  var header: String?
  private(set) var hasWritten = false

  private var buffer: [UInt8] = []
  let file: FileDescriptor
  private static let capacity = 64 * 1024

  /// The columns of the terminal, or `nil` for other files, where nothing is cut.
  var width: Int? { isTerminal ? TerminalSize.current?.columns : nil }

  init(_ file: FileDescriptor = .standardOutput) {
    self.file = file
    isTerminal = isScreen(file.rawValue)
    flushesLines = isTerminal
    buffer.reserveCapacity(Self.capacity + 4096)
  }

  func apply(_ form: FormatOptions, _ zone: ClockZone = .local) {
    self.zone = zone
    color = form.color
    isASCII = form.format == .table && !Locale.hasUnicode
  }

  func write(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    try written()
  }

  func write(_ append: (inout [UInt8]) -> Void) throws {
    append(&buffer)
    try written()
  }

  /// Writes the buffer to the file. Throws ``ClosedPipe`` if the reader has gone.
  func flush() throws {
    guard !buffer.isEmpty else { return }
    defer { buffer.removeAll(keepingCapacity: true) }
    let bytes = isASCII ? Array(String(decoding: buffer, as: UTF8.self).ascii.utf8) : buffer
    if isTerminal {
      try StatusLine.withoutLine { try file.writeResults(bytes) }
    } else {
      try file.writeResults(bytes)
    }
  }

  private func written() throws {
    hasWritten = true
    if flushesLines || buffer.count >= Self.capacity { try flush() }
  }
}

extension FileDescriptor {
  func writeResults(_ bytes: some Sequence<UInt8>) throws {
    do {
      try writeAll(bytes)
    } catch Errno.brokenPipe {
      throw ClosedPipe()
    } catch {
      throw CommandError(.ioError, "standard output: cannot write (\(error))")
    }
  }
}

/// Returns whether a file is a terminal that can move its cursor, unlike one with `TERM=dumb`.
func isScreen(_ file: CInt) -> Bool {
  guard isatty(file) == 1 else { return false }
  // The value is compared before the environment can change.
  return unsafe getenv("TERM").map { unsafe strcmp($0, "dumb") != 0 } ?? true
}

/// Writes a line to standard error, and ignores failures. Since it may quote foreign text, control
/// characters are replaced, and the middle of a very long line is omitted.
func printError(_ line: String) {
  var harmless = line.printable
  if harmless.utf8.count > 4096 { harmless = "\(harmless.prefix(512)) … \(harmless.suffix(512))" }
  if !Locale.hasUnicode { harmless = harmless.ascii }
  StatusLine.withoutLine {
    _ = try? FileDescriptor.standardError.writeAll((harmless + "\n").utf8)
  }
}
