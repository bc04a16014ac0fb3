import Bytes
import Scanning

/// A reader of pcapng (draft-ietf-opsawg-pcapng): sections of both byte orders, any interfaces, and
/// Enhanced, Simple and obsolete Packet Blocks.
///
/// ```
/// block: type | total length | body, padded to 4 bytes | total length again
/// ```
struct Pcapng: RecordReader {
  enum BlockType {
    static let sectionHeader: UInt32 = 0x0A0D_0D0A
    static let interfaceDescription: UInt32 = 1
    static let packet: UInt32 = 2  // obsolete
    static let simplePacket: UInt32 = 3
    static let enhancedPacket: UInt32 = 6

    static func isRead(_ type: UInt32) -> Bool {
      switch type {
      case enhancedPacket, simplePacket, packet, interfaceDescription, sectionHeader: true
      default: false
      }
    }
  }

  static let magic: [UInt8] = [0x0A, 0x0D, 0x0D, 0x0A]
  static let smallestBlock = 12
  static let maximumInterfaces = 1024
  static let byteOrderMagic: UInt32 = 0x1A2B_3C4D

  var isBigEndian = false
  var interfaces: [PcapngInterface] = []
  /// The time of the latest packet, which Simple Packet Blocks get because they have none.
  var latestTime = WallClockTime(nanoseconds: 0)
  var unreadBytes = 0
  private(set) var isForeign = true
  private var latest = LatestInterface.none

  private struct LatestInterface {
    var number: Int
    var nanosecondsPerTick: Int64
    var contents: PacketContents
    var adapter: UInt16

    static let none = LatestInterface(
      number: -1, nanosecondsPerTick: 1, contents: .unsupported, adapter: 0)
  }

  /// Reads the next packet, from the start of its block; `nil` if the bytes end before its end.
  @inline(__always)
  @_lifetime(cursor: copy cursor)
  mutating func next(_ cursor: inout ByteCursor) throws(ParseError) -> CapturedPacket? {
    if let packet = nextUsual(&cursor) { return packet }
    return try nextOfAny(&cursor)
  }

  /// The fast path for a whole, little-endian Enhanced Packet Block of the same interface as the
  /// one before. Returns `nil` for everything else, which ``nextOfAny(_:)`` handles.
  @inline(__always)
  @_lifetime(cursor: copy cursor)
  private mutating func nextUsual(_ cursor: inout ByteCursor) -> CapturedPacket? {
    guard let header = cursor.peek(32) else { return nil }
    // The loads lie in those 32 bytes, the last one in the block that was checked before it.
    let total = unsafe Int(header.littleEndian(UInt32.self, unchecked: 4))
    let length = unsafe Int(header.littleEndian(UInt32.self, unchecked: 20))
    let high = unsafe UInt64(header.littleEndian(UInt32.self, unchecked: 12))
    let low = unsafe UInt64(header.littleEndian(UInt32.self, unchecked: 16))
    guard unsafe header.littleEndian(UInt32.self, unchecked: 0) == BlockType.enhancedPacket,
      unsafe Int(header.littleEndian(UInt32.self, unchecked: 8)) == latest.number, !isBigEndian,
      total & 3 == 0, total <= longestPacket * 2, length &+ 32 <= total,
      let block = cursor.peek(total),
      unsafe block.littleEndian(UInt32.self, unchecked: total &- 4) == UInt32(total)
    else { return nil }
    let time = Int64(bitPattern: high << 32 | low)
      .multipliedReportingOverflow(by: latest.nanosecondsPerTick)
    guard !time.overflow, high < 1 << 31 else { return nil }
    let start = cursor.position
    _ = cursor.take(total)
    latestTime = WallClockTime(nanoseconds: time.partialValue)
    return unsafe CapturedPacket(
      time: latestTime, contents: latest.contents, adapter: latest.adapter, record: start,
      from: start &+ 28, count: length)
  }

  @inline(never)
  @_lifetime(cursor: copy cursor)
  private mutating func nextOfAny(_ cursor: inout ByteCursor) throws(ParseError) -> CapturedPacket?
  {
    while let header = cursor.peek(Self.smallestBlock) {
      let type = header.uint32(at: 0, bigEndian: isBigEndian)
      if type == BlockType.sectionHeader { isBigEndian = try Self.sectionIsBigEndian(cursor) }
      let total = Int(header.uint32(at: 4, bigEndian: isBigEndian))
      guard total >= Self.smallestBlock, total % 4 == 0 else {
        throw ParseError(.invalid("a block's length cannot be right"), at: cursor.offset + 4)
      }
      guard BlockType.isRead(type) else {
        unreadBytes = total - min(total, cursor.remaining)
        try cursor.skip(total - unreadBytes)
        if unreadBytes > 0 { return nil }
        continue
      }
      // Options may follow a packet, but a block this long is damaged.
      guard total <= longestPacket * 2 else {
        throw ParseError(.invalid("a block is longer than any packet"), at: cursor.offset + 4)
      }
      guard let block = cursor.peek(total) else { return nil }
      guard Int(block.uint32(at: total - 4, bigEndian: isBigEndian)) == total else {
        throw ParseError(.invalid("a block's two lengths differ"), at: cursor.offset + total - 4)
      }
      let base = cursor.position
      _ = cursor.take(total)
      var body = ByteCursor(block.extracting(8..<(total - 4)), base: base + 8)
      if let packet = try read(type, &body, base: base) { return packet }
    }
    return nil
  }

