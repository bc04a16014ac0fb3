import Glibc
import SystemPackage

/// An open regular file, closed when the value ends. No child process inherits it.
struct StateFile: ~Copyable {
  let path: FilePath
  private let descriptor: Int32

  /// Opens a file for reading and writing; where asked, creates it for this user alone if there is none.
  init(_ path: FilePath, creating isCreated: Bool) throws(StorageError) {
    // Without O_NONBLOCK, a FIFO of that name would block for ever.
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (isCreated ? O_CREAT : 0)
    let descriptor = unsafe path.withPlatformString { unsafe open($0, flags, 0o600) }
    guard descriptor >= 0 else {
      guard errno != EISDIR, errno != ELOOP else {
        throw StorageError(file: path.string, problem: .notAFile)
      }
      throw .failed("open", path)
    }
    var status = stat()
    // The structure outlives the call.
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw StorageError(file: path.string, problem: .notAFile)
    }
    (self.path, self.descriptor) = (path, descriptor)
  }

  deinit { close(descriptor) }

  /// Returns the bytes from a place on, at most `count`.
  func read(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8] {
    var failed = false
    // The array's memory is used during the calls alone.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { room, filled in
      while filled < count {
        let got = unsafe pread(
          descriptor, room.baseAddress.map { unsafe $0 + filled }, count - filled, offset + filled)
        if got < 0, errno == EINTR { continue }
        failed = got < 0
        guard got > 0 else { return }
        filled += got
      }
    }
    if failed { throw .failed("pread", path) }
    return bytes
  }

  /// Writes bytes at a place by one system call, with nothing before it that takes time.
  func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
    // The array's memory is used during the call alone.
    let count = unsafe bytes.withUnsafeBytes {
      unsafe pwrite(descriptor, $0.baseAddress, $0.count, offset)
    }
    guard count == bytes.count else { throw failedWrite(count) }
  }

  /// Writes one number at a place by one system call, with nothing before it that takes time.
  func write(_ number: Int64, at offset: Int) throws(StorageError) {
    var number = number
    // The number outlives the call.
    let count = unsafe pwrite(descriptor, &number, 8, offset)
    guard count == 8 else { throw failedWrite(count) }
  }

  /// Returns the error of a write that took fewer bytes than it was given.
  private func failedWrite(_ count: Int) -> StorageError {
    count < 0 ? .failed("pwrite", path) : .failed("pwrite", path, .noSpace)
  }

  /// Takes the lock that every store of this file takes; the kernel releases it when the process ends.
  ///
  /// - Returns: Whether it was free.
  func lock() throws(StorageError) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw .failed("flock", path) }
    }
    return true
  }

  /// Releases the lock.
  func unlock() { flock(descriptor, LOCK_UN) }
}
