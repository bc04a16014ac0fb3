// Glibc for the calls that SystemPackage has not; a recording that must outlive a power cut, and may
// not fill a disk, cannot do without them. Nothing else on this floor calls the system by itself.
import Glibc
import SystemPackage

extension FileDescriptor {
  /// Waits until the bytes, and what is needed to find them, are on the disk.
  func syncData() throws(RecordingCallError) {
    // A pipe cannot, and says so: it has nothing to wait for.
    guard fdatasync(rawValue) == 0 || errno == EINVAL || errno == EROFS else {
      throw RecordingCallError("fdatasync", errno)
    }
  }
}

extension FilePath {
  /// The directory in which the name stands.
  var directory: FilePath {
    let directory = removingLastComponent()
    return directory.isEmpty ? "." : directory
  }

  /// Checks that files can be made in a directory.
  func checkWritable() throws(RecordingCallError) {
    guard unsafe withPlatformString({ unsafe access($0, W_OK | X_OK) == 0 }) else {
      throw RecordingCallError("access", errno)
    }
  }

  /// Waits until a directory's names are on the disk.
  func syncNames() throws(RecordingCallError) {
    let descriptor: FileDescriptor
    do {
      descriptor = try .open(self, .readOnly, options: [.directory, .closeOnExec])
    } catch {
      throw RecordingCallError("open", error)
    }
    defer { try? descriptor.close() }
    // Some file systems cannot, and say so.
    guard fsync(descriptor.rawValue) == 0 || errno == EINVAL else {
      throw RecordingCallError("fsync", errno)
    }
  }

  /// The names in a directory, in no order.
  func names() throws(RecordingCallError) -> [String] {
    guard let directory = unsafe withPlatformString({ unsafe opendir($0) }) else {
      throw RecordingCallError("opendir", errno)
    }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      // The kernel ends the name with a zero.
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      names.append(name)
    }
    return names
  }

  /// Removes a name; that it is not there is well.
  func remove() throws(RecordingCallError) {
    guard unsafe withPlatformString({ unsafe unlink($0) == 0 }) || errno == ENOENT else {
      throw RecordingCallError("unlink", errno)
    }
  }
}

/// A system call that failed: its name, and how.
struct RecordingCallError: Error {
  var call: String
  var errno: Errno

  init(_ call: String, _ errno: CInt) { self.init(call, Errno(rawValue: errno)) }

  init(_ call: String, _ error: any Error) {
    self.call = call
    errno = error as? Errno ?? .ioError
  }
}
