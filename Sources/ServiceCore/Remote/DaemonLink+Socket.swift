import Glibc
package import Logging

extension DaemonLink {
  /// Links this process to the daemon that serves it; returns `nil` if none does, unless one is
  /// required. A required one that does not answer is a fault, and is connected to later.
  package static func link(
    _ hello: AppHello, isRequired: Bool, environment: [String: String], logger: Logger
  ) -> DaemonLink? {
    let paths = paths(environment)
    let link = DaemonLink(hello, logger: logger) {
      for path in paths {
        if let descriptor = connect(to: path) { return descriptor }
      }
      return nil
    }
    return link.open() || isRequired ? link : nil
  }

  /// The variable with the path of the daemon's socket, in place of the usual ones.
  package static let pathVariable = "BEACONSCAN_SOCKET"

  /// Returns the paths of the daemon's socket, in the order in which they are tried.
  package static func paths(_ environment: [String: String]) -> [String] {
    if let path = environment[pathVariable] { return [path] }
    let session = environment["XDG_RUNTIME_DIR"].map { ["\($0)/beaconscan/apps.sock"] } ?? []
    return session + ["/run/beaconscan/apps.sock"]
  }

  /// Connects to a Unix socket; returns `nil` if nothing listens there.
  package static func connect(to path: String) -> Int32? {
    let descriptor = unsafe try? open(path) { unsafe Glibc.connect($0, $1, $2) }
    if let descriptor { _ = fcntl(descriptor, F_SETFL, 0) }
    return descriptor
  }

  /// Makes a Unix socket that listens at a path, to which every user may connect.
  package static func listen(at path: String) throws(Failure) -> Int32 {
    let descriptor = unsafe try open(path) { unsafe bind($0, $1, $2) }
    // The path outlives the call. Who connects is decided by the socket's user, not by its file.
    guard unsafe chmod(path, 0o666) == 0, Glibc.listen(descriptor, 128) == 0 else {
      defer { Glibc.close(descriptor) }
      throw Failure(number: errno)
    }
    return descriptor
  }

  /// The error number of a call that failed.
  package struct Failure: Error {
    package let number: Int32
  }

  private static func open(
    _ path: String, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws(Failure) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    // The path ends with a zero byte.
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw Failure(number: ENAMETOOLONG)
    }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    // A server whose queue is full is one that does not answer.
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    let descriptor = socket(AF_UNIX, Int32(kind), 0)
    guard descriptor >= 0 else { throw Failure(number: errno) }
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      defer { Glibc.close(descriptor) }
      throw Failure(number: errno)
    }
    return descriptor
  }
}
