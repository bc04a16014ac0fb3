import Glibc
import Synchronization

/// A log in shared memory that is a file: a line costs no system call, and stays when its writer is
/// killed. Each begins with `#`, which is written last: a line without it was cut off.
///
/// `@unchecked Sendable`: the only state is the memory, of which each line gets bytes of its own by an
/// atomic addition.
@safe final class LogFile: @unchecked Sendable {
  private static let capacity = 2 << 20
  private let memory: UnsafeMutableRawPointer
  private let length = Atomic(0)

  init(_ path: String) {
    let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard ftruncate(file, Self.capacity) == 0,
      let memory = unsafe mmap(nil, Self.capacity, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
      unsafe memory != UnsafeMutableRawPointer(bitPattern: -1)
    else { exit(73) }
    unsafe self.memory = memory
  }

  func write(_ line: String) { write(Self.bytes(of: line)) }

  /// What is written of a line.
  static func bytes(of line: String) -> [UInt8] { Array("#\(line)\n".utf8) }

  func write(_ bytes: [UInt8]) {
    let start = length.add(bytes.count, ordering: .relaxed).oldValue
    guard start + bytes.count <= Self.capacity else { exit(74) }
    // The bytes lie within the memory, and no other line has them. The array is not empty.
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe (memory + start + 1).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()).baseAddress
          ?? UnsafeRawPointer(memory),
        byteCount: bytes.count - 1)
      atomicMemoryFence(ordering: .releasing)
      unsafe memory.storeBytes(of: bytes[0], toByteOffset: start, as: UInt8.self)
    }
  }
}
