import Glibc
import Synchronization

/// A disk that syncs no file of a folder before it is released.
///
/// It takes the place of fsync(2) and fdatasync(2) in the process of the tests, which SQLite calls.
final class SlowDisk: Sendable {
  private struct State {
    var isSlow = true
    var isSyncing = false
    var syncs = 0
  }

  private let folder: String
  private let state = Mutex(State())

  private static let current = Mutex<SlowDisk?>(nil)

  /// Makes the disk slow from now on.
  init(_ folder: String) {
    self.folder = folder
    Self.current.withLock { $0 = self }
  }

  /// Whether a sync waits for the disk now.
  var isSyncing: Bool { state.withLock { $0.isSyncing } }

  /// The number of syncs so far.
  var syncs: Int { state.withLock { $0.syncs } }

  /// Lets syncs return.
  func release() { state.withLock { $0.isSlow = false } }

  fileprivate static func sync(_ descriptor: Int32) {
    guard let disk = current.withLock({ $0 }) else { return }
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/fd/\(descriptor)", &path, path.count - 1)
    let name = String(
      decoding: path.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard name.hasPrefix(disk.folder) else { return }
    disk.state.withLock { state in
      state.syncs += 1
      state.isSyncing = state.isSlow
    }
    while disk.state.withLock({ $0.isSlow }) { usleep(1000) }
    disk.state.withLock { $0.isSyncing = false }
  }
}

private func callNext(_ name: String, _ descriptor: Int32) -> Int32 {
  // RTLD_NEXT: the C library's.
  guard let next = unsafe dlsym(UnsafeMutableRawPointer(bitPattern: -1), name) else { return -1 }
  typealias Sync = @convention(c) (Int32) -> Int32
  return unsafe unsafeBitCast(next, to: Sync.self)(descriptor)
}

@_cdecl("fsync")
public func syncSlowly(_ descriptor: Int32) -> Int32 {
  SlowDisk.sync(descriptor)
  return callNext("fsync", descriptor)
}

@_cdecl("fdatasync")
public func syncDataSlowly(_ descriptor: Int32) -> Int32 {
  SlowDisk.sync(descriptor)
  return callNext("fdatasync", descriptor)
}
