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
/// A write is one `pwrite` without a sync: it survives the process and takes some microseconds. A
/// power cut can lose the latest records, but never a part of one. While a transaction stores the
/// records of one file, writes go to the other; then the first one is emptied.
final class WriteLog: Sendable {
  /// The maximum length of a file, in bytes. Changes beyond it wait in memory only.
  static let maximumBytes = 8 << 20
  private static let headerBytes = 16

  struct Found {
    var sequence: Int64
    /// The offset of its end in its file.
    var end: Int
    var changes: [Store.Change]
  }

  private struct State: ~Copyable {
    var current: StateFile
    var other: StateFile
    var currentBytes = 0
    var otherBytes = 0
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
    let (firstBytes, secondBytes) = (one.bytes(through: sequence), two.bytes(through: sequence))
    try first.resize(firstBytes)
    try second.resize(secondBytes)
    // Both files keep the found records until a transaction stores them. New ones go to the newer
    // file.
    let isNewer = (one.last?.sequence ?? 0) > (two.last?.sequence ?? 0)
    state = Mutex(
      isNewer
        ? State(
          current: first, other: second, currentBytes: firstBytes, otherBytes: secondBytes,
          sequence: sequence)
        : State(
          current: second, other: first, currentBytes: secondBytes, otherBytes: firstBytes,
          sequence: sequence))
  }

  private static func read(_ file: borrowing StateFile) throws(StorageError) -> [Found] {
    let bytes = try file.read(maximumBytes)
    var cursor = unsafe ByteCursor(bytes.span.bytes)
    var found: [Found] = []
    while let record = Self.next(&cursor) { found.append(record) }
    return found
  }

  /// Returns the next record; `nil` at the end or at an incomplete one.
  private static func next(_ cursor: inout ByteCursor) -> Found? {
    do throws(ParseError) {
      let length = try cursor.readLittleEndian(UInt32.self)
      let check = try cursor.readLittleEndian(UInt32.self)
      let sequence = try cursor.readLittleEndian(Int64.self)
      guard sequence > 0, length > 0 else { return nil }
      let body = try cursor.read(Int(length))
      guard check == Self.check(sequence, body) else { return nil }
      var rest = ByteCursor(body)
      return Found(
        sequence: sequence, end: cursor.position, changes: try rest.readChanges())
    } catch {
      return nil
    }
  }

  private static func check(_ sequence: Int64, _ body: borrowing RawSpan) -> UInt32 {
    var hash: UInt32 = 0x811C_9DC5
    for shift in stride(from: 0, to: 64, by: 8) {
      hash = (hash ^ UInt32(truncatingIfNeeded: sequence >> shift) & 0xFF) &* 0x0100_0193
    }
    for index in 0..<body.byteCount {
      // The index is within the bytes.
      let byte = unsafe body.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      hash = (hash ^ UInt32(byte)) &* 0x0100_0193
    }
    return hash
  }

  func append(_ changes: [Store.Change]) throws(StorageError) {
    var body: [UInt8] = []
    body.append(changes)
    try state.withLock { [body] state throws(StorageError) in
      let next = state.sequence + 1
      var record: [UInt8] = []
      record.reserveCapacity(Self.headerBytes + body.count)
      record.append(UInt32(truncatingIfNeeded: body.count))
      record.append(unsafe Self.check(next, body.span.bytes))
      record.append(next)
      record += body
      guard state.currentBytes + record.count <= Self.maximumBytes else {
        throw StorageError(file: state.current.path.string, problem: .queueFull)
      }
      do throws(StorageError) {
        try state.current.write(record, at: state.currentBytes)
      } catch {
        // This removes the part that was written.
        try? state.current.resize(state.currentBytes)
        throw error
      }
      state.currentBytes += record.count
      state.sequence = next
    }
  }

  /// Begins a transaction of the records so far, and returns the latest sequence number. Later
  /// records go to the other file, unless it has records that no transaction has stored.
  func begin() -> Int64 {
    state.withLock { state in
      if state.otherBytes == 0 {
        swap(&state.current, &state.other)
        swap(&state.currentBytes, &state.otherBytes)
      }
      return state.sequence
    }
  }

  /// Removes the records that a transaction has stored. If this fails, none is stored twice,
  /// because the database has its sequence number.
  func end() {
    state.withLock { state in
      guard state.otherBytes > 0, (try? state.other.resize(0)) != nil else { return }
      state.otherBytes = 0
    }
  }

  func removeAll() {
    end()
    state.withLock { state in
      if (try? state.current.resize(0)) != nil { state.currentBytes = 0 }
    }
  }
}

extension [WriteLog.Found] {
  /// Returns the length of the records through a sequence number, in bytes.
  fileprivate func bytes(through sequence: Int64) -> Int {
    last { $0.sequence <= sequence }?.end ?? 0
  }
}

// MARK: Changes as bytes

