import Glibc
import SystemPackage

/// An open regular file, closed when the value ends. No child process inherits it.
struct StateFile: ~Copyable {
  let path: FilePath
  private let descriptor: FileDescriptor

  /// Opens a file for reading and writing; where asked, creates it for this user alone if there is none.
  init(_ path: FilePath, creating isCreated: Bool) throws(StorageError) {
    // Without O_NONBLOCK, a FIFO of that name would block for ever.
    var options: FileDescriptor.OpenOptions = [.closeOnExec, .noFollow, .nonBlocking]
    if isCreated { options.insert(.create) }
    let descriptor: FileDescriptor
    do {
      descriptor = try FileDescriptor.open(
        path, .readWrite, options: options, permissions: .ownerReadWrite)
    } catch Errno.isDirectory, Errno.tooManySymbolicLinkLevels {
      throw StorageError(file: path.string, problem: .notAFile)
    } catch {
      throw .failed("open", path, error)
    }
    guard let status = try? descriptor.stat(), status.type == .regular else {
      try? descriptor.close()
      throw StorageError(file: path.string, problem: .notAFile)
    }
    (self.path, self.descriptor) = (path, descriptor)
  }

  deinit { try? descriptor.close() }

  /// Returns the first bytes, at most `count`.
  func read(_ count: Int) throws(StorageError) -> [UInt8] {
    do {
      // The array's memory is used during the call alone.
      return try unsafe [UInt8](unsafeUninitializedCapacity: count) { room, filled in
        filled = try unsafe descriptor.read(
          fromAbsoluteOffset: 0, into: UnsafeMutableRawBufferPointer(room))
      }
    } catch {
      throw .failed("pread", path, error)
    }
  }

  /// Writes a value's bytes at a place by one system call, with nothing before it that takes time.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
    let count: Int
    do {
      count = try unsafe descriptor.write(toAbsoluteOffset: Int64(offset), bytes)
    } catch {
      throw .failed("pwrite", path, error)
    }
    guard count == bytes.count else { throw .failed("pwrite", path, Errno.noSpace) }
  }

  /// Takes the lock that every store of this file takes, and returns whether it was free. The kernel releases it
  /// when the file is closed.
  func lock() throws(StorageError) -> Bool {
    while flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw .failed("flock", path) }
    }
    return true
  }
}
