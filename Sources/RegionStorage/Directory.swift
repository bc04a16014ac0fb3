import Glibc
import SystemPackage

/// The system calls on names.
enum Directory {
  /// Makes a directory and those above it, for this user alone.
  static func make(_ path: FilePath) throws(StoreError) {
    var made = FilePath(root: path.root)
    for component in path.components {
      made.append(component)
      let isMade = unsafe made.withPlatformString { unsafe mkdir($0, 0o700) == 0 }
      if isMade {
        try sync(made.removingLastComponent())
      } else if errno != EEXIST {
        // Some file systems refuse before they look.
        guard unsafe made.withPlatformString({ unsafe access($0, F_OK) != 0 }) else { continue }
        throw failure("mkdir", made)
      }
    }
  }

  /// Waits until the directory's names are on the disk.
  static func sync(_ path: FilePath) throws(StoreError) {
    let name = path.isEmpty ? "." : path
    let descriptor = unsafe name.withPlatformString {
      unsafe open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    guard descriptor >= 0 else { throw failure("open", name) }
    defer { close(descriptor) }
    // Some file systems cannot, and say so: they have nothing to wait for.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure("fsync", name) }
  }

  /// Gives a file a name that another has, at once.
  static func rename(_ old: FilePath, to new: FilePath) throws(StoreError) {
    guard unsafe both(old, new, { unsafe Glibc.rename($0, $1) }) else {
      throw failure("rename", old)
    }
  }

  /// Gives a file a second name; a file system without second names moves it.
  static func link(_ old: FilePath, to new: FilePath) throws(StoreError) {
    if unsafe both(old, new, { unsafe Glibc.link($0, $1) }) { return }
    try rename(old, to: new)
  }

  /// Removes a name, if it is there.
  static func remove(_ path: FilePath) {
    _ = unsafe path.withPlatformString { unsafe unlink($0) }
  }

  /// Whether there is something of that name.
  static func has(_ path: FilePath) -> Bool {
    var status = stat()
    return unsafe path.withPlatformString { unsafe lstat($0, &status) == 0 }
  }

  /// The file that a symbolic link stands for, so that it is replaced and not the link.
  static func resolve(_ path: FilePath) -> FilePath {
    unsafe path.withPlatformString { name in
      guard let resolved = unsafe realpath(name, nil) else { return path }
      defer { unsafe free(resolved) }
      return unsafe FilePath(platformString: resolved)
    }
  }

  private static func both(
    _ first: FilePath, _ second: FilePath,
    _ call: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
  ) -> Bool {
    // Both names are terminated and outlive the call.
    unsafe first.withPlatformString { first in
      unsafe second.withPlatformString { unsafe call(first, $0) == 0 }
    }
  }

  private static func failure(_ call: String, _ path: FilePath) -> StoreError {
    StoreError(file: path.string, problem: .failed(call: call, Errno(rawValue: errno)))
  }
}
