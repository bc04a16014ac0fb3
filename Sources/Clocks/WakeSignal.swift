import Glibc

/// A signal from other threads or signal handlers to a waiting thread, which may also poll sockets.
package struct WakeSignal: ~Copyable, Sendable {
  /// The descriptor to poll for reading; -1 if none can be opened: then no signal ends a wait.
  package let descriptor: Int32
  private let sender: Int32

  package init() {
    var pair: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    // The array's memory is used only during the call.
    if unsafe socketpair(AF_UNIX, type, 0, &pair) != 0 { pair = [-1, -1] }
    (descriptor, sender) = (pair[0], pair[1])
  }

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    close(sender)
  }

  /// Ends the current wait, or the next one.
  package func send() {
    var byte: UInt8 = 1
    // The byte is read only during the call. If there is no room, a signal is already pending. A
    // program may have closed the other end.
    _ = unsafe Glibc.send(sender, &byte, 1, Int32(MSG_NOSIGNAL))
  }

  /// Clears pending signals.
  package func reset() {
    var bytes = [UInt8](repeating: 0, count: 64)
    // The array's memory is used only during the call.
    while unsafe read(descriptor, &bytes, bytes.count) == bytes.count {}
  }

  /// Waits until the signal is sent, at most the given nanoseconds, and clears it.
  package func wait(nanoseconds: Int64) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let milliseconds = Int32(clamping: (max(0, nanoseconds) + 999_999) / 1_000_000)
    // The entry outlives the call.
    _ = unsafe poll(&entry, 1, milliseconds)
    reset()
  }
}
