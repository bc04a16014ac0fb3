import AppDaemon
import Glibc
import Logging
import Scanning
import ServiceCore

/// Parts of the daemon as a process of its own.
///
///     app-daemon-run identify SOCKET exact|number
///     app-daemon-run decide FILE
@main struct AppDaemonRun {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    switch (arguments.first, arguments.count) {
    case ("identify", 3):
      guard let listener = listen(at: arguments[2]) else { exit(73) }
      try identify(listener, usingPeerDescriptor: arguments[3] == "exact")
    case ("decide", 2): decide(arguments[2])
    default: exit(64)
    }
  }

  /// Stores decisions, and prints the number of each one that is stored.
  private static func decide(_ path: String) {
    let store = DecisionStore(path: path, logger: Logger(label: "app-daemon-run"))
    for number in 1... {
      let app = AppIdentity("/\(number % 50)", strength: .claim, user: 1)
      let time = WallClockTime(nanoseconds: Int64(number))
      store.set(Decision(.denied, since: time, user: 1), for: app)
      print(number)
      fflush(nil)
    }
  }

  /// Identifies the peers of a Unix socket, one for each line on standard input.
  private static func identify(_ listener: Int32, usingPeerDescriptor: Bool) throws {
    print("ready")
    fflush(nil)
    while readLine() != nil {
      let connection = accept(listener, nil, nil)
      do throws(PeerError) {
        let peer = try PeerProcess(
          accepted: connection, usingPeerDescriptor: usingPeerDescriptor)
        if peer.needsConfirmation {
          var byte: UInt8 = 0
          var entry = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
          // The byte and the entry outlive the calls.
          _ = unsafe send(connection, &byte, 1, Int32(MSG_NOSIGNAL))
          _ = unsafe poll(&entry, 1, 10_000)
          try peer.confirm(on: connection)
        }
        print("app \(peer.app.identifier)")
      } catch {
        print("error \(error)")
      }
      close(connection)
      fflush(nil)
    }
  }

  private static func listen(at path: String) -> Int32? {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < 108 else { return nil }
    // The structure outlives the calls.
    unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let result = unsafe withUnsafePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return result == 0 && Glibc.listen(listener, 64) == 0 ? listener : nil
  }
}
