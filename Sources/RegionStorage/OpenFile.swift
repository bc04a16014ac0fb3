// Glibc for what SystemPackage has not: fsync, fdatasync, flock and stat by descriptor.
import Glibc
import SystemPackage

/// An open file, closed when it goes.
struct OpenFile: ~Copyable {
  /// Its name, which a rename changes.
  var path: FilePath
  private let descriptor: FileDescriptor

  /// Opens or creates a file for reading and writing; no child process inherits it.
  init(_ path: FilePath, options: FileDescriptor.OpenOptions = []) throws(StoreError) {
    self.path = path
    do {
      // Without `nonBlocking`, a FIFO of that name would hold us up for ever.
      descriptor = try .open(
        path, .readWrite, options: options.union([.closeOnExec, .noFollow, .nonBlocking]),
        permissions: .ownerReadWrite)
    } catch Errno.isDirectory {
      throw StoreError(file: path.string, problem: .notAFile)
    } catch {
      throw Self.failure("open", error, path)
    }
  }

  deinit {
    try? descriptor.close()
  }

  /// How long it is, in bytes.
  ///
  /// - Throws: ``StoreError`` also for what is no regular file.
  func size() throws(StoreError) -> Int {
    var status = stat()
    // The structure outlives the call.
    guard unsafe fstat(descriptor.rawValue, &status) == 0 else { throw failure("fstat") }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw StoreError(file: path.string, problem: .notAFile)
    }
    return Int(status.st_size)
  }

  /// Reads from a place into an array, at most as much as it has room for.
  func read(at offset: Int, into bytes: inout [UInt8]) throws(StoreError) -> Int {
    do {
      // The array's memory is used during the call alone.
      return unsafe try bytes.withUnsafeMutableBytes { room in
        unsafe try descriptor.read(fromAbsoluteOffset: Int64(offset), into: room)
      }
    } catch {
      throw Self.failure("pread", error, path)
    }
  }

  /// Writes at a place: one system call, unless the kernel takes less.
  func write(_ bytes: [UInt8], at offset: Int) throws(StoreError) {
    do {
      try descriptor.writeAll(toAbsoluteOffset: Int64(offset), bytes)
    } catch {
      throw Self.failure("pwrite", error, path)
    }
  }

  /// Writes a few bytes at a place by one system call, with nothing before it that takes time.
  func writeAtOnce(_ bytes: [UInt8], at offset: Int) throws(StoreError) {
    // The array's memory is used during the call alone.
    let count = unsafe bytes.withUnsafeBytes { bytes in
      unsafe pwrite(descriptor.rawValue, bytes.baseAddress, bytes.count, offset)
    }
    guard count == bytes.count else { return try write(bytes, at: offset) }
  }

  /// Cuts the file.
  func cut(to size: Int) throws(StoreError) {
    guard ftruncate(descriptor.rawValue, size) == 0 else { throw failure("ftruncate") }
  }

  /// Waits until the bytes, and what is needed to find them, are on the disk.
  func syncData() throws(StoreError) {
    guard fdatasync(descriptor.rawValue) == 0 else { throw failure("fdatasync") }
  }

  /// Waits until all of it is on the disk.
  func sync() throws(StoreError) {
    guard fsync(descriptor.rawValue) == 0 else { throw failure("fsync") }
  }

  /// Takes the lock that others take too, or not.
  ///
  /// - Returns: Whether it was free.
  func lock() throws(StoreError) -> Bool {
    while flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw failure("flock") }
    }
    return true
  }

  private func failure(_ call: String) -> StoreError {
    Self.failure(call, Errno(rawValue: errno), path)
  }

  private static func failure(_ call: String, _ error: any Error, _ path: FilePath) -> StoreError {
    StoreError(
      file: path.string, problem: .failed(call: call, error as? Errno ?? .ioError))
  }
}
