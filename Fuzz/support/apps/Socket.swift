import Glibc

/// A socket that is read and written without waiting for either alone, by one thread.
final class Socket {
  private let descriptor: Int32
  private var rest: [UInt8] = []
  private(set) var hasEnded = false
  /// The number of received bytes.
  private(set) var received = 0

  /// Takes a connected socket, which it closes.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  deinit { close(descriptor) }

  /// Makes two sockets that are connected.
  static func pair() -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
    let result = unsafe socketpair(AF_UNIX, Int32(kind), 0, &ends)
    require(result == 0, "there is no pair of sockets: \(errno)")
    return (ends[0], ends[1])
  }

  /// Sends bytes, the first 8,192 of them in pieces, and passes on the lines that come meanwhile.
  func send(_ bytes: [UInt8], inPieces size: Int = .max, _ receive: ([UInt8]) -> Void) {
    var sent = 0
    while sent < bytes.count, !hasEnded {
      let end = sent < 8192 && size < bytes.count - sent ? sent + size : bytes.count
      let count = unsafe bytes[sent..<end].withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        sent += count
      } else if errno == EAGAIN {
        wait(for: POLLIN | POLLOUT, receive)
      } else {
        // The other end has closed the connection; what it sent before is still there.
        while !hasEnded { wait(for: POLLIN, receive) }
      }
    }
  }

  /// Waits for lines until a condition holds or the connection ends.
  func receive(until isDone: () -> Bool, _ receive: ([UInt8]) -> Void) {
    while !isDone(), !hasEnded { wait(for: POLLIN, receive) }
  }

  /// Waits for lines, or until another descriptor has a byte, which is then read. Returns whether it has.
  func receive(orWhen other: Int32, _ receive: ([UInt8]) -> Void) -> Bool {
    var entry = pollfd(fd: other, events: Int16(POLLIN), revents: 0)
    wait(for: POLLIN, and: &entry, receive)
    guard Int32(entry.revents) & POLLIN != 0 else { return false }
    var byte: UInt8 = 0
    // The byte outlives the call.
    return unsafe read(other, &byte, 1) == 1
  }

  /// Ends what this side sends.
  func finish() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  private func wait(for events: Int32, _ receive: ([UInt8]) -> Void) {
    var none = pollfd(fd: -1, events: 0, revents: 0)
    wait(for: events, and: &none, receive)
  }

  private func wait(
    for events: Int32, and other: inout pollfd, _ receive: ([UInt8]) -> Void
  ) {
    var entries = [
      pollfd(fd: hasEnded ? -1 : descriptor, events: Int16(events), revents: 0), other,
    ]
    // The entries outlive the call.
    _ = unsafe poll(&entries, 2, -1)
    other = entries[1]
    guard Int32(entries[0].revents) & ~POLLOUT != 0 else { return }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }
    guard count > 0 else {
      if count == 0 || ![EAGAIN, EINTR].contains(errno) { hasEnded = true }
      return
    }
    received += count
    var piece = bytes[..<count]
    while let end = piece.firstIndex(of: UInt8(ascii: "\n")) {
      let line = rest + piece[..<end]
      rest = []
      piece = piece[(end + 1)...]
      receive(line)
    }
    rest += piece
  }
}
