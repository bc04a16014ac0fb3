import Glibc
import SystemPackage

/// The lock file beside a journal: who has it keeps the journal. It is never renamed or removed, so all
/// who come lock the same file; the kernel opens the lock when its holder ends, however that is.
struct StoreLock: ~Copyable {
  private let file: OpenFile

  /// Takes the lock; waits half a second at most.
  ///
  /// - Throws: ``StoreError`` that names the process that has it.
  init(for journal: FilePath) throws(StoreError) {
    let file = try OpenFile(journal.beside(".lock"), options: .create)
    // A child between fork and exec has what its parent had: for a moment, a lock can outlive its
    // holder.
    var tries = 50
    while try !file.lock() {
      if tries > 0 {
        tries -= 1
        usleep(10000)
        continue
      }
      var room = [UInt8](repeating: 0, count: 16)
      let count = (try? file.read(at: 0, into: &room)) ?? 0
      let digits = room.prefix(count).prefix { $0 != UInt8(ascii: "\n") }
      let process = Int32(String(decoding: digits, as: UTF8.self))
      throw StoreError(
        file: journal.string,
        problem: .inUse(process: process, name: process.flatMap(Self.name(of:))))
    }
    // For that sentence alone, so no matter if it fails.
    try? file.cut(to: 0)
    try? file.write(Array("\(getpid())\n".utf8), at: 0)
    self.file = file
  }

  private static func name(of process: Int32) -> String? {
    let path = FilePath("/proc/\(process)/comm")
    guard let file = try? FileDescriptor.open(path, .readOnly) else { return nil }
    defer { try? file.close() }
    var room = [UInt8](repeating: 0, count: 32)
    // The array's memory is used during the call alone.
    let count = (unsafe try? room.withUnsafeMutableBytes { unsafe try file.read(into: $0) }) ?? 0
    let name = room.prefix(count).prefix { $0 != UInt8(ascii: "\n") }
    return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
  }
}

extension FilePath {
  /// The file of the same name with something behind it.
  func beside(_ suffix: String) -> FilePath {
    FilePath(string + suffix)
  }
}
