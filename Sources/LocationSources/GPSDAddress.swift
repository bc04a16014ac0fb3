import Glibc

package enum GPSDAddress: Hashable, Sendable, CustomStringConvertible {
  case tcp(host: String, port: UInt16)
  case unix(path: String)

  package static let local = GPSDAddress.tcp(host: "localhost", port: 2947)

  /// Parses `HOST`, `HOST:PORT`, `[ADDRESS]:PORT` or a socket's path, optionally after `gpsd://`.
  package init?(_ text: String) {
    let text = text.hasPrefix("gpsd://") ? String(text.dropFirst(7)) : text
    // Only a path may contain spaces. Control characters are never valid.
    let least: UInt8 = text.hasPrefix("/") ? 0x20 : 0x21
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= least && $0 != 0x7F }) else { return nil }
    if text.hasPrefix("/") {
      guard text.utf8.count < Self.maximumPathLength else { return nil }
      self = .unix(path: text)
      return
    }
    var host = text[...]
    var rest = text.suffix(0)
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[..<end].dropFirst()
      rest = text[end...].dropFirst()
    } else if let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") {
      host = text[..<colon]
      rest = text[colon...]
    }
    guard !host.isEmpty, rest.isEmpty || rest.hasPrefix(":"),
      let port = rest.isEmpty ? 2947 : UInt16(rest.dropFirst()), port > 0
    else { return nil }
    self = .tcp(host: String(host), port: port)
  }

  var isLocal: Bool {
    switch self {
    case .unix: true
    case .tcp(let host, _): host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
  }

  /// The size of `sun_path`, including the zero byte at the end.
  static let maximumPathLength = 108

  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): path
    }
  }
}

/// A non-blocking stream socket, which child processes do not inherit.
struct StreamSocket: ~Copyable {
  let descriptor: Int32

  struct Failure: Error {
    var sentence: String
  }

  deinit { close(descriptor) }

  private init(_ family: Int32) throws(Failure) {
    let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    descriptor = socket(family, Int32(flags), 0)
    guard descriptor >= 0 else { throw Failure(sentence: Self.sentence(errno)) }
  }

  /// Starts a connection. Resolving a name may block; `attempt` selects one of several addresses.
  static func connecting(
    to address: GPSDAddress, attempt: Int
  ) throws(Failure) -> StreamSocket {
    switch address {
    case .unix(let path):
      let socket = try StreamSocket(AF_UNIX)
      var name = sockaddr_un()
      name.sun_family = sa_family_t(AF_UNIX)
      let bytes = Array(path.utf8.prefix(GPSDAddress.maximumPathLength - 1))
      // The prefix is shorter than the field; both outlive the calls.
      unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: bytes) }
      let result = unsafe withUnsafePointer(to: &name) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe connect(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      guard result == 0 || errno == EINPROGRESS || errno == EAGAIN else {
        throw Failure(sentence: sentence(errno))
      }
      return socket
    case .tcp(let host, let port):
      var hints = unsafe addrinfo()
      unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      var list: UnsafeMutablePointer<addrinfo>?
      // The list is freed below, after its last use.
      let status = unsafe getaddrinfo(host, "\(port)", &hints, &list)
      guard status == 0, let first = unsafe list else {
        throw Failure(sentence: unsafe String(cString: gai_strerror(status)))
      }
      defer { unsafe freeaddrinfo(first) }
      let entries = unsafe Array(sequence(first: first) { unsafe $0.pointee.ai_next })
      let entry = unsafe entries[attempt % entries.count].pointee
      let socket = unsafe try StreamSocket(entry.ai_family)
      guard
        unsafe connect(socket.descriptor, entry.ai_addr, entry.ai_addrlen) == 0
          || errno == EINPROGRESS
      else { throw Failure(sentence: sentence(errno)) }
      return socket
    }
  }

  /// Waits for either descriptor or the time. Returns whether the socket is ready.
  func wait(nanoseconds: Int64, forWriting: Bool, or other: Int32) -> Bool {
    let events = Int16(forWriting ? POLLOUT : POLLIN)
    var entries = [
      pollfd(fd: descriptor, events: events, revents: 0),
      pollfd(fd: other, events: Int16(POLLIN), revents: 0),
    ]
    let milliseconds = Int32(clamping: (max(0, nanoseconds) + 999_999) / 1_000_000)
    // The entries outlive the call.
    return unsafe poll(&entries, 2, milliseconds) > 0 && entries[0].revents != 0
  }

  var connectionError: String? {
    var value: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    // Both outlive the call.
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &size) == 0 else {
      return Self.sentence(errno)
    }
    return value == 0 ? nil : Self.sentence(value)
  }

  /// Reads available bytes, and returns their number: `nil` if there are none yet, 0 at the end.
  func read(into buffer: inout [UInt8]) -> Int? {
    // The buffer outlives the call.
    let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
    if count >= 0 { return count }
    return errno == EAGAIN || errno == EINTR ? nil : 0
  }

  /// Writes a request; returns `false` if the socket's buffer has no room for it.
  func write(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    // The bytes outlive the call.
    return unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }

  private static func sentence(_ error: Int32) -> String { unsafe String(cString: strerror(error)) }
}
