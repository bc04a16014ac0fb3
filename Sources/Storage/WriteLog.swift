import Bytes
import Synchronization
import SystemPackage

/// The log of the changes that the database does not have yet, in two files beside it.
///
///     0        4       8          16
///     ├────────┼───────┼──────────┼─────────┼──
///     │ length │ check │ sequence │ changes │ …  least significant octet first
///     └────────┴───────┴──────────┴─────────┴──
///
/// A write is one `pwrite` without a sync: it survives the process, and a power cut can lose whole
/// records only. While a transaction stores the records of one file, writes go to the other.
final class WriteLog: Sendable {
  /// The maximum length of a file, in bytes. Changes beyond it wait in memory only.
  static let maximumBytes = 8 << 20

  struct Found {
    var sequence: Int64
    var end: Int
    var changes: [Store.Change]
  }

  private struct Part: ~Copyable {
    var file: StateFile
    var bytes: Int
  }

  private struct State: ~Copyable {
    var current: Part
    var other: Part
    var sequence: Int64
  }

  private let state: Mutex<State>
  /// The records on opening that the database does not have.
  let found: [Found]

  /// Opens or creates the files. An existing database has the records through `committed`.
  init(_ path: FilePath, after committed: Int64?) throws(StorageError) {
    let first = try StateFile(path.beside("-log-1"), creating: true)
    let second = try StateFile(path.beside("-log-2"), creating: true)
    let one = try Self.read(first)
    let two = try Self.read(second)
    // A power cut may leave only the later file. Records after a missing one are ignored.
    let all = (one + two).filter { $0.sequence > committed ?? 0 }
      .sorted { $0.sequence < $1.sequence }
    let start = committed.map { $0 + 1 } ?? all.first?.sequence ?? 1
    found = zip(all, start...).prefix { $0.sequence == $1 }.map(\.0)
    let sequence = found.last?.sequence ?? committed ?? 0
    // Ignored records must not reappear when the files grow again.
    let current = Part(file: second, bytes: two.bytes(through: sequence))
    let other = Part(file: first, bytes: one.bytes(through: sequence))
    try current.file.resize(current.bytes)
    try other.file.resize(other.bytes)
    var state = State(current: current, other: other, sequence: sequence)
    // Both files keep the found records until a transaction stores them. New ones go to the newer
    // file.
    if (one.last?.sequence ?? 0) > (two.last?.sequence ?? 0) { swap(&state.current, &state.other) }
    self.state = Mutex(state)
  }

  /// Creates the files for a new database, in place of those of another one.
  static func anew(_ path: FilePath) throws(StorageError) -> WriteLog {
    for suffix in suffixes { StatePath.remove(path.beside(suffix)) }
    return try WriteLog(path, after: 0)
  }

  static func hasBytes(_ path: FilePath) -> Bool {
    suffixes.contains { (try? path.beside($0).stat().size) ?? 0 > 0 }
  }

  private static let suffixes = ["-log-1", "-log-2"]

  private static func read(_ file: borrowing StateFile) throws(StorageError) -> [Found] {
    let bytes = try file.read(maximumBytes)
    var cursor = unsafe ByteCursor(bytes.span.bytes)
    var found: [Found] = []
    while let record = try? Self.record(&cursor) { found.append(record) }
    return found
  }

  /// Returns the next record. Throws at the end or at an incomplete one.
  private static func record(_ cursor: inout ByteCursor) throws(ParseError) -> Found {
    let length = try cursor.readLittleEndian(UInt32.self)
    let check = try cursor.readLittleEndian(UInt32.self)
    var rest = ByteCursor(try cursor.read(8 + Int(length)))
    let sequence: Int64 = try rest.read()
    guard sequence > 0, length > 0, check == Self.check(rest.bytes) else {
      throw ParseError(.invalid("an incomplete record"), at: cursor.offset)
    }
    let count = try rest.readLittleEndian(UInt32.self)
    var changes: [Store.Change] = []
    for _ in 0..<count { changes.append(try rest.read()) }
    return Found(sequence: sequence, end: cursor.position, changes: changes)
  }

