import Glibc
import Records
import Scanning
import Synchronization
import SystemPackage

/// Lines on a terminal that are drawn over again: when there is something new, when the terminal gets another size,
/// and when the user presses a key.
final class LiveScreen: Sendable {
  /// Returns the lines, none wider than the size allows and no more than its rows, in the order that the user wants;
  /// `nil` where they have not pressed a key.
  typealias Scene = @Sendable (_ size: TerminalSize, _ order: RowOrder?) -> [String]

  private struct State {
    var scene: Scene?
    var order: RowOrder?
    var linesDrawn = 0
    /// Why the last frame could not be written.
    var failure: (any Error)?
  }

  private let file: FileDescriptor
  private let state: Mutex<State>
  private let keys = Mutex<TerminalKeys?>(nil)
  /// Whether keys change the order.
  private let hasKeys: Bool

  /// Creates a screen on standard output, with an order until a key changes it. Keys are read where standard input and
  /// output are a terminal.
  init(_ output: StandardOutput, order: RowOrder? = nil) {
    output.flushesLines = false
    file = output.file
    state = Mutex(State(order: order))
    hasKeys = output.isTerminal && isatty(STDIN_FILENO) == 1
    guard output.isTerminal else { return }
    keys.withLock { keys in
      keys = TerminalKeys(readsKeys: hasKeys) { [weak self] event in self?.handle(event) }
    }
  }

  deinit { keys.withLock { $0 }?.stop() }

  /// What the keys do, for the first line, the longest text first; none where there are no keys.
  var hints: [String] {
    hasKeys ? ["keys: d distance, n name, l last seen, q quit", "keys: d n l q"] : []
  }

  /// Draws a scene in place of the one before, which is drawn again where the size or the order changes.
  func draw(_ scene: @escaping Scene) throws {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      state.scene = scene
      redraw(&state)
      if let failure = state.failure { throw failure }
    }
  }

  private func handle(_ event: TerminalKeys.Event) {
    if case .key(UInt8(ascii: "q")) = event {
      // As Ctrl-C does.
      kill(getpid(), SIGINT)
      return
    }
    state.withLock { state in
      switch event {
      case .key(let key):
        guard let order = RowOrder.allCases.first(where: { $0.key == key }) else { return }
        state.order = order
      // Where the lines stand now depends on the terminal.
      case .resized: state.linesDrawn = -1
      // The shell has written below them.
      case .resumed: state.linesDrawn = 0
      }
      redraw(&state)
    }
  }

  private func redraw(_ state: inout State) {
    guard let scene = state.scene else { return }
    let size = TerminalSize.current ?? TerminalSize(rows: 24, columns: 80)
    // The cursor stands below the last line. What does not fit would scroll, and could not be drawn over.
    let lines = scene(TerminalSize(rows: size.rows - 1, columns: size.columns), state.order)
      .prefix(max(1, size.rows - 1))
    var frame =
      state.linesDrawn > 0
      ? "\u{1B}[\(state.linesDrawn)A\r" : state.linesDrawn < 0 ? "\u{1B}[H" : ""
    // Each line is cleared before it is written: after a full one the cursor stands on its last column.
    for line in lines {
      let isColored = line.contains("\u{1B}")
      frame += "\u{1B}[K" + (isColored ? line : line.printable.cut(to: size.columns)) + "\n"
    }
    frame += "\u{1B}[J"
    state.linesDrawn = lines.count
    if !Locale.hasUnicode { frame = frame.ascii }
    do {
      try file.writeAll(frame.utf8)
    } catch Errno.brokenPipe {
      state.failure = ClosedPipe()
    } catch {
      state.failure = CommandError(.ioError, "standard output: cannot write (\(error))")
    }
  }
}

/// The order of the rows of a live table.
enum RowOrder: String, CaseIterable, Sendable {
  case distance, name, last, rssi, count

  /// The key that chooses it.
  var key: UInt8 { rawValue.utf8.first ?? 0 }
}

/// The size of a terminal.
struct TerminalSize: Sendable {
  var rows: Int
  var columns: Int

  /// The size of the terminal on standard output; `nil` where it is not known.
  static var current: TerminalSize? { of(STDOUT_FILENO) }

  static func of(_ descriptor: Int32) -> TerminalSize? {
    var size = winsize()
    // The kernel fills the structure that the request is for.
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0
    else { return nil }
    return TerminalSize(rows: Int(size.ws_row), columns: Int(size.ws_col))
  }
}
