import Bytes
import Scanning

/// btsnoop version 1, as phones, BlueZ and Symbian's tools before them write it: RFC 1761's snoop
/// with other time stamps and datalinks.
///
/// ```
/// file:   "btsnoop\0" | version 1 | datalink                       big-endian throughout
/// record: original length | included length | flags | cumulative drops | time stamp (8) | packet
/// ```
struct BTSnoop: CaptureFormat {
  static let magic: [UInt8] = Array("btsnoop\0".utf8)
  static let headerBytes = 16
  static let recordHeaderBytes = 24
  /// Microseconds from 0 AD, where time stamps begin, to 1970.
  static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000

  let linkType: LinkType
  var unreadBytes = 0
  var hasSupportedPackets: Bool { linkType.isSupported }

  /// Reads the file's header.
  init(parsing cursor: inout ByteCursor) throws(ParseError) {
    try cursor.skip(Self.magic.count)
    guard try cursor.readBigEndian(UInt32.self) == 1 else {
      throw ParseError(.invalid("the btsnoop version is not 1"), at: 8)
    }
    linkType = LinkType(btsnoopDatalink: try cursor.readBigEndian(UInt32.self))
  }

  @_lifetime(copy cursor)
  @_lifetime(cursor: copy cursor)
  mutating func next(_ cursor: inout ByteCursor) throws(ParseError) -> CapturedPacket? {
    guard cursor.remaining >= Self.recordHeaderBytes else { return nil }
    var record = cursor
    try record.skip(4)  // Original Length
    let length = Int(try record.readBigEndian(UInt32.self))  // Included Length
    guard length <= longestPacket else {
      throw ParseError(.invalid("a record is longer than any packet"), at: cursor.offset + 4)
    }
    let flags = try record.readBigEndian(UInt32.self)  // Packet Flags
    try record.skip(4)  // Cumulative Drops
    let stamp = try record.readBigEndian(Int64.self)  // Timestamp Microseconds
    guard length <= record.remaining else { return nil }
    let bytes = try record.read(length)
    cursor = record
    return CapturedPacket(
      time: Timestamp(microseconds: stamp &- Self.epoch), linkType: linkType, flags: flags,
      bytes: bytes)
  }

  func need(at cursor: borrowing ByteCursor) -> Need {
    var header = ByteCursor(cursor.rest)
    guard header.remaining >= Self.recordHeaderBytes, (try? header.skip(4)) != nil,
      let length = try? header.readBigEndian(UInt32.self)
    else { return Need(what: "header of a record", bytes: Self.recordHeaderBytes) }
    return Need(what: "record", bytes: Self.recordHeaderBytes + Int(length))
  }
}

extension Timestamp {
  /// A moment from microseconds since 1970; saturates.
  init(microseconds: Int64) {
    let product = microseconds.multipliedReportingOverflow(by: 1000)
    self.init(
      nanoseconds: product.overflow ? (microseconds > 0 ? .max : .min) : product.partialValue)
  }
}
