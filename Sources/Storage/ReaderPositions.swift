import Glibc
import Synchronization
import SystemPackage

/// The file beside a database that has each reader's position, until the database has it, and how
/// the last process ended. One store at a time holds the lock of the file.
///
///     0            8         16        24          32              40
///     ├────────────┼─────────┼─────────┼───────────┼───────────────┼──────────┼──
///     │ "CLread01" │ process │ end     │ boot      │ reader's name │ position │ …
///     └────────────┴─────────┴─────────┴───────────┴───────────────┴──────────┴──
///
/// Numbers have the processor's byte order, and a name is stored as its hash. A position is one
/// `pwrite` of eight bytes, possible on a full disk. The file is never synced: after a power cut,
/// the positions are those of the latest transaction.
final class ReaderPositions: Sendable {
  enum End: Int64 {
    /// Everything was stored.
    case clean = 0
    /// The process was killed or still runs. The log has all that readers received.
    case open = 1
    /// The process was killed after readers received entries that it could not write.
    case unwritten = 2
  }

  private static let magic = Array("CLread01".utf8)
  private static let endOffset = 16
  private static let bootOffset = 24
  private static let headerBytes = 32
  private static let bytes = 4096
  private static let maximumReaders = (bytes - headerBytes) / 16

  let end: End
  /// Whether an earlier boot of the machine wrote the file.
  let isOfEarlierStart: Bool
  /// Whether the file was missing or lost its bytes in a power cut.
  let isNew: Bool
  private let file: StateFile
  private struct State {
    /// The place and the position of each reader, by the hash of its name.
    var readers: [Int64: (place: Int, position: Int64)] = [:]
    var failure: StorageError?

    var vacantPlace: Int? {
      let taken = Set(readers.values.map(\.place))
      return (0..<maximumReaders).first { !taken.contains($0) }
    }
  }
  private let state: Mutex<State>

  /// Opens or creates the file and takes its lock. An error about the lock names the database.
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
      let block = Self.magic + bytes.dropFirst(8)
      try file.write(block + [UInt8](repeating: 0, count: Self.bytes - block.count), at: 0)
    }
    try file.writeProcess()
    func number(_ offset: Int) -> Int64 { bytes.number(at: offset) ?? 0 }
    let boot = Self.boot
    end = End(rawValue: number(Self.endOffset)) ?? .unwritten
    isOfEarlierStart = number(Self.bootOffset) != boot
    var state = State()
    for place in 0..<Self.maximumReaders {
      let name = number(Self.headerBytes + 16 * place)
      guard name != 0 else { continue }
      let position = number(Self.headerBytes + 16 * place + 8)
      // A position that no store has given comes from a damaged disk.
      guard (0...Store.maximumID).contains(position) else { continue }
      state.readers[name] = (place, position)
    }
    try file.write(boot, at: Self.bootOffset)
    try file.write(End.open.rawValue, at: Self.endOffset)
    self.file = file
    self.state = Mutex(state)
  }

  var highest: Int64 { state.withLock { $0.readers.values.map(\.position).max() } ?? 0 }

  /// Whether the database and the log have the last identifier that was given.
  var isExact: Bool { end == .clean && !isOfEarlierStart }

  /// Returns whether entries that readers received may be lost: they could not be written, or a
  /// power cut came before their sync. Without this file, only the database shows a clean end.
  func isLossy(wasClosed: Bool) -> Bool {
    switch end {
    case .unwritten: true
    case .open: isOfEarlierStart
    case .clean: isOfEarlierStart && !wasClosed
    }
  }

  func position(of reader: String) -> Int64? {
    state.withLock { $0.readers[Self.hash(reader)]?.position }
  }

  /// Records a reader's position, which never decreases, if there is a place for it.
  func put(_ reader: String, _ position: Int64) {
    let name = Self.hash(reader)
    state.withLock { state in
      let known = state.readers[name]
      guard position > known?.position ?? .min, let place = known?.place ?? state.vacantPlace
      else { return }
      do throws(StorageError) {
        // The name is written last, because a place without a name does not count.
        try file.write(position, at: Self.headerBytes + 16 * place + 8)
        if known == nil { try file.write(name, at: Self.headerBytes + 16 * place) }
        state.readers[name] = (place, position)
        state.failure = nil
      } catch {
        state.failure = error
      }
    }
  }

  /// Records the end for the next process to find. Returns whether the file has it.
  @discardableResult
  func record(_ end: End) -> Bool {
    (try? file.write(end.rawValue, at: Self.endOffset)) != nil
  }

  /// The failure of the latest position, until the database has all positions.
  var failure: StorageError? { state.withLock { $0.failure } }

  func areStored() { state.withLock { $0.failure = nil } }

  /// Returns the hash of a name, which is never 0.
  private static func hash(_ name: String) -> Int64 {
    name.fnv1a == 0 ? 1 : Int64(bitPattern: name.fnv1a)
  }

  /// A number that identifies this boot of the machine; 0 if it is unknown.
  private static var boot: Int64 {
    FilePath("/proc/sys/kernel/random/boot_id").firstText.map(hash) ?? 0
  }
}
