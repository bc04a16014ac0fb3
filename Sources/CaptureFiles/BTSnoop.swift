import Bytes
import Scanning

/// A reader of btsnoop version 1, which is RFC 1761's snoop with other time stamps and datalinks.
///
/// ```
/// file:   "btsnoop\0" | version 1 | datalink                       big-endian throughout
/// record: original length | included length | flags | cumulative drops | time stamp (8) | packet
/// ```
struct BTSnoop: RecordReader {
  static let magic: [UInt8] = Array("btsnoop\0".utf8)
  static let headerBytes = 16
  static let recordHeaderBytes = 24
  /// The microseconds from 0 AD, where time stamps begin, to 1970.
  static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000

  private let linkType: LinkType
  private let contents: PacketContents

  init(parsing cursor: inout ByteCursor) throws(ParseError) {
    try cursor.skip(Self.magic.count)
    guard try cursor.readBigEndian(UInt32.self) == 1 else {
      throw ParseError(.invalid("the btsnoop version is not 1"), at: 8)
    }
    linkType = LinkType(btsnoopDatalink: try cursor.readBigEndian(UInt32.self))
    contents = PacketContents(linkType)
  }

  static var formatName: String { "btsnoop" }
  var linkTypes: [LinkType] { [linkType] }

  @inline(__always)
  @_lifetime(cursor: copy cursor)
  func next(_ cursor: inout ByteCursor) throws(ParseError) -> CapturedPacket? {
    let start = cursor.position
    guard cursor.remaining >= Self.recordHeaderBytes else { return nil }
    // The loads lie in the header, which the guard found to be complete.
    let length = unsafe Int(
      cursor.bytes.littleEndian(UInt32.self, unchecked: start &+ 4).byteSwapped)  // Included Length
    guard length <= longestPacket else {
      throw ParseError(.invalid("a record is longer than any packet"), at: cursor.offset &+ 4)
    }
    guard cursor.pass(Self.recordHeaderBytes &+ length) else { return nil }
    let time = unsafe cursor.bytes.littleEndian(Int64.self, unchecked: start &+ 16).byteSwapped
    let flags = unsafe cursor.bytes.littleEndian(UInt32.self, unchecked: start &+ 8).byteSwapped
    return unsafe CapturedPacket(
      time: WallClockTime(microseconds: time &- Self.epoch),
      contents: contents, flags: flags,  // Packet Flags
      record: start, from: start &+ Self.recordHeaderBytes, count: length)
  }

  func need(at cursor: borrowing ByteCursor) -> Need {
    guard let header = cursor.peek(Self.recordHeaderBytes) else {
      return Need(what: "header of a record", bytes: Self.recordHeaderBytes)
    }
    let length = header.bigEndian(UInt32.self, at: 4)
    return Need(what: "record", bytes: Self.recordHeaderBytes + Int(length))
  }
}

extension WallClockTime {
  /// Converts microseconds since 1970; saturates.
  @inline(__always)
  init(microseconds: Int64) {
    let product = microseconds.multipliedReportingOverflow(by: 1000)
    self = product.overflow ? Self.extreme(microseconds) : Self(nanoseconds: product.partialValue)
  }

  @inline(never)
  private static func extreme(_ microseconds: Int64) -> Self {
    Self(nanoseconds: microseconds > 0 ? .max : .min)
  }
}
