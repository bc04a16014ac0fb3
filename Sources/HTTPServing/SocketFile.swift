import Glibc
import NIOCore
import NIOPosix
import SystemPackage

/// The file of a listening Unix socket. At the end it is removed, unless another file replaced it.
final class SocketFile: Sendable {
  private let path: String
  /// The open descriptor keeps the inode number from being reused.
  private let descriptor: CInt

  /// The value of <fcntl.h> on Linux, which the importer drops. Sockets can be opened only with it.
  private static let O_PATH: CInt = 0o10_000_000

  /// Removes the file of a socket whose process ended; throws if anything else is there.
  static func makeRoom(at path: String, on group: any EventLoopGroup) async throws {
    guard let there = try? Stat(FilePath(path), followTargetSymlink: false) else { return }
    guard there.type == .socket else {
      throw ServiceFailure(
        .unavailable,
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

  /// Opens the file of a listening socket, and adds write permission, which connecting needs, for
  /// all users with read permission. The usual umask denies it to others.
  init(path: String) throws(Errno) {
    self.path = path
    // The path outlives the calls.
    descriptor = unsafe open(path, Self.O_PATH | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw Errno(rawValue: errno) }
    let readers = try Stat(FileDescriptor(rawValue: descriptor)).permissions.rawValue & 0o444
    guard unsafe chmod(path, readers | readers >> 1) == 0 else { throw Errno(rawValue: errno) }
  }

  deinit { close(descriptor) }

  func remove() {
    guard let there = try? Stat(FilePath(path), followTargetSymlink: false),
      let own = try? Stat(FileDescriptor(rawValue: descriptor)),
      there.deviceID == own.deviceID, there.inode == own.inode
    else { return }
    // The path outlives the call.
    _ = unsafe unlink(path)
  }
}
