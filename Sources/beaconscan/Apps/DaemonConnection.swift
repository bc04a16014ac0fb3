import AppDaemon
import ArgumentParser
import FoundationEssentials
import Frontends
import Glibc
import ServiceCore

struct DaemonOption: ParsableArguments {
  @Option(
    .file(
      "socket", "The socket of the service for apps.",
      shown: "beaconscan/apps.sock in $XDG_RUNTIME_DIR, else in /run",
      valid: "write the path of a socket, such as /run/beaconscan/apps.sock"))
  var socket: String?
}

/// A connection that manages the apps of the service.
struct DaemonConnection {
  let path: String
  private(set) var input: LineInput

  /// The milliseconds that the service has for an answer.
  private static let patience: Int32 = 10_000

  /// Connects to a socket, or to the first of the usual ones that answers.
  init(_ socket: String?) throws(CommandError) {
    let paths = socket.map { [$0] } ?? DaemonLink.paths(ProcessInfo.processInfo.environment)
    var found: (path: String, descriptor: Int32)?
    // Not `lazy.compactMap`, whose `first` would connect twice.
    for path in paths where found == nil {
      found = DaemonLink.connect(to: path).map { (path, $0) }
    }
    guard let found else {
      throw CommandError(
        .unavailable,
        "no service for apps answers at \(either(paths)); start one with beaconscan serve --apps, "
          + "or name its socket with --socket")
    }
    path = found.path
    input = LineInput(found.descriptor)
    while input.next == nil, !input.isOver { input.read(within: Self.patience) }
    guard let line = input.take(), case .greeting(let version)? = try? DaemonMessage(line: line)
    else {
      close()
      throw CommandError(
        .unavailable,
        "\(path): the service has ended the connection, or does not answer; its log may say why")
    }
    guard version == AppHello.version else {
      close()
      throw CommandError(
        .unavailable,
        "\(path): the service speaks version \(version) of the protocol, and this program version "
          + "\(AppHello.version); install the same version of both")
    }
  }

  /// Returns the service's answer to a message.
  static func answer(
    to message: ManagementMessage, at socket: String?
  ) throws(CommandError) -> ManagementReply {
    try Interrupt.endingAtOnce { () throws(CommandError) in
      var connection = try DaemonConnection(socket)
      defer { connection.close() }
      connection.send(message)
      while !connection.input.isOver {
        if let reply = try connection.next() { return reply }
        connection.input.read(within: Self.patience)
      }
      throw CommandError(
        .unavailable,
        "\(connection.path): the service has ended the connection, or does not answer; try again")
    }
  }

  mutating func read() { input.read() }

  /// Returns the next message that was read.
  mutating func next() throws(CommandError) -> ManagementReply? {
    guard let line = input.take() else { return nil }
    if let reply = try? ManagementReply(line: line) { return reply }
    throw CommandError(
      .unavailable,
      "\(path): the service sends what is not understood; install the same version of both")
  }

  /// Sends a message, which fits the socket's buffer. The end of a connection is read later.
  func send(_ message: ManagementMessage) {
    guard let line = try? message.line() + [UInt8(ascii: "\n")] else { return }
    // The bytes outlive the call.
    _ = unsafe Glibc.send(input.descriptor, line, line.count, Int32(MSG_NOSIGNAL))
  }

  func close() { Glibc.close(input.descriptor) }
}

/// Lines from a descriptor.
struct LineInput {
  let descriptor: Int32
  private(set) var isOver = false
  private var bytes: [UInt8] = []

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Reads once, which may wait.
  mutating func read() {
    var chunk = [UInt8](repeating: 0, count: 4096)
    // The array outlives the call.
    let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
    if count > 0 {
      bytes += chunk[..<count]
    } else if count == 0 || errno != EINTR && errno != EAGAIN {
      isOver = true
    }
  }

  /// Reads once, or ends after a wait of so many milliseconds.
  mutating func read(within milliseconds: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    // The entry outlives the call.
    switch unsafe poll(&entry, 1, milliseconds) {
    case 0: isOver = true
    case 1...: read()
    default: break
    }
  }

  /// The next line that was read, without its line feed, which the last one may lack.
  var next: ArraySlice<UInt8>? {
    if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return bytes[..<end] }
    return isOver && !bytes.isEmpty ? bytes[...] : nil
  }

  mutating func take() -> [UInt8]? {
    guard let line = next.map(Array.init) else { return nil }
    bytes.removeFirst(min(line.count + 1, bytes.count))
    return line
  }

  mutating func clear() { bytes = [] }
}
