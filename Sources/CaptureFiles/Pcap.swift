import Bytes
import Scanning

/// A reader of classic pcap, version 2.4, in both byte orders, with micro- or nanosecond time
/// stamps (draft-ietf-opsawg-pcap).
///
/// ```
/// file:   magic | major (2) | minor (2) | zone | accuracy | snap length | link type
/// record: seconds | fraction | captured length | original length | packet
/// ```
struct Pcap: RecordReader {
  static let headerBytes = 24
  static let recordHeaderBytes = 16

  let isBigEndian: Bool
  let nanosecondsPerTick: Int64
  private let linkType: LinkType
  private let contents: PacketContents

  static let magics: [[UInt8]] = [
    [0xD4, 0xC3, 0xB2, 0xA1], [0x4D, 0x3C, 0xB2, 0xA1], [0xA1, 0xB2, 0xC3, 0xD4],
    [0xA1, 0xB2, 0x3C, 0x4D],
  ]

  init(parsing cursor: inout ByteCursor) throws(ParseError) {
    let magic = try cursor.readLittleEndian(UInt32.self)
    isBigEndian = magic == 0xD4C3_B2A1 || magic == 0x4D3C_B2A1
    nanosecondsPerTick = magic == 0xA1B2_3C4D || magic == 0x4D3C_B2A1 ? 1 : 1000
    guard try cursor.read(UInt16.self, bigEndian: isBigEndian) == 2 else {
      throw ParseError(.invalid("the pcap version is not 2"), at: 4)
    }
    try cursor.skip(14)  // minor version, time zone, accuracy, snap length
    // The upper half contains the length of a frame check sequence.
    linkType = LinkType(
      rawValue: UInt64(try cursor.read(UInt32.self, bigEndian: isBigEndian) & 0xFFFF))
    contents = PacketContents(linkType)
  }

  static var formatName: String { "pcap" }
  var linkTypes: [LinkType] { [linkType] }

  @inline(__always)
  @_lifetime(cursor: copy cursor)
  func next(_ cursor: inout ByteCursor) throws(ParseError) -> CapturedPacket? {
    guard let header = cursor.peek(Self.recordHeaderBytes) else { return nil }
    let length = Int(header.uint32(at: 8, bigEndian: isBigEndian))
    guard length <= longestPacket else {
      throw ParseError(.invalid("a record is longer than any packet"), at: cursor.offset &+ 8)
    }
    let start = cursor.position
    guard cursor.pass(Self.recordHeaderBytes &+ length) else { return nil }
    let seconds = Int64(header.uint32(at: 0, bigEndian: isBigEndian))
    let fraction = Int64(header.uint32(at: 4, bigEndian: isBigEndian))
    // 2³² s plus 2³² µs are less than 2⁶³ ns.
    let time = seconds &* WallClockTime.nanosecondsPerSecond &+ fraction &* nanosecondsPerTick
    return unsafe CapturedPacket(
      time: WallClockTime(nanoseconds: time), contents: contents,
      // The record is its header and that many bytes.
      record: start, from: start &+ Self.recordHeaderBytes, count: length)
  }

  func need(at cursor: borrowing ByteCursor) -> Need {
    guard let header = cursor.peek(Self.recordHeaderBytes) else {
      return Need(what: "header of a record", bytes: Self.recordHeaderBytes)
    }
    let length = header.uint32(at: 8, bigEndian: isBigEndian)
    return Need(what: "record", bytes: Self.recordHeaderBytes + Int(length))
  }
}

extension ByteCursor {
  @_lifetime(self: copy self)
  mutating func read<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, bigEndian: Bool
  ) throws(ParseError) -> Value {
    bigEndian ? try readBigEndian(type) : try readLittleEndian(type)
  }
}

extension RawSpan {
  @inline(__always)
  func uint32(at offset: Int, bigEndian: Bool) -> UInt32 {
    let value = littleEndian(UInt32.self, at: offset)
    return bigEndian ? value.byteSwapped : value
  }
}
