/// The file that says which events were delivered: records of 16 bytes.
///
///     0               8       12      16
///     ├───────────────┼───────┼───────┤
///     │ serial        │ kind  │ sum   │  little-endian; the CRC-32 of the 12 bytes before it
///     └───────────────┴───────┴───────┘
///
/// The first record is the head; then stands what was so when the file was written, then one record for
/// each delivery.
struct ToldFile {
  enum Kind: UInt32 {
    /// The file's name and version, in place of a serial.
    case head = 0
    /// All events up to this serial were delivered but those named.
    case allUpTo = 1
    /// It was not.
    case except = 2
    /// It was delivered.
    case delivered = 3
  }

  static let recordBytes = 16
  /// `CLtold01` in ASCII.
  static let name: UInt64 = 0x3130_646C_6F74_4C43
  /// A longer file is none of ours, in bytes.
  static let mostBytes = 64 << 20

  /// All up to this serial were delivered.
  private(set) var allUpTo: UInt64 = 0
  private var except: Set<UInt64> = []
  private var delivered: Set<UInt64> = []
  /// The highest serial that it knows of.
  private(set) var highest: UInt64 = 0
  /// How long its whole records are, in bytes.
  private(set) var length = 0
  /// Whether it is there.
  private(set) var isThere = false
  /// Whether some of it cannot be read.
  private(set) var isDamaged = false

  /// Whether an event was delivered.
  func isDelivered(_ serial: UInt64) -> Bool {
    delivered.contains(serial) || serial <= allUpTo && !except.contains(serial)
  }

  /// Puts a record in place of what stands in an array.
  static func write(_ kind: Kind, _ serial: UInt64, at place: Int, to bytes: inout [UInt8]) {
    for index in 0..<8 { bytes[place + index] = UInt8(truncatingIfNeeded: serial >> (8 * index)) }
    for index in 0..<4 {
      bytes[place + 8 + index] = UInt8(truncatingIfNeeded: kind.rawValue >> (8 * index))
    }
    let sum = CRC32.of(bytes[place..<place + 12])
    for index in 0..<4 {
      bytes[place + 12 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index))
    }
  }

  /// The bytes of a new file.
  static func bytes(allUpTo: UInt64, except open: [UInt64]) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: recordBytes * (2 + open.count))
    write(.head, name, at: 0, to: &bytes)
    write(.allUpTo, allUpTo, at: recordBytes, to: &bytes)
    for (index, serial) in open.enumerated() {
      write(.except, serial, at: recordBytes * (2 + index), to: &bytes)
    }
    return bytes
  }

  /// A file that is not there.
  init() {}

  /// Reads a file.
  init(_ file: borrowing OpenFile) throws(StoreError) {
    let size = try file.size()
    // The system can lose all bytes of a new file when power fails.
    isThere = size > 0
    guard size <= Self.mostBytes else {
      isDamaged = true
      return
    }
    var room = [UInt8](repeating: 0, count: 65536)
    while length < size {
      let count = try file.read(at: length, into: &room) / Self.recordBytes
      // A last record that was cut off: its delivery was not marked.
      if count == 0 { break }
      for index in 0..<count {
        take(
          room[(index * Self.recordBytes)..<((index + 1) * Self.recordBytes)], isFirst: length == 0)
        length += Self.recordBytes
      }
    }
    if isThere, length == 0 { isDamaged = true }
  }

  private mutating func take(_ record: ArraySlice<UInt8>, isFirst: Bool) {
    func number(_ range: Range<Int>) -> UInt64 {
      range.reversed().reduce(0) { $0 << 8 | UInt64(record[record.startIndex + $1]) }
    }
    let serial = number(0..<8)
    guard number(12..<16) == UInt64(CRC32.of(record.prefix(12))),
      let kind = Kind(rawValue: UInt32(truncatingIfNeeded: number(8..<12))),
      isFirst == (kind == .head),
      kind == .head ? serial == Self.name : serial <= LineForm.mostSerial
    else {
      isDamaged = true
      return
    }
    if kind == .head { return }
    highest = max(highest, serial)
    switch kind {
    case .head: return
    case .allUpTo: allUpTo = max(allUpTo, serial)
    case .except: except.insert(serial)
    case .delivered: delivered.insert(serial)
    }
  }
}
