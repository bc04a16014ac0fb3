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

  /// Writes bytes at a place by one system call.
  func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
    try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(StorageError) in
      try unsafe write(bytes, at: offset)
    }
  }

  /// Cuts the file off, or lengthens it by zeros.
  func resize(_ count: Int) throws(StorageError) {
    guard ftruncate(descriptor.rawValue, count) == 0 else { throw .failed("ftruncate", path) }
  }

  /// Writes a number at a place, in the processor's byte order.
  func write(_ number: Int64, at offset: Int) throws(StorageError) {
    try unsafe withUnsafeBytes(of: number) { bytes throws(StorageError) in
      try unsafe write(bytes, at: offset)
    }
  }

  /// Writes the number of this process at the eighth byte, for those who find the file locked.
  func writeProcess() throws(StorageError) { try write(Int64(getpid()), at: 8) }

  /// Takes the lock that every store of a database takes. The kernel releases it when the file is closed. Waits for half
  /// a second at most, and for ten where the holder is not another process.
  func lock(of database: FilePath) throws(StorageError) {
    // A child between fork and exec has its parent's files: for a moment, a lock can outlive its holder. A store of this
    // process that nobody uses any more holds it until what waits is stored.
    var tries = 1000
    while try !lock() {
      if tries == 950, let holder, holder != getpid() { tries = 0 }
      guard tries > 0 else { throw inUse(database) }
      tries -= 1
      usleep(10000)
    }
  }

  /// The process that has written its number; `nil` where none has.
  private var holder: Int32? {
    let bytes = (try? read(16)) ?? []
    // The load is checked.
    let number = unsafe bytes.withUnsafeBytes {
      unsafe $0.count == 16 ? $0.loadUnaligned(fromByteOffset: 8, as: Int64.self) : 0
    }
    return Int32(exactly: number).flatMap { $0 > 0 ? $0 : nil }
  }

  /// Takes the lock, and returns whether it was free.
  private func lock() throws(StorageError) -> Bool {
    while flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw .failed("flock", path) }
    }
    return true
  }

  private func inUse(_ database: FilePath) -> StorageError {
    let process = holder
    var name = ""
    if let process,
      let file = try? FileDescriptor.open(
        FilePath("/proc/\(process)/comm"), .readOnly, options: .closeOnExec)
    {
      var room = [UInt8](repeating: 0, count: 32)
      // The array's memory is used during the call alone.
      let count = unsafe room.withUnsafeMutableBytes { (try? unsafe file.read(into: $0)) ?? 0 }
      name = String(decoding: room.prefix(count).prefix { $0 != 10 }, as: UTF8.self)
      try? file.close()
    }
    return StorageError(
      file: database.string,
      problem: .inUse(process: process, name: name.isEmpty ? nil : name))
  }
}
