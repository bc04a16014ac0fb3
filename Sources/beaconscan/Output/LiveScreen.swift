import Glibc
import Records
import Scanning
import Synchronization
import SystemPackage

/// Lines on a terminal that are redrawn for new content, another size, and keys of the user.
final class LiveScreen: Sendable {
  /// Returns lines that fit a size, in an order that is `nil` until the user chooses one.
  typealias Scene = @Sendable (_ size: TerminalSize, _ order: RowOrder?) -> [String]

  private struct State {
    var scene: Scene?
    var order: RowOrder?
    var linesDrawn = 0
    var failure: (any Error)?
  }

  private let file: FileDescriptor
  private let state: Mutex<State>
  private let keys = Mutex<TerminalKeys?>(nil)
  private let hasKeys: Bool

  /// Creates a screen. It reads keys if standard input and output are terminals.
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

  /// The descriptions of the keys, longest first; empty without keys.
  var hints: [String] {
    hasKeys ? ["keys: d distance, n name, l last seen, q quit", "keys: d n l q"] : []
  }

  func draw(_ scene: @escaping Scene) throws {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      state.scene = scene
      redraw(&state)
      if let failure = state.failure { throw failure }
    }
  }

  /// Removes the lines, so that other output takes their place.
  func clear() throws {
    try state.withLock { state in
      state.scene = nil
      guard state.linesDrawn != 0 else { return }
      let top = state.linesDrawn > 0 ? "\u{1B}[\(state.linesDrawn)A\r" : "\u{1B}[H"
      state.linesDrawn = 0
      try file.writeResults((top + "\u{1B}[J").utf8)
    }
  }

  private func handle(_ event: TerminalKeys.Event) {
    if case .key(UInt8(ascii: "q")) = event {
      // The effect is that of Ctrl-C.
      kill(getpid(), SIGINT)
      return
    }
    state.withLock { state in
      switch event {
      case .key(let key):
        guard let order = RowOrder.allCases.first(where: { $0.key == key }) else { return }
        state.order = order
      // The terminal decides where the lines are now.
      case .resized: state.linesDrawn = -1
      // The shell has written below the lines.
      case .resumed: state.linesDrawn = 0
      }
      redraw(&state)
    }
  }

  private func redraw(_ state: inout State) {
    guard let scene = state.scene else { return }
    let size = TerminalSize.current ?? TerminalSize(rows: 24, columns: 80)
    // The cursor is below the last line. Longer frames would scroll and could not be redrawn.
    let lines = scene(TerminalSize(rows: size.rows - 1, columns: size.columns), state.order)
      .prefix(max(1, size.rows - 1))
    var frame =
      state.linesDrawn > 0
      ? "\u{1B}[\(state.linesDrawn)A\r" : state.linesDrawn < 0 ? "\u{1B}[H" : ""
    // Lines are cleared before writing, since a full line leaves the cursor in its last column.
    for line in lines {
      let isColored = line.contains("\u{1B}")
      frame += "\u{1B}[K" + (isColored ? line : line.printable.cut(to: size.columns)) + "\n"
    }
    frame += "\u{1B}[J"
    state.linesDrawn = lines.count
    if !Locale.hasUnicode { frame = frame.ascii }
    do { try file.writeResults(frame.utf8) } catch { state.failure = error }
  }
}

extension String {
  /// Returns a screen's title with its time and the longest description of the keys that fits, for
  /// which the date is left out where it must be.
  static func title(
    _ text: String, at time: WallClockTime?, _ zone: ClockZone, _ hints: [String], width: Int
  ) -> String {
    let whole = (time.map { zone.text($0) + "  " } ?? "") + text
    let short = (time.map { zone.clock($0) + "  " } ?? "") + text
    let titles = hints.map { "\(whole)  \($0)" } + hints.map { "\(short)  \($0)" } + [whole, short]
    return titles.first { $0.columns <= width } ?? short
  }
}

enum RowOrder: String, CaseIterable, Sendable {
  case distance, name, last, rssi, count

  var key: UInt8 { rawValue.utf8.first ?? 0 }
}

struct TerminalSize: Sendable {
  var rows: Int
  var columns: Int

  static var current: TerminalSize? { of(STDOUT_FILENO) }

  static func of(_ descriptor: Int32) -> TerminalSize? {
    var size = winsize()
    // The kernel fills the structure that belongs to this request.
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0
    else { return nil }
    return TerminalSize(rows: Int(size.ws_row), columns: Int(size.ws_col))
  }
}
