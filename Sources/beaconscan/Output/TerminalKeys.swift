import Dispatch
import Glibc
import Scanning
import Synchronization

/// Watches a terminal for keys, a new size, and the return to the foreground.
///
/// Meanwhile keys arrive singly and are not echoed. ``stop()``, `exit`, and every signal that ends
/// or stops the process and can be handled restore the terminal's mode.
final class TerminalKeys: Sendable {
  enum Event: Sendable {
    case key(UInt8)
    case resized
    /// The process was stopped and has resumed.
    case resumed
  }

  private let isStopped = Atomic<Bool>(false)

  /// Starts to watch. The closure runs on another thread.
  init(readsKeys: Bool, _ report: @escaping @Sendable (Event) -> Void) {
    // The signal is created here, not in a handler.
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

  func stop() {
    isStopped.store(true, ordering: .releasing)
    signal(SIGWINCH, SIG_DFL)
    TerminalMode.leave()
    terminalSignal.send()
  }

  private func watch(readsKeys: Bool, _ report: (Event) -> Void) {
    var readsKeys = readsKeys
    while !isStopped.load(ordering: .acquiring) {
      // Keys are read only in the foreground. In the background, a read would stop the process.
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

/// The mode of the terminal on standard input.
enum TerminalMode {
  static var isForeground: Bool { tcgetpgrp(STDIN_FILENO) == getpgrp() }

  /// Makes keys arrive singly, if the process is in the foreground.
  static func enter() {
    guard isForeground, !isEntered.load(ordering: .acquiring) else { return }
    var mode = termios()
    // The kernel fills the structure, and reads it below.
    guard unsafe tcgetattr(STDIN_FILENO, &mode) == 0 else { return }
    unsafe savedMode.initialize(to: mode)
    // Signal keys and output keep working as before.
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    isEntered.store(true, ordering: .releasing)
    signal(SIGTSTP, recordStop)
    signal(SIGCONT, recordContinue)
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &mode)
  }

  /// Restores the previous mode. Signal handlers may call it.
  static func leave() {
    guard isEntered.exchange(false, ordering: .acquiringAndReleasing), isForeground else { return }
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, savedMode)
  }
}

/// The mode to restore, written before ``isEntered`` is set, and read after it is cleared. It is
/// not a variable, because the compiler gives one that starts as `termios()` 57 bytes, without
/// padding, for a structure of 60.
nonisolated(unsafe) private let savedMode = UnsafeMutablePointer<termios>.allocate(capacity: 1)
private let isEntered = Atomic<Bool>(false)
private let wasResized = Atomic<Bool>(false)
private let wasResumed = Atomic<Bool>(false)
private let terminalSignal = WakeSignal()
private let restoresAtExit: Int32 = atexit { TerminalMode.leave() }

// Signal handlers. They store to atomics, write a byte, set the terminal's mode and send a signal,
// all of which handlers may do.

private func recordResize(_ number: Int32) {
  wasResized.store(true, ordering: .relaxed)
  terminalSignal.send()
}

private func recordStop(_ number: Int32) {
  TerminalMode.leave()
  signal(SIGTSTP, SIG_DFL)
  // The signal arrives when the handler returns.
  kill(getpid(), SIGTSTP)
}

private func recordContinue(_ number: Int32) {
  wasResumed.store(true, ordering: .relaxed)
  terminalSignal.send()
}
