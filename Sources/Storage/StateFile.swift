import Glibc
import SystemPackage

/// An open regular file, closed when the value ends. Child processes do not inherit it.
struct StateFile: ~Copyable {
  let path: FilePath
  private let descriptor: FileDescriptor

  /// Opens a file for reading and writing; may create a missing one, for this user alone.
  init(_ path: FilePath, creating isCreated: Bool) throws(StorageError) {
    // Without O_NONBLOCK, opening a FIFO would block forever.
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

  /// Returns the first bytes, at most `maximum`.
  func read(_ maximum: Int) throws(StorageError) -> [UInt8] {
    do {
      // Memory of eight MiB that is freed again would raise the C library's thresholds for its own.
      let count = min(maximum, Int(try descriptor.stat().size))
      // An array of no capacity is shared, and its count would be written.
      guard count > 0 else { return [] }
      // The array's memory is used only during the call.
      return try unsafe [UInt8](unsafeUninitializedCapacity: count) { room, filled in
        filled = try unsafe descriptor.read(
          fromAbsoluteOffset: 0, into: UnsafeMutableRawBufferPointer(room))
      }
    } catch {
      throw .failed("read", path, error)
    }
  }

  /// Returns bytes from an offset, fewer at the end of the file.
  func read(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8] {
    guard count > 0 else { return [] }
    do {
      // The array's memory is used only during the call.
      return try unsafe [UInt8](unsafeUninitializedCapacity: count) { room, filled in
        filled = try unsafe descriptor.read(
          fromAbsoluteOffset: Int64(offset), into: UnsafeMutableRawBufferPointer(room))
      }
    } catch {
      throw .failed("read", path, error)
    }
  }

  /// The number of bytes in the file.
  var size: Int {
    get throws(StorageError) {
      do {
        return Int(try descriptor.stat().size)
      } catch {
        throw .failed("read", path, error)
      }
    }
  }

  /// Writes bytes at an offset with one system call and without preparation that takes time.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageError) {
    let count: Int
    do {
      count = try unsafe descriptor.write(toAbsoluteOffset: Int64(offset), bytes)
    } catch {
      throw .failed("write", path, error)
    }
    guard count == bytes.count else { throw .failed("write", path, Errno.noSpace) }
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
    try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(StorageError) in
      try unsafe write(bytes, at: offset)
    }
  }

  /// Truncates the file, or extends it with zeros.
  func resize(_ count: Int) throws(StorageError) {
    guard ftruncate(descriptor.rawValue, count) == 0 else { throw .failed("write", path) }
  }

  func write(_ number: Int64, at offset: Int) throws(StorageError) {
    try unsafe withUnsafeBytes(of: number) { bytes throws(StorageError) in
      try unsafe write(bytes, at: offset)
    }
  }

  /// Writes this process's identifier at offset 8, for processes that find the file locked.
  func writeProcess() throws(StorageError) { try write(Int64(getpid()), at: 8) }

  /// Takes the lock that every store of a database takes; the kernel releases it when the file is
  /// closed. Waits for at most 0.5 s if another process holds it, and 10 s otherwise.
  func lock(of database: FilePath) throws(StorageError) {
    // A child between fork and exec shares its parent's files, so a lock can briefly outlive its
    // holder. An unused store of this process holds the lock until its waiting changes are stored.
    var tries = 1000
    while try !lock() {
      if tries == 950, let holder, holder != getpid() { tries = 0 }
      guard tries > 0 else { throw inUse(database) }
      tries -= 1
      usleep(10000)
    }
  }

  private var holder: Int32? {
    let number = (try? read(16))?.number(at: 8) ?? 0
    return Int32(exactly: number).flatMap { $0 > 0 ? $0 : nil }
  }

  private func lock() throws(StorageError) -> Bool {
    while flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw .failed("lock", path) }
    }
    return true
  }

  private func inUse(_ database: FilePath) -> StorageError {
    let process = holder
    let text = process.flatMap { FilePath("/proc/\($0)/comm").firstText } ?? ""
    let name = String(text.prefix { !$0.isNewline })
    return StorageError(
      file: database.string,
      problem: .inUse(process: process, name: name.isEmpty ? nil : name))
  }
}

extension [UInt8] {
  /// Returns the number at an offset, in the processor's byte order; `nil` beyond the end.
  func number(at offset: Int) -> Int64? {
    guard offset >= 0, offset + 8 <= count else { return nil }
    // The offset is within the array, and the load is checked.
    return unsafe withUnsafeBytes {
      unsafe $0.loadUnaligned(fromByteOffset: offset, as: Int64.self)
    }
  }
}