  /// Returns the FNV-1a hash of a sequence number and changes.
  private static func check(_ bytes: borrowing RawSpan) -> UInt32 {
    var hash: UInt32 = 0x811C_9DC5
    for index in 0..<bytes.byteCount {
      // The index is within the bytes.
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      hash = (hash ^ UInt32(byte)) &* 0x0100_0193
    }
    return hash
  }

  func append(_ changes: [Store.Change]) throws(StorageError) {
    var body: [UInt8] = []
    body.write(UInt32(truncatingIfNeeded: changes.count))
    for change in changes { body.write(change) }
    try state.withLock { [body] state throws(StorageError) in
      let next = state.sequence + 1
      var checked: [UInt8] = []
      checked.write(next)
      checked += body
      var record: [UInt8] = []
      record.write(UInt32(truncatingIfNeeded: body.count))
      record.write(unsafe Self.check(checked.span.bytes))
      record += checked
      guard state.current.bytes + record.count <= Self.maximumBytes else {
        throw StorageError(file: state.current.file.path.string, problem: .queueFull)
      }
      do throws(StorageError) {
        try state.current.file.write(record, at: state.current.bytes)
      } catch {
        // This removes the part that was written.
        try? state.current.file.resize(state.current.bytes)
        throw error
      }
      state.current.bytes += record.count
      state.sequence = next
    }
  }

  /// Begins a transaction of the records so far, and returns the latest sequence number.
  func begin() -> Int64 {
    state.withLock { state in
      if state.other.bytes == 0 { swap(&state.current, &state.other) }
      return state.sequence
    }
  }

  /// Removes the records that a transaction has stored.
  func end() {
    state.withLock { state in
      guard state.other.bytes > 0, (try? state.other.file.resize(0)) != nil else { return }
      state.other.bytes = 0
    }
  }

  func removeAll() {
    end()
    state.withLock { state in
      if (try? state.current.file.resize(0)) != nil { state.current.bytes = 0 }
    }
  }
}

extension [WriteLog.Found] {
  fileprivate func bytes(through sequence: Int64) -> Int {
    last { $0.sequence <= sequence }?.end ?? 0
  }
}

// MARK: Changes as bytes

/// A value of a record. Its form never changes, because a log may be of an earlier version.
private protocol LogValue {
  init(parsing cursor: inout ByteCursor) throws(ParseError)
  func append(to bytes: inout [UInt8])
}

extension ByteCursor {
  @_lifetime(self: copy self)
  fileprivate mutating func read<Value: LogValue>() throws(ParseError) -> Value {
    try Value(parsing: &self)
  }
}

extension [UInt8] {
  fileprivate mutating func write<each Value: LogValue>(_ values: repeat each Value) {
    repeat (each values).append(to: &self)
  }
}

extension LogValue where Self: FixedWidthInteger & BitwiseCopyable {
  fileprivate init(parsing cursor: inout ByteCursor) throws(ParseError) {
    self = try cursor.readLittleEndian(Self.self)
  }

  fileprivate func append(to bytes: inout [UInt8]) {
    unsafe withUnsafeBytes(of: littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }
}

extension UInt8: LogValue {}
extension UInt32: LogValue {}
extension UInt64: LogValue {}
extension Int64: LogValue {}

extension Double: LogValue {
  fileprivate init(parsing cursor: inout ByteCursor) throws(ParseError) {
    self.init(bitPattern: try cursor.read())
  }

  fileprivate func append(to bytes: inout [UInt8]) { bytes.write(bitPattern) }
}

extension Bool: LogValue {
  fileprivate init(parsing cursor: inout ByteCursor) throws(ParseError) {
    self = try cursor.readUInt8() != 0
  }

  fileprivate func append(to bytes: inout [UInt8]) { bytes.write(UInt8(self ? 1 : 0)) }
}

extension Optional: LogValue where Wrapped: LogValue {
  fileprivate init(parsing cursor: inout ByteCursor) throws(ParseError) {
    let isPresent: Bool = try cursor.read()
    self = isPresent ? .some(try cursor.read()) : nil
  }

