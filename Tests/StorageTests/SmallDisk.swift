import Foundation
import TestSupport
import Testing

/// A file system of half a mebibyte, or of another size.
final class SmallDisk {
  let scratch: Scratch

  init(size: String = "512k") throws {
    scratch = try Scratch()
    try #require(unsafe mount("none", scratch.folder.path, "tmpfs", 0, "size=\(size)") == 0)
  }

  /// Makes it read-only as soon as no file on it is open for writing.
  func remountReadOnly() throws {
    let flags = UInt(MS_REMOUNT | MS_RDONLY)
    for _ in 0..<500 {
      if unsafe mount("none", scratch.folder.path, "tmpfs", flags, "") == 0 { return }
      usleep(10000)
    }
    Issue.record("it stayed in use: \(errno)")
  }

  func remountWritable() throws {
    try #require(unsafe mount("none", scratch.folder.path, "tmpfs", UInt(MS_REMOUNT), "") == 0)
  }

  deinit { unsafe umount2(scratch.folder.path, Int32(MNT_DETACH)) }

  static let isPossible = getuid() == 0 && (try? SmallDisk()) != nil
}
