import AppDaemon
import Glibc

/// Identifies the peers of a Unix socket, one for each line on its standard input: for
/// Tests/AppDaemonTests/races.py.
@main struct PeerIdentityRun {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let listener = Self.listen(at: arguments[1]) else {
      print("peer-identity-run: give a socket's path, and exact or number")
      exit(64)
    }
    print("ready")
    fflush(nil)
    while readLine() != nil {
      let connection = accept(listener, nil, nil)
      do throws(PeerError) {
        let peer = try PeerProcess(
          accepted: connection, usingPeerDescriptor: arguments[2] == "exact")
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