  fileprivate func append(to bytes: inout [UInt8]) {
    bytes.write(self != nil)
    if let value = self { bytes.write(value) }
  }
}

extension [UInt8]: LogValue {
  fileprivate init(parsing cursor: inout ByteCursor) throws(ParseError) {
    let count = try cursor.readLittleEndian(UInt32.self)
    let span = try cursor.read(Int(count))
    // The bytes are copied at once.
    self = unsafe span.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  fileprivate func append(to bytes: inout [UInt8]) {
    bytes.write(UInt32(truncatingIfNeeded: count))
    bytes += self
  }
}

extension String: LogValue {
  fileprivate init(parsing cursor: inout ByteCursor) throws(ParseError) {
    self.init(decoding: try [UInt8](parsing: &cursor), as: UTF8.self)
  }

  fileprivate func append(to bytes: inout [UInt8]) { bytes.write(Array(utf8)) }
}

extension Store.Key: LogValue {
  fileprivate init(parsing cursor: inout ByteCursor) throws(ParseError) {
    try self.init(service: cursor.read(), group: cursor.read(), identifier: cursor.read())
  }

  fileprivate func append(to bytes: inout [UInt8]) { bytes.write(service, group, identifier) }
}

extension Store.Registration: LogValue {
  fileprivate init(parsing cursor: inout ByteCursor) throws(ParseError) {
    try self.init(key: cursor.read(), definition: cursor.read(), state: cursor.read())
  }

  fileprivate func append(to bytes: inout [UInt8]) { bytes.write(key, definition, state) }
}

extension StoredEntry.Recipients: LogValue {
  fileprivate init(parsing cursor: inout ByteCursor) throws(ParseError) {
    try self.init(service: cursor.read(), group: cursor.read())
  }

  fileprivate func append(to bytes: inout [UInt8]) { bytes.write(service, group) }
}

extension StoredEntry: LogValue {
  fileprivate init(parsing cursor: inout ByteCursor) throws(ParseError) {
    try self.init(
      id: cursor.read(), time: cursor.read(), kind: cursor.read(), recipients: cursor.read(),
      region: cursor.read(), beacon: cursor.read(), payload: cursor.read(), dwell: cursor.read())
  }

  fileprivate func append(to bytes: inout [UInt8]) {
    bytes.write(id, time, kind, recipients, region, beacon, payload, dwell)
  }
}

extension StoredPresence: LogValue {
  fileprivate init(parsing cursor: inout ByteCursor) throws(ParseError) {
    try self.init(
      beacon: cursor.read(), hour: cursor.read(), seconds: cursor.read(), sightings: cursor.read(),
      samples: cursor.read(), meanRSSI: cursor.read(), bestRSSI: cursor.read(),
      isProtected: cursor.read())
  }

  fileprivate func append(to bytes: inout [UInt8]) {
    bytes.write(beacon, hour, seconds, sightings, samples, meanRSSI, bestRSSI, isProtected)
  }
}

extension Store.Change: LogValue {
  fileprivate init(parsing cursor: inout ByteCursor) throws(ParseError) {
    switch try cursor.readUInt8() {
    case 1: self = try .register(cursor.read())
    case 2: self = try .remove(cursor.read())
    case 3: self = try .setState(cursor.read(), cursor.read())
    case 4: self = try .add(cursor.read())
    case 5: self = try .setAuthorization(cursor.read())
    // A version before this one wrote it for a group's mark.
    case 6: self = try .settle(group: cursor.read(), through: cursor.read())
    case 7: self = try .mark(reader: cursor.read(), through: cursor.read())
    case 8: self = try .addPresence(cursor.read())
    case 9: self = try .addGap(EntryGap(first: cursor.read(), last: cursor.read()))
    case 10: self = try .setGeneration(cursor.read())
    default: throw ParseError(.invalid("an unknown kind of change"), at: cursor.offset)
    }
  }

  fileprivate func append(to bytes: inout [UInt8]) {
    switch self {
    case .register(let registration): bytes.write(UInt8(1), registration)
    case .remove(let key): bytes.write(UInt8(2), key)
    case .setState(let key, let state): bytes.write(UInt8(3), key, state)
    case .add(let entry): bytes.write(UInt8(4), entry)
    case .setAuthorization(let value): bytes.write(UInt8(5), value)
    case .mark(let reader, let id): bytes.write(UInt8(7), reader, id)
    case .addPresence(let presence): bytes.write(UInt8(8), presence)
    case .addGap(let gap): bytes.write(UInt8(9), gap.first, gap.last)
    case .setGeneration(let generation): bytes.write(UInt8(10), generation)
    }
  }
}
