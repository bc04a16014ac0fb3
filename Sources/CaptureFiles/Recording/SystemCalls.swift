// Glibc for calls that SystemPackage lacks, which a recording needs to survive a power cut and to
// limit its disk space.
import Glibc
import SystemPackage

extension FileDescriptor {
  /// Waits until the data, and the metadata needed to read it, is on the disk.
  func syncData() throws(RecordingCallError) {
    // Pipes and some file systems do not support this, and need no wait.
    guard fdatasync(rawValue) == 0 || errno == EINVAL || errno == EROFS else {
      throw RecordingCallError("fdatasync", errno)
    }
  }
}

extension FilePath {
  var directory: FilePath {
    let directory = removingLastComponent()
    return directory.isEmpty ? "." : directory
  }

  func checkWritable() throws(RecordingCallError) {
    guard unsafe withPlatformString({ unsafe access($0, W_OK | X_OK) == 0 }) else {
      throw RecordingCallError("access", errno)
    }
  }

  /// Waits until the names in the directory are on the disk.
  func syncNames() throws(RecordingCallError) {
    let descriptor: FileDescriptor
    do {
      descriptor = try .open(self, .readOnly, options: [.directory, .closeOnExec])
    } catch {
      throw RecordingCallError("open", error)
    }
    defer { try? descriptor.close() }
    // EINVAL: the file system does not support this.
    guard fsync(descriptor.rawValue) == 0 || errno == EINVAL else {
      throw RecordingCallError("fsync", errno)
    }
  }

  /// Returns the names in the directory, in no particular order.
  func names() throws(RecordingCallError) -> [String] {
    guard let directory = unsafe withPlatformString({ unsafe opendir($0) }) else {
      throw RecordingCallError("opendir", errno)
    }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      // The kernel terminates the name with a zero byte.
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      names.append(name)
    }
    return names
  }

  func remove() throws(RecordingCallError) {
    guard unsafe withPlatformString({ unsafe unlink($0) == 0 }) || errno == ENOENT else {
      throw RecordingCallError("unlink", errno)
    }
  }
}

struct RecordingCallError: Error {
  var call: String
  var errno: Errno

  init(_ call: String, _ errno: CInt) { self.init(call, Errno(rawValue: errno)) }

  init(_ call: String, _ error: any Error) {
    self.call = call
    errno = error as? Errno ?? .ioError
  }
}
