// Calls that SystemPackage lacks.
import Glibc
import SystemPackage

extension FileDescriptor {
  /// Waits until the data, and the metadata needed to read it, is on the disk.
  func syncData() throws(RecordingError.Problem) {
    // Pipes and some file systems do not support this, and need no wait.
    guard fdatasync(rawValue) == 0 || errno == EINVAL || errno == EROFS else {
      throw .init(call: "fdatasync")
    }
  }
}

extension FilePath {
  var directory: FilePath {
    let directory = removingLastComponent()
    return directory.isEmpty ? "." : directory
  }

  /// Checks that this is a directory with names that can be listed and added.
  func checkAccess() throws(RecordingError.Problem) {
    let isPermitted = unsafe appending(".").withPlatformString {
      unsafe access($0, R_OK | W_OK | X_OK) == 0
    }
    guard isPermitted else { throw .init(call: "access") }
  }

  /// Waits until the names in the directory are on the disk.
  func syncNames() throws(RecordingError.Problem) {
    let descriptor: FileDescriptor
    do {
      descriptor = try .open(self, .readOnly, options: [.directory, .closeOnExec])
    } catch {
      throw .init(call: "open", error)
    }
    defer { try? descriptor.close() }
    // EINVAL: the file system does not support this.
    guard fsync(descriptor.rawValue) == 0 || errno == EINVAL else { throw .init(call: "fsync") }
  }

  func remove() throws(RecordingError.Problem) {
    guard unsafe withPlatformString({ unsafe unlink($0) == 0 }) || errno == ENOENT else {
      throw .init(call: "unlink")
    }
  }
}

extension RecordingError.Problem {
  /// Creates the problem of a call that failed, by default with the thread's last error.
  init(call: String, _ error: any Error = Errno(rawValue: Glibc.errno)) {
    switch error as? Errno ?? .ioError {
    case .fileExists: self = .exists
    case .brokenPipe: self = .noReader
    case let errno: self = .failed(call: call, errno)
    }
  }
}