  @_lifetime(body: copy body)
  private mutating func read(_ type: UInt32, _ body: inout ByteCursor, base: Int)
    throws(ParseError) -> CapturedPacket?
  {
    switch type {
    case BlockType.sectionHeader:
      interfaces.removeAll()
      latest = .none
    case BlockType.interfaceDescription:
      let interface = try PcapngInterface(
        parsing: &body, bigEndian: isBigEndian, number: interfaces.count)
      guard interfaces.count < Self.maximumInterfaces else {
        throw ParseError(.invalid("a section has more than 1,024 interfaces"), at: base)
      }
      interfaces.append(interface)
      if interface.linkType.isSupported { isForeign = false }
    case BlockType.simplePacket: return try readSimplePacket(&body)
    case BlockType.enhancedPacket: return try readEnhancedPacket(&body)
    default: return try readObsoletePacket(&body)
    }
    return nil
  }

  static var formatName: String { "pcapng" }

  var linkTypes: [LinkType] {
    interfaces.map(\.linkType).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  func need(at cursor: borrowing ByteCursor) -> Need {
    if unreadBytes > 0 {
      return Need(what: "rest of a block", bytes: unreadBytes, isInsideRecord: true)
    }
    guard let header = cursor.peek(Self.smallestBlock) else {
      return Need(what: "header of a block", bytes: Self.smallestBlock)
    }
    let isSection = header.uint32(at: 0, bigEndian: false) == BlockType.sectionHeader
    let order = isSection ? (try? Self.sectionIsBigEndian(cursor)) ?? isBigEndian : isBigEndian
    return Need(what: "block", bytes: Int(header.uint32(at: 4, bigEndian: order)))
  }

  /// Returns the byte order by the section's Byte-Order Magic. Block types read the same in both.
  private static func sectionIsBigEndian(_ cursor: borrowing ByteCursor) throws(ParseError) -> Bool
  {
    switch cursor.peek(smallestBlock)?.littleEndian(UInt32.self, at: 8) {
    case byteOrderMagic: return false
    case byteOrderMagic.byteSwapped: return true
    default:
      throw ParseError(.invalid("a section's byte-order magic is wrong"), at: cursor.offset + 8)
    }
  }

  /// Reads: Interface ID | time high | low | captured length | original length | packet | options.
  @_lifetime(body: copy body)
  private mutating func readEnhancedPacket(_ body: inout ByteCursor) throws(ParseError)
    -> CapturedPacket
  {
    let start = body.offset
    let number = Int(try body.read(UInt32.self, bigEndian: isBigEndian))
    let packet = try readPacket(&body, interface: number, namedAt: start)
    let interface = interfaces[number]
    latest = LatestInterface.none
    if let nanosecondsPerTick = interface.nanosecondsPerTick {
      latest = LatestInterface(
        number: number, nanosecondsPerTick: nanosecondsPerTick, contents: interface.contents,
        adapter: interface.adapter)
    }
    return packet
  }

  /// Reads: original length | packet. It belongs to the first interface and has no time.
  @_lifetime(body: copy body)
  private mutating func readSimplePacket(_ body: inout ByteCursor) throws(ParseError)
    -> CapturedPacket
  {
    guard let interface = interfaces.first else {
      throw ParseError(
        .invalid("a packet names an interface that no block describes"), at: body.offset)
    }
    var length = Int(try body.read(UInt32.self, bigEndian: isBigEndian))
    if interface.snapLength > 0 { length = min(length, interface.snapLength) }
    return try packet(of: interface, min(length, body.remaining), &body)
  }

  /// Reads the obsolete Packet Block: Interface ID (2) | drops (2) | rest as in the Enhanced one.
  @_lifetime(body: copy body)
  private mutating func readObsoletePacket(_ body: inout ByteCursor) throws(ParseError)
    -> CapturedPacket
  {
    let start = body.offset
    let number = Int(try body.read(UInt16.self, bigEndian: isBigEndian))
    try body.skip(2)
    return try readPacket(&body, interface: number, namedAt: start)
  }

  /// Reads, after the interface: time high | low | captured length | original length | packet.
  @_lifetime(body: copy body)
  private mutating func readPacket(
    _ body: inout ByteCursor, interface number: Int, namedAt start: Int
  ) throws(ParseError) -> CapturedPacket {
    guard number < interfaces.count else {
      throw ParseError(.invalid("a packet names an interface that no block describes"), at: start)
    }
    let high = UInt64(try body.read(UInt32.self, bigEndian: isBigEndian))
    let low = UInt64(try body.read(UInt32.self, bigEndian: isBigEndian))
    let length = Int(try body.read(UInt32.self, bigEndian: isBigEndian))
    try body.skip(4)
    latestTime = interfaces[number].time(ofTicks: high << 32 | low)
    return try packet(of: interfaces[number], length, &body)
  }

  @_lifetime(body: copy body)
  private func packet(of interface: PcapngInterface, _ count: Int, _ body: inout ByteCursor)
    throws(ParseError) -> CapturedPacket
  {
    let start = body.offset
    try body.skip(count)
    return unsafe CapturedPacket(
      time: latestTime, contents: interface.contents, adapter: interface.adapter,
      record: body.base - 8, from: start, count: count)
  }
}
