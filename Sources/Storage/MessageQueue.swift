import DequeModule
import SystemPackage

/// A queue of messages in a pair of files. A message leaves it when its delivery is acknowledged,
/// and until then survives the process.
///
/// One file is appended to until it has half of the bytes allowed. The other one is then emptied,
/// and takes its place: the oldest messages are dropped, and counted. Nothing waits for the disk,
/// so a power cut can take the messages of the last half minute. While the disk cannot be written,
/// messages are kept in memory.
package struct MessageQueue: ~Copyable {
  package struct Message: Equatable, Sendable {
    package var token: UInt64
    package var topic: String
    package var payload: [UInt8]
  }

  package struct Limits: Sendable {
    /// The bytes of both files, and of the messages that wait in memory.
    package var bytes: Int
    package var memory = 4 << 20
    package var messages = 86400
    /// The messages that may be sent without an acknowledgment.
    package var window = 20

    package init(bytes: Int) { self.bytes = bytes }
  }

  private struct Sent {
    var token: UInt64
    /// The file of the message and its end there; `nil` in memory.
    var place: (file: QueueFile, end: Int)?
    var isAcknowledged = false
  }

  private let limits: Limits
  private var older: QueueFile
  private var newer: QueueFile
  private var memory: Deque<[UInt8]> = []
  private var memoryBytes = 0
  private var memorySent = 0
  private var sent: Deque<Sent> = []
  private var latestToken: UInt64 = 0

  /// The number of messages that were given up.
  package private(set) var dropped = 0
  /// The reason that messages are kept in memory, or `nil`.
  package private(set) var fault: StorageError?

  /// Opens the files `PATH.1` and `PATH.2`, or makes them. Their messages are the first ones.
  package init(_ path: String, limits: Limits) throws(StorageError) {
    self.limits = limits
    let path = FilePath(path)
    let folder = path.removingLastComponent()
    if !folder.isEmpty { try StatePath.makeDirectory(folder) }
    let first = try QueueFile(path.beside(".1"))
    try first.lock(of: path)
    try first.load()
    let second = try QueueFile(path.beside(".2"))
    try second.load()
    let isSecondOlder = second.sequence < first.sequence
    older = isSecondOlder ? second : first
    newer = isSecondOlder ? first : second
  }

  /// The number of messages without an acknowledgment.
  package var waiting: Int { older.count + newer.count + memory.count }

  package mutating func append(_ topic: String, _ payload: [UInt8]) {
    memory.append(Self.record(topic, payload))
    memoryBytes += memory[memory.count - 1].count
    storeMemory()
    while memoryBytes > limits.memory, dropFromMemory() {}
    while waiting > limits.messages, dropOldest() {}
  }

  /// Moves the messages in memory to the files, unless some are sent.
  private mutating func storeMemory() {
    while memorySent == 0, let record = memory.first {
      do throws(StorageError) {
        try store(record)
        fault = nil
      } catch {
        fault = error
        return
      }
      memory.removeFirst()
      memoryBytes -= record.count
    }
  }

  private mutating func store(_ record: [UInt8]) throws(StorageError) {
    if newer.end + record.count > limits.bytes / 2, newer.count > 0 {
      let count = older.count
      let file = older
      try file.empty(sequence: newer.sequence + 1)
      dropped += count
      sent.removeAll { $0.place?.file === file }
      older = newer
      newer = file
    }
    try newer.append(record)
  }

  private mutating func dropOldest() -> Bool {
    guard let file = older.count > 0 ? older : newer.count > 0 ? newer : nil else {
      return dropFromMemory()
    }
    file.removeFirst()
    if let first = sent.first?.place, first.file === file, first.end <= file.start {
      sent.removeFirst()
    }
    dropped += 1
    return true
  }

  /// Drops the oldest message in memory. Those in the files stay: they take no memory.
  private mutating func dropFromMemory() -> Bool {
    guard let record = memory.popFirst() else { return false }
    memoryBytes -= record.count
    if memorySent > 0 {
      memorySent -= 1
      if let index = sent.firstIndex(where: { $0.place == nil }) { sent.remove(at: index) }
    }
    dropped += 1
    return true
  }

  /// Returns the next message to send; `nil` if none waits, or the window is full.
  package mutating func next() -> Message? {
    while sent.count < limits.window {
      latestToken += 1
      var sending = Sent(token: latestToken)
      var record: [UInt8]?
      if let file = older.hasNext ? older : newer.hasNext ? newer : nil {
        record = file.next()
        sending.place = (file, file.read)
      } else if memorySent < memory.count {
        record = memory[memorySent]
        memorySent += 1
      } else {
        return nil
      }
      if let record, let message = Self.message(record, token: latestToken) {
        sent.append(sending)
        return message
      }
      // It was damaged.
      sending.isAcknowledged = true
      sent.append(sending)
      dropped += 1
      removeAcknowledged()
    }
    return nil
  }

  package mutating func acknowledge(_ token: UInt64) {
    guard let index = sent.firstIndex(where: { $0.token == token }) else { return }
    sent[index].isAcknowledged = true
    removeAcknowledged()
  }

  private mutating func removeAcknowledged() {
    while let first = sent.first, first.isAcknowledged {
      sent.removeFirst()
      if let place = first.place {
        place.file.removeFirst(through: place.end)
      } else if let record = memory.popFirst() {
        memoryBytes -= record.count
        memorySent -= 1
      }
    }
    guard sent.isEmpty else { return }
    for file in [older, newer] where file.count == 0 { try? file.empty(sequence: file.sequence) }
  }

  /// Forgets what was sent without an acknowledgment, so that it is sent again.
  package mutating func rewind() {
    sent.removeAll()
    memorySent = 0
    older.rewind()
    newer.rewind()
  }

  // MARK: Records

  /// A record: its length and a hash, then the topic, a zero, and the payload.
  private static func record(_ topic: String, _ payload: [UInt8]) -> [UInt8] {
    var record = [UInt8](repeating: 0, count: QueueFile.prefix)
    record.reserveCapacity(record.count + topic.utf8.count + 1 + payload.count)
    record += topic.utf8
    record.append(0)
    record += payload
    let body = record[QueueFile.prefix...]
    for (index, number) in [UInt32(clamping: body.count), hash(body)].enumerated() {
      for byte in 0..<4 {
        record[4 * index + byte] = UInt8(truncatingIfNeeded: number >> UInt32(8 * byte))
      }
    }
    return record
  }

  private static func message(_ record: [UInt8], token: UInt64) -> Message? {
    let body = record.dropFirst(QueueFile.prefix)
    guard record.word(at: 4) == hash(body), let end = body.firstIndex(of: 0) else { return nil }
    return Message(
      token: token, topic: String(decoding: body[..<end], as: UTF8.self),
      payload: Array(body[(end + 1)...]))
  }

  private static func hash(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
  }
}

