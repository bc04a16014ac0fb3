import Glibc

/// A signal from other threads, or from signal handlers, to a thread that waits for it, alone or among sockets with `poll`.
///
/// Waits are timed by the monotonic clock. Those of a dispatch semaphore are not: they last as much longer as the wall clock
/// is set back.
package struct WakeSignal: ~Copyable, Sendable {
  /// The descriptor to poll for reading; -1 where the process may open no more: nothing ends a wait early then.
  package let descriptor: Int32
  private let sender: Int32

  /// Creates a signal that has not been sent.
  package init() {
    var pair: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    // The array's memory is used during the call alone.
    if unsafe socketpair(AF_UNIX, type, 0, &pair) != 0 { pair = [-1, -1] }
    (descriptor, sender) = (pair[0], pair[1])
  }

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    close(sender)
  }

  /// Ends the wait that runs, or the next one.
  package func send() {
    var byte: UInt8 = 1
    // The byte is read during the call alone. Where there is no room, a signal waits already.
    _ = unsafe write(sender, &byte, 1)
  }

  /// Forgets what was sent.
  package func reset() {
    var bytes = [UInt8](repeating: 0, count: 64)
    // The array's memory is used during the call alone.
    while unsafe read(descriptor, &bytes, bytes.count) == bytes.count {}
  }

  /// Waits until it is sent, or for so many nanoseconds, and forgets it.
  package func wait(nanoseconds: Int64) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let milliseconds = Int32(clamping: (max(0, nanoseconds) + 999_999) / 1_000_000)
    // The entry outlives the call.
    _ = unsafe poll(&entry, 1, milliseconds)
    reset()
  }
}
