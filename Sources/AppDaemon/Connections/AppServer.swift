import Dispatch
import Glibc
package import Logging
import ServiceCore
import Synchronization

/// The socket at which apps connect. Each connection belongs to the app of its process.
package final class AppServer: Sendable {
  private let apps: Apps
  private let logger: Logger
  private let queue = DispatchQueue(label: "AppDaemon.server")
  private let state = Mutex(State())

  /// The most connections of a user.
  static let maximumConnections = UserLimit(own: 256, others: 64)

  private struct State {
    var connections: [ObjectIdentifier: (connection: AppConnection, user: UInt32)] = [:]
    // Any thread may cancel a source.
    var isListening = true
    var stops: [@Sendable () -> Void] = []
    /// The functions that stop accepting for a moment, by the sockets' descriptors.
    var pauses: [Int32: @Sendable () -> Void] = [:]
  }

  package init(_ apps: Apps, logger: Logger) {
    self.apps = apps
    self.logger = logger
  }

  /// Listens on a socket too, which it closes at its end.
  package func listen(on descriptor: Int32) {
    // No address is wanted.
    listen(on: descriptor) { Glibc.accept($0, nil, nil) }
  }

  /// Listens on a socket, with a function that accepts a connection as `accept` does.
  func listen(on descriptor: Int32, accepting accept: @escaping @Sendable (Int32) -> Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    let made = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    nonisolated(unsafe) let source = made
    unsafe source.setEventHandler { [weak self] in
      guard let self, !acceptAll({ accept(descriptor) }) else { return }
      // A connection waits, so the source would call again at once.
      state.withLock { $0.pauses[descriptor] }?()
    }
    unsafe source.setCancelHandler { Glibc.close(descriptor) }
    state.withLock { state in
      state.stops.append { unsafe source.cancel() }
      state.pauses[descriptor] = { [queue] in
        unsafe source.suspend()
        queue.asyncAfter(deadline: .now() + 1) { unsafe source.resume() }
      }
    }
    unsafe source.activate()
  }

  /// Makes a socket that listens at a path, for all users. Returns its descriptor.
  package static func listen(at path: String) throws(AppRefusal) -> Int32 {
    if let other = DaemonLink.connect(to: path) {
      Glibc.close(other)
      throw AppRefusal("cannot listen on \(path): another program listens there")
    }
    // The path outlives the calls; a file of another kind stays, so bind fails.
    var there = stat()
    if unsafe lstat(path, &there) == 0, there.st_mode & S_IFMT == S_IFSOCK { unsafe unlink(path) }
    do {
      return try DaemonLink.listen(at: path)
    } catch {
      let reason = unsafe String(cString: strerror(error.number))
      throw AppRefusal("cannot listen on \(path): \(reason); choose another path")
    }
  }

  /// Returns the path of a Unix socket that listens; `nil` for another socket.
  package static func path(of descriptor: Int32) -> String? {
    var address = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    // The address outlives the call, which knows its size.
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &length)
      }
    }
    guard result == 0, address.sun_family == AF_UNIX else { return nil }
    let path = unsafe withUnsafeBytes(of: address.sun_path) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return path.isEmpty ? nil : path
  }

  /// Ends all connections.
  package func stop() {
    let (stops, connections) = state.withLock { state in
      state.isListening = false
      defer { state.stops = [] }
      return (state.stops, state.connections.values.map(\.connection))
    }
    for stop in stops { stop() }
    for connection in connections { connection.close() }
  }

  /// Accepts the connections that wait. Returns `false` if the system has no descriptor or memory
  /// for one of them.
  private func acceptAll(_ accept: () -> Int32) -> Bool {
    while true {
      let descriptor = accept()
      guard descriptor >= 0 else {
        let number = errno
        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(number) else { return true }
        let reason = unsafe String(cString: strerror(number))
        logger.warning("no app can connect for one second: \(reason)")
        return false
      }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      serve(descriptor)
    }
  }

  /// Serves a connection, after its process was identified.
  func serve(_ descriptor: Int32) {
    let process: PeerProcess
    do throws(PeerError) {
      process = try PeerProcess(accepted: descriptor)
    } catch {
      logger.notice("a connection is refused: \(error)")
      Glibc.close(descriptor)
      return
    }
    let isRoom = state.withLock { state in
      state.isListening
        && state.connections.values.count { $0.user == process.app.user }
          < Self.maximumConnections[process.app.user]
    }
    guard isRoom else {
      logger.notice("a connection of \(process.app) is refused: its user has too many")
      Glibc.close(descriptor)
      return
    }
    let connection = AppConnection(descriptor) { [logger] socket in
      do throws(PeerError) {
        try process.confirm(on: socket)
        return true
      } catch {
        logger.notice("a connection is refused: \(error)")
        return false
      }
    } admit: { [apps] hello throws(AppRefusal) in
      try apps.admit(process, hello)
    } manage: { [apps] send in
      ManagementSession(process, apps, send: send)
    } ended: { [weak self, apps] connection in
      apps.end(process)
      self?.state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
    }
    state.withLock {
      $0.connections[ObjectIdentifier(connection)] = (connection, process.app.user)
    }
    connection.start()
  }
}