/// One of the files of a queue: a header, and records.
private final class QueueFile {
  private static let magic: Int64 = 0x3130_5155_4555_4542  // "BEUEUQ01"
  private static let header = 32
  static let prefix = 8
  private static let longestRecord = 2 << 20

  private let file: StateFile
  /// The number by which the newer one of two files is known.
  private(set) var sequence: Int64 = 0
  /// The offset of the first record without an acknowledgment.
  private(set) var start = header
  private(set) var end = header
  /// The offset of the next record to send.
  private(set) var read = header
  /// The number of records from ``start`` on.
  private(set) var count = 0

  init(_ path: FilePath) throws(StorageError) {
    file = try StateFile(path, creating: true)
  }

  func lock(of path: FilePath) throws(StorageError) {
    try file.lock(of: path)
  }

  /// Reads the header and finds the records, or writes the header of a new file.
  func load() throws(StorageError) {
    let bytes = try file.read(Self.header)
    guard let magic = bytes.number(at: 0), magic != 0 else {
      // It is new, or a power cut left it with zeros.
      try file.resize(Self.header)
      return try write()
    }
    guard magic == Self.magic else {
      throw StorageError(file: file.path.string, problem: .foreign(.unknown))
    }
    sequence = max(0, bytes.number(at: 16) ?? 0)
    start = max(Self.header, Int(bytes.number(at: 24) ?? 0))
    read = start
    end = start
    // A process may have ended while it wrote the last record.
    while let length = length(at: end) {
      end += length
      count += 1
    }
    try file.resize(end)
    try write()
  }

  private func write() throws(StorageError) {
    try file.write(Self.magic, at: 0)
    try file.writeProcess()
    try file.write(sequence, at: 16)
    try file.write(Int64(start), at: 24)
  }

  /// Returns the length of a whole record, with its prefix; `nil` if there is none.
  private func length(at offset: Int) -> Int? {
    guard let bytes = try? file.read(Self.prefix, at: offset), let length = bytes.word(at: 0),
      (1...UInt32(Self.longestRecord)).contains(length),
      let size = try? file.size, offset + Self.prefix + Int(length) <= size
    else { return nil }
    return Self.prefix + Int(length)
  }

  var hasNext: Bool { read < end }

  /// Returns the next record to send. One that cannot be read ends the file.
  func next() -> [UInt8]? {
    guard let length = length(at: read), read + length <= end else {
      read = end
      return nil
    }
    defer { read += length }
    return try? file.read(length, at: read)
  }

  func append(_ record: [UInt8]) throws(StorageError) {
    try file.write(record, at: end)
    end += record.count
    count += 1
  }

  /// Removes the first record.
  func removeFirst() {
    removeFirst(through: length(at: start).map { min(start + $0, end) } ?? end)
  }

  /// Removes the first record, which ends at an offset.
  func removeFirst(through offset: Int) {
    start = max(start, offset)
    read = max(read, start)
    count = start >= end ? 0 : count - 1
    // If that fails, the next process sends the message again.
    try? file.write(Int64(start), at: 24)
  }

  func rewind() { read = start }

  /// Removes all records.
  func empty(sequence: Int64) throws(StorageError) {
    guard end > Self.header || sequence != self.sequence else { return }
    try file.resize(Self.header)
    self.sequence = sequence
    start = Self.header
    end = start
    read = start
    count = 0
    try write()
  }
}

extension [UInt8] {
  /// Returns the 32-bit number at an offset, the lowest byte first; `nil` beyond the end.
  fileprivate func word(at offset: Int) -> UInt32? {
    guard offset >= 0, offset + 4 <= count else { return nil }
    return (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << UInt32(8 * $1) }
  }
}
