import Glibc

/// A file descriptor that is readable while something waits.
struct ReadySignal: ~Copyable {
  /// The end that a program polls.
  let descriptor: Int32
  private let writing: Int32
  private(set) var isReady = false

  /// Creates a signal that is not ready; `nil` if the process has no file descriptors left.
  init?() {
    var ends: [Int32] = [-1, -1]
    let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    guard unsafe socketpair(AF_UNIX, Int32(type), 0, &ends) == 0 else { return nil }
    (descriptor, writing) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(writing)
  }

  /// Makes the descriptor readable with one byte, or not readable by taking the byte.
  mutating func set(_ isReady: Bool) {
    guard isReady != self.isReady else { return }
    self.isReady = isReady
    var byte: UInt8 = 0
    if isReady {
      // This raises no signal if the program has closed its end.
      _ = unsafe send(writing, &byte, 1, Int32(MSG_NOSIGNAL))
    } else {
      _ = unsafe read(descriptor, &byte, 1)
    }
  }
}
