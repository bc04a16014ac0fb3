import Glibc
import SystemPackage

/// Standard output, or another file, in a buffer of 64 KiB.
final class StandardOutput {
  /// Whether a person looks at it, on a terminal that can move its cursor.
  let isTerminal: Bool
  /// Whether there is color; where that is not said, a person has it who has not set `NO_COLOR`
  /// (<https://no-color.org>).
  func hasColor(_ choice: ColorChoice = .auto) -> Bool {
    guard choice == .auto else { return choice == .always }
    guard isTerminal, let setting = unsafe getenv("NO_COLOR") else { return isTerminal }
    return unsafe setting.pointee == 0
  }
  /// Whether each line goes out at once: on a terminal, and where events come as they happen.
  var flushesLines: Bool
  private(set) var hasWritten = false

  private var buffer: [UInt8] = []
  private let file: FileDescriptor
  private static let capacity = 64 * 1024

  init(_ file: FileDescriptor = .standardOutput) {
    self.file = file
    isTerminal = isScreen(file.rawValue)
    flushesLines = isTerminal
    buffer.reserveCapacity(Self.capacity + 4096)
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
      try file.writeAll(buffer)
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
/// A line may quote a file's name or a scenario's text: no control character of theirs reaches the terminal.
func printError(_ line: String) {
  let harmless = String(
    line.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : Character($0) })
  _ = try? FileDescriptor.standardError.writeAll((harmless + "\n").utf8)
}