extension [UInt8] {
  fileprivate mutating func append(_ number: some FixedWidthInteger & BitwiseCopyable) {
    unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe append(contentsOf: $0) }
  }

  private mutating func append(field bytes: [UInt8]) {
    append(UInt32(truncatingIfNeeded: bytes.count))
    self += bytes
  }

  private mutating func append(field text: String) { append(field: Array(text.utf8)) }

  private mutating func append<Value>(optional value: Value?, _ body: (inout Self, Value) -> Void) {
    append(UInt8(value == nil ? 0 : 1))
    if let value { body(&self, value) }
  }

  private mutating func append(_ key: Store.Key) {
    for part in [key.service, key.group, key.identifier] { append(field: part) }
  }

  fileprivate mutating func append(_ changes: [Store.Change]) {
    append(UInt32(truncatingIfNeeded: changes.count))
    for change in changes {
      switch change {
      case .register(let registration):
        append(UInt8(1))
        append(registration.key)
        append(field: registration.definition)
        append(optional: registration.state) { $0.append(field: $1) }
      case .remove(let key):
        append(UInt8(2))
        append(key)
      case .setState(let key, let state):
        append(UInt8(3))
        append(key)
        append(field: state)
      case .add(let entry):
        append(UInt8(4))
        append(entry)
      case .setAuthorization(let value):
        append(UInt8(5))
        append(optional: value) { $0.append(field: $1) }
      case .settle(let group, let id):
        append(UInt8(6))
        append(field: group)
        append(id)
      case .mark(let reader, let id):
        append(UInt8(7))
        append(field: reader)
        append(id)
      case .addPresence(let presence):
        append(UInt8(8))
        append(presence)
      case .addGap(let gap):
        append(UInt8(9))
        append(gap.first)
        append(gap.last)
      case .setGeneration(let generation):
        append(UInt8(10))
        append(field: generation)
      }
    }
  }

  private mutating func append(_ entry: StoredEntry) {
    append(entry.id)
    append(entry.time)
    append(field: entry.kind)
    append(optional: entry.recipients) { bytes, recipients in
      bytes.append(field: recipients.service)
      bytes.append(field: recipients.group)
    }
    append(optional: entry.region) { $0.append(field: $1) }
    append(optional: entry.beacon) { $0.append(field: $1) }
    append(field: entry.payload)
    append(optional: entry.dwell) { $0.append($1.bitPattern) }
  }

  private mutating func append(_ presence: StoredPresence) {
    append(field: presence.beacon)
    append(presence.hour)
    append(presence.seconds.bitPattern)
    append(presence.sightings)
    append(presence.samples)
    append(optional: presence.meanRSSI) { $0.append($1.bitPattern) }
    append(optional: presence.bestRSSI) { $0.append($1) }
    append(UInt8(presence.isProtected ? 1 : 0))
  }
}

extension ByteCursor {
  @_lifetime(self: copy self)
  private mutating func readField() throws(ParseError) -> [UInt8] {
    let count = Int(try readLittleEndian(UInt32.self))
    let span = try read(count)
    // The bytes are copied at once.
    return unsafe span.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  @_lifetime(self: copy self)
  private mutating func readText() throws(ParseError) -> String {
    String(decoding: try readField(), as: UTF8.self)
  }

  @_lifetime(self: copy self)
  private mutating func readFlag() throws(ParseError) -> Bool { try readUInt8() != 0 }

  @_lifetime(self: copy self)
  private mutating func readNumber() throws(ParseError) -> Int64 {
    try readLittleEndian(Int64.self)
  }

  @_lifetime(self: copy self)
  private mutating func readReal() throws(ParseError) -> Double {
    Double(bitPattern: try readLittleEndian(UInt64.self))
  }

  @_lifetime(self: copy self)
  private mutating func readKey() throws(ParseError) -> Store.Key {
    let service = try readText()
    let group = try readText()
    return Store.Key(service: service, group: group, identifier: try readText())
  }

  @_lifetime(self: copy self)
  fileprivate mutating func readChanges() throws(ParseError) -> [Store.Change] {
    let count = try readLittleEndian(UInt32.self)
    var changes: [Store.Change] = []
    for _ in 0..<count { changes.append(try readChange()) }
    return changes
  }

  @_lifetime(self: copy self)
  private mutating func readChange() throws(ParseError) -> Store.Change {
    switch try readUInt8() {
    case 1:
      let key = try readKey()
      let definition = try readField()
      let state = try readFlag() ? try readField() : nil
      return .register(Store.Registration(key: key, definition: definition, state: state))
    case 2: return .remove(try readKey())
    case 3:
      let key = try readKey()
      return .setState(key, try readField())
    case 4: return .add(try readEntry())
    case 5: return .setAuthorization(try readFlag() ? try readText() : nil)
    case 6:
      let group = try readText()
      return .settle(group: group, through: try readNumber())
    case 7:
      let reader = try readText()
      return .mark(reader: reader, through: try readNumber())
    case 8: return .addPresence(try readPresence())
    case 9:
      let first = try readNumber()
      return .addGap(EntryGap(first: first, last: try readNumber()))
    case 10: return .setGeneration(try readText())
    default: throw ParseError(.invalid("an unknown kind of change"), at: offset)
    }
  }

  @_lifetime(self: copy self)
  private mutating func readEntry() throws(ParseError) -> StoredEntry {
    let id = try readNumber()
    let time = try readNumber()
    let kind = try readText()
    var recipients: StoredEntry.Recipients?
    if try readFlag() {
      let service = try readText()
      recipients = StoredEntry.Recipients(service: service, group: try readText())
    }
    let region = try readFlag() ? try readText() : nil
    let beacon = try readFlag() ? try readText() : nil
    let payload = try readField()
    let dwell = try readFlag() ? try readReal() : nil
    return StoredEntry(
      id: id, time: time, kind: kind, recipients: recipients, region: region, beacon: beacon,
      payload: payload, dwell: dwell)
  }

  @_lifetime(self: copy self)
  private mutating func readPresence() throws(ParseError) -> StoredPresence {
    let beacon = try readText()
    let hour = try readNumber()
    let seconds = try readReal()
    let sightings = try readNumber()
    let samples = try readNumber()
    let meanRSSI = try readFlag() ? try readReal() : nil
    let bestRSSI = try readFlag() ? try readNumber() : nil
    return StoredPresence(
      beacon: beacon, hour: hour, seconds: seconds, sightings: sightings, samples: samples,
      meanRSSI: meanRSSI, bestRSSI: bestRSSI, isProtected: try readFlag())
  }
}
