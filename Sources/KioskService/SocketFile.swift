import Glibc
import NIOCore
import NIOPosix
import SystemPackage

/// The file of a Unix socket that the server listens on. It is removed at the end only where it still is that file.
final class SocketFile: Sendable {
  private let path: String
  /// While the file is open, no other file gets its number.
  private let descriptor: CInt

  /// As <fcntl.h> has it on Linux; the importer drops it. Only such a descriptor can be opened of a socket.
  private static let O_PATH: CInt = 0o10_000_000

  /// Makes room for a socket: the file of a process that is gone is removed.
  ///
  /// - Throws: `KioskServer.Failure` where another program listens there, or where there is another file.
  static func makeRoom(at path: String, on group: any EventLoopGroup) async throws {
    guard let there = status(ofPath: path) else { return }
    guard there.st_mode & S_IFMT == S_IFSOCK else {
      throw KioskServer.Failure(
        description:
          "cannot listen on \(path): there is a file that is not a socket; choose another path")
    }
    do {
      let other = try await ClientBootstrap(group: group).connect(unixDomainSocketPath: path).get()
      try? await other.close().get()
    } catch let error as IOError where error.errnoCode == ECONNREFUSED {
      // The path outlives the call.
      _ = unsafe unlink(path)
      return
    } catch let error as IOError where error.errnoCode == ENOENT {
      return
    }
    throw IOError(errnoCode: EADDRINUSE, reason: "connected")
  }

  /// Takes the file of a socket that listens, and opens it to all who may read files of this process: its directory
  /// decides. A connection needs the permission to write, which the usual umask gives to the owner alone.
  init(path: String) throws(Errno) {
    self.path = path
    // The path outlives the calls.
    descriptor = unsafe open(path, Self.O_PATH | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0, let mode = Self.status(of: descriptor)?.st_mode else {
      throw Errno(rawValue: errno)
    }
    let readers = mode & 0o444
    guard unsafe chmod(path, readers | readers >> 1) == 0 else { throw Errno(rawValue: errno) }
  }

  deinit { close(descriptor) }

  func remove() {
    guard let there = Self.status(ofPath: path), let own = Self.status(of: descriptor),
      there.st_dev == own.st_dev, there.st_ino == own.st_ino
    else { return }
    // The path outlives the call.
    _ = unsafe unlink(path)
  }

  private static func status(ofPath path: String) -> stat? {
    var status = stat()
    // The path and the structure outlive the call.
    return unsafe lstat(path, &status) == 0 ? status : nil
  }

  private static func status(of descriptor: CInt) -> stat? {
    var status = stat()
    // The structure outlives the call.
    return unsafe fstat(descriptor, &status) == 0 ? status : nil
  }
}
