import Glibc
import Synchronization
import SystemPackage

/// The file beside a database that one store at a time has locked, with how far each reader is until the database
/// itself has that, and how the process before ended.
///
///     0            8         16        24          32              40
///     ├────────────┼─────────┼─────────┼───────────┼───────────────┼──────────┼──
///     │ "CLread01" │ process │ end     │ boot      │ reader's name │ position │ …  in the processor's byte order
///     └────────────┴─────────┴─────────┴───────────┴───────────────┴──────────┴──
///
/// A position is one `pwrite` of eight bytes into the place of its reader. It takes less than a microsecond and survives
/// the process. The file has its block from the start, so that a full disk takes positions. It is never synced: after a
/// power cut the positions are those of the latest transaction.
final class ReaderPositions: Sendable {
  /// How the process before ended.
  enum End: Int64 {
    /// Everything was stored.
    case clean = 0
    /// The process was killed, or still runs: what readers were given is in the log, unless this file could not be written
    /// either.
    case open = 1
    /// The process was killed, and had given readers what it could not write.
    case unwritten = 2
  }

  private static let magic = Array("CLread01".utf8)
  private static let endOffset = 16
  private static let bootOffset = 24
  private static let headerBytes = 32
  private static let bytes = 4096
  private static let maximumReaders = (bytes - headerBytes) / 16

  /// The positions that the file had when it was opened, by the hash of the reader's name.
  private let found: [Int64: Int64]
  /// How the process before ended.
  let end: End
  /// Whether the machine was started again since.
  let isOfEarlierStart: Bool
  /// Whether the file did not exist, or a power cut lost its bytes.
  let isNew: Bool
  private let file: StateFile
  private struct State {
    /// The place and the position of each reader, by the hash of its name.
    var readers: [Int64: (place: Int, position: Int64)] = [:]
    var failure: StorageError?
  }
  private let state: Mutex<State>

  /// Opens or creates the file and takes its lock; waits for half a second at most. Errors of a lock that is taken
  /// name the database.
  init(_ path: FilePath, of database: FilePath) throws(StorageError) {
    let file = try StateFile(path, creating: true)
    try file.lock(of: database)
    let bytes = try file.read(Self.bytes)
    let magic = bytes.prefix(8)
    isNew = magic.allSatisfy { $0 == 0 }
    guard isNew || Array(magic) == Self.magic else {
      throw StorageError(file: path.string, problem: .foreign(.unknown))
    }
    if isNew || bytes.count < Self.bytes {
      // One block now, so that a disk that becomes full later still takes positions.
      let block = Self.magic + bytes.dropFirst(8)
      try file.write(block + [UInt8](repeating: 0, count: Self.bytes - block.count), at: 0)
    }
    try file.writeProcess()
    func number(_ offset: Int) -> Int64 {
      guard offset + 8 <= bytes.count else { return 0 }
      // The offset is within the array, and the load is checked.
      return unsafe bytes.withUnsafeBytes {
        unsafe $0.loadUnaligned(fromByteOffset: offset, as: Int64.self)
      }
    }
    let boot = Self.boot
    end = End(rawValue: number(Self.endOffset)) ?? .unwritten
    isOfEarlierStart = number(Self.bootOffset) != boot
    var state = State()
    var found: [Int64: Int64] = [:]
    for place in 0..<Self.maximumReaders {
      let name = number(Self.headerBytes + 16 * place)
      guard name != 0 else { continue }
      let position = number(Self.headerBytes + 16 * place + 8)
      // A position that no store ever gave comes from a damaged disk.
      guard (0...Store.maximumID).contains(position) else { continue }
      found[name] = position
      state.readers[name] = (place, position)
    }
    self.found = found
    try file.write(boot, at: Self.bootOffset)
    try file.write(End.open.rawValue, at: Self.endOffset)
    self.file = file
    self.state = Mutex(state)
  }

  /// The highest position; 0 where there is none.
  var highest: Int64 { found.values.max() ?? 0 }

  /// Whether the database and the log have the last identifier that was given.
  var isExact: Bool { end == .clean && !isOfEarlierStart }

  /// Whether entries that readers were given may be gone: those that could not be written, or, after a power cut, those
  /// that were not synced. This file may have been lost too, so that only the database shows a clean end.
  func isLossy(wasClosed: Bool) -> Bool {
    switch end {
    case .unwritten: true
    case .open: isOfEarlierStart
    case .clean: isOfEarlierStart && !wasClosed
    }
  }

  /// Returns the position of a reader that the file had when it was opened.
  func position(of reader: String) -> Int64? { found[Self.hash(reader)] }

  /// Records how far a reader is, which never goes back. Returns whether the file has it.
  @discardableResult
  func put(_ reader: String, _ position: Int64) -> Bool {
    let name = Self.hash(reader)
    return state.withLock { state in
      do throws(StorageError) {
        if let reader = state.readers[name] {
          guard position > reader.position else { return true }
          try file.write(position, at: Self.headerBytes + 16 * reader.place + 8)
          state.readers[name] = (reader.place, position)
          state.failure = nil
          return true
        }
        guard state.readers.count < Self.maximumReaders else { return false }
        let taken = Set(state.readers.values.map(\.place))
        guard let place = (0..<Self.maximumReaders).first(where: { !taken.contains($0) }) else {
          return false
        }
        // The name comes last: a place without one does not count.
        try file.write(position, at: Self.headerBytes + 16 * place + 8)
        try file.write(name, at: Self.headerBytes + 16 * place)
        state.readers[name] = (place, position)
        return true
      } catch {
        state.failure = error
        return false
      }
    }
  }

  /// Records how the process would have ended if it ended now. Returns whether the file has it.
  @discardableResult
  func record(_ end: End) -> Bool {
    (try? file.write(end.rawValue, at: Self.endOffset)) != nil
  }

  /// The failure of the latest position, until the database has it.
  var failure: StorageError? { state.withLock { $0.failure } }

  /// Records that the database has all positions.
  func areStored() { state.withLock { $0.failure = nil } }

  /// FNV-1a of a name; never 0.
  private static func hash(_ name: String) -> Int64 {
    let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    return hash == 0 ? 1 : Int64(bitPattern: hash)
  }

  /// Distinguishes this start of the machine from others.
  private static var boot: Int64 {
    let path = FilePath("/proc/sys/kernel/random/boot_id")
    guard let file = try? FileDescriptor.open(path, .readOnly, options: .closeOnExec) else {
      return 0
    }
    defer { try? file.close() }
    var room = [UInt8](repeating: 0, count: 64)
    // The array's memory is used during the call alone.
    let count = unsafe room.withUnsafeMutableBytes { (try? unsafe file.read(into: $0)) ?? 0 }
    return hash(String(decoding: room.prefix(count), as: UTF8.self))
  }
}
