import Glibc

/// A client that sends the bytes that it is given, whatever they are.
final class RawClient {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// An answer of the server.
  struct Answer {
    var status: Int
    /// The fields by their names in lower case.
    var fields: [String: String]
    var body: String
  }

  /// The seconds after which something that has not come does not come.
  private static let patience = 240

  private let socket: CInt
  private var buffer: [UInt8] = []

  private init(_ family: CInt) throws(Failure) {
    socket = Glibc.socket(family, Int32(SOCK_STREAM.rawValue), 0)
    guard socket >= 0 else { throw Failure(description: "no socket: \(errno)") }
    var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
    // The structure outlives the call.
    _ = unsafe setsockopt(
      socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(socket) }

  /// Connects to a port of this machine; with a small window, little is received that nobody reads.
  convenience init(port: Int, hasSmallWindow: Bool = false) throws(Failure) {
    try self.init(AF_INET)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    if hasSmallWindow {
      var size: CInt = 4096
      // The integer outlives the call.
      _ = unsafe setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, 4)
    }
    try connect(&address)
  }

  /// Connects to a Unix socket.
  convenience init(path: String) throws(Failure) {
    try self.init(AF_UNIX)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8.prefix(MemoryLayout.size(ofValue: address.sun_path) - 1))
    // The path is shorter than its place.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    try connect(&address)
  }

  private func connect<Address>(_ address: inout Address) throws(Failure) {
    // The address outlives the call, and is of the socket's family.
    let status = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(socket, $0, socklen_t(MemoryLayout<Address>.size))
      }
    }
    guard status == 0 else { throw Failure(description: "not connected: \(errno)") }
  }

  /// Sends a text. Returns whether the connection took it.
  @discardableResult
  func send(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      // The bytes outlive the call.
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Sends a request for a path.
  @discardableResult
  func request(_ method: String = "GET", _ path: String, _ fields: String = "") -> Bool {
    send("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
  }

  /// Receives bytes; returns false at the end of the connection.
  private func fill() throws(Failure) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    // The bytes outlive the call.
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe recv(socket, $0.baseAddress, $0.count, 0)
    }
    if count < 0, errno == EAGAIN {
      throw Failure(description: "nothing came for \(Self.patience) s")
    }
    guard count > 0 else { return false }
    buffer += bytes.prefix(count)
    return true
  }

  /// Receives an answer. One to HEAD has no body.
  func answer(toHead isHead: Bool = false) throws(Failure) -> Answer {
    let blank = Array("\r\n\r\n".utf8)
    var end: Int?
    while end == nil {
      end = buffer.indices.first { buffer[$0...].starts(with: blank) }
      guard end == nil else { break }
      guard try fill() else {
        throw Failure(description: "the connection ended without an answer")
      }
    }
    let lines = String(decoding: buffer[..<(end ?? 0)], as: UTF8.self).split(separator: "\r\n")
    buffer.removeFirst((end ?? 0) + blank.count)
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false)
      fields[parts[0].lowercased()] = parts.count > 1 ? String(parts[1]) : ""
    }
    let words = lines.first?.split(separator: " ") ?? []
    let status = words.count > 1 ? Int(words[1]) ?? 0 : 0
    let length = isHead ? 0 : fields["content-length"].flatMap { Int($0) } ?? 0
    while buffer.count < length, try fill() {}
    defer { buffer.removeFirst(min(length, buffer.count)) }
    return Answer(
      status: status, fields: fields,
      body: String(decoding: buffer.prefix(length), as: UTF8.self))
  }

  /// Receives until a text has come, and returns what came.
  func text(until end: String) throws(Failure) -> String {
    while !String(decoding: buffer, as: UTF8.self).contains(end) {
      guard try fill() else {
        throw Failure(description: "the connection ended before '\(end)'")
      }
    }
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Waits for the end of the connection, and returns what comes before it.
  func rest() throws(Failure) -> String {
    while try fill() {}
    defer { buffer = [] }
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Whether the other end sends nothing more.
  var hasEnded: Bool {
    var byte: UInt8 = 0
    // The byte outlives the call.
    let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    return count == 0 || count < 0 && errno != EAGAIN
  }
}
