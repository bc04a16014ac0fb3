import Dispatch
import Glibc
import Scanning
import Synchronization

/// Watches a terminal: keys that are pressed, another size, and the return to the foreground.
///
/// Keys come one by one and are not shown while it watches. The terminal's mode is restored by ``stop()``, by `exit`, and
/// by every signal that ends or stops the process and can be handled.
final class TerminalKeys: Sendable {
  enum Event: Sendable {
    case key(UInt8)
    case resized
    /// The process was stopped, and runs again.
    case resumed
  }

  private let isStopped = Atomic<Bool>(false)

  /// Starts to watch; the closure is called on another thread.
  init(readsKeys: Bool, _ report: @escaping @Sendable (Event) -> Void) {
    // It is created here, not in a handler.
    terminalSignal.reset()
    signal(SIGWINCH, recordResize)
    if readsKeys {
      _ = restoresAtExit
      TerminalMode.enter()
    }
    DispatchQueue(label: "beaconscan.keys").async { [self] in
      watch(readsKeys: readsKeys, report)
    }
  }

  /// Stops watching, and restores the terminal.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    signal(SIGWINCH, SIG_DFL)
    TerminalMode.leave()
    terminalSignal.send()
  }

  private func watch(readsKeys: Bool, _ report: (Event) -> Void) {
    var readsKeys = readsKeys
    while !isStopped.load(ordering: .acquiring) {
      // A key is read in the foreground only: in the background that would stop the process.
      let isForeground = readsKeys && TerminalMode.isForeground
      var entries = [
        pollfd(fd: terminalSignal.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: isForeground ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
      ]
      // The array outlives the call.
      _ = unsafe poll(&entries, 2, readsKeys && !isForeground ? 500 : -1)
      if entries[0].revents != 0 {
        terminalSignal.reset()
        guard !isStopped.load(ordering: .acquiring) else { return }
        if wasResumed.exchange(false, ordering: .relaxed) {
          if readsKeys { TerminalMode.enter() }
          report(.resumed)
        }
        if wasResized.exchange(false, ordering: .relaxed) { report(.resized) }
      }
      guard entries[1].revents != 0, TerminalMode.isForeground else { continue }
      var key: UInt8 = 0
      // The byte outlives the call.
      if unsafe read(STDIN_FILENO, &key, 1) == 1 { report(.key(key)) } else { readsKeys = false }
    }
  }
}

/// The mode of the terminal on standard input: keys come one by one, or as lines.
enum TerminalMode {
  /// Whether this process may read keys.
  static var isForeground: Bool { tcgetpgrp(STDIN_FILENO) == getpgrp() }

  /// Lets keys come one by one, in the foreground.
  static func enter() {
    guard isForeground, !isEntered.load(ordering: .acquiring) else { return }
    var mode = termios()
    // The kernel fills the structure, and reads it below.
    guard unsafe tcgetattr(STDIN_FILENO, &mode) == 0 else { return }
    unsafe savedMode.initialize(to: mode)
    // Signals are still sent by their keys, and output is as it was.
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    isEntered.store(true, ordering: .releasing)
    signal(SIGTSTP, recordStop)
    signal(SIGCONT, recordContinue)
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &mode)
  }

  /// Restores the mode that was before; handlers of signals may call it.
  static func leave() {
    guard isEntered.exchange(false, ordering: .acquiringAndReleasing), isForeground else { return }
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, savedMode)
  }
}

/// The mode to restore: it is written before ``isEntered`` is set, and read after that was taken away. It is not a variable:
/// the compiler gives one that begins as `termios()` 57 bytes, without the padding, for a structure of 60.
nonisolated(unsafe) private let savedMode = UnsafeMutablePointer<termios>.allocate(capacity: 1)
private let isEntered = Atomic<Bool>(false)
private let wasResized = Atomic<Bool>(false)
private let wasResumed = Atomic<Bool>(false)
private let terminalSignal = WakeSignal()
private let restoresAtExit: Int32 = atexit { TerminalMode.leave() }

// Handlers of signals: they store to atomics, write a byte, set the terminal's mode and send a signal, which handlers may.

private func recordResize(_ number: Int32) {
  wasResized.store(true, ordering: .relaxed)
  terminalSignal.send()
}

private func recordStop(_ number: Int32) {
  TerminalMode.leave()
  signal(SIGTSTP, SIG_DFL)
  // It arrives when the handler has returned.
  kill(getpid(), SIGTSTP)
}

private func recordContinue(_ number: Int32) {
  wasResumed.store(true, ordering: .relaxed)
  terminalSignal.send()
}
