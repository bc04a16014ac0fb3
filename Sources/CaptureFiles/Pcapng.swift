import Bytes
import Scanning

/// pcapng, as Wireshark, tcpdump and sniffers write it (draft-ietf-opsawg-pcapng): sections of either
/// byte order, any number of interfaces, Enhanced, Simple and obsolete Packet Blocks. Blocks that
/// hold no packet are passed over.
///
/// ```
/// block: type | total length | body, padded to 4 bytes | total length again
/// ```
struct Pcapng: CaptureFormat {
  /// Block types.
  enum BlockType {
    static let sectionHeader: UInt32 = 0x0A0D_0D0A
    static let interfaceDescription: UInt32 = 1
    static let packet: UInt32 = 2  // obsolete
    static let simplePacket: UInt32 = 3
    static let enhancedPacket: UInt32 = 6

    /// Whether a block holds a packet, or what is needed to read one.
    static func isRead(_ type: UInt32) -> Bool {
      switch type {
      case enhancedPacket, simplePacket, packet, interfaceDescription, sectionHeader: true
      default: false
      }
    }
  }

  static let magic: [UInt8] = [0x0A, 0x0D, 0x0D, 0x0A]
  static let smallestBlock = 12
  static let byteOrderMagic: UInt32 = 0x1A2B_3C4D

  var isBigEndian = false
  var interfaces: [PcapngInterface] = []
  /// Simple Packet Blocks have no time of their own.
  var latestTime = Timestamp(nanoseconds: 0)
  var unreadBytes = 0
  private(set) var hasSupportedPackets = false

  @_lifetime(copy cursor)
  @_lifetime(cursor: copy cursor)
  mutating func next(_ cursor: inout ByteCursor) throws(ParseError) -> CapturedPacket? {
    while cursor.remaining >= Self.smallestBlock {
      var block = cursor
      let type = try block.readUInt32(bigEndian: isBigEndian)
      let order =
        type == BlockType.sectionHeader ? try Self.sectionIsBigEndian(block) : isBigEndian
      let total = Int(try block.readUInt32(bigEndian: order))
      guard total >= Self.smallestBlock, total % 4 == 0 else {
        throw ParseError(.invalid("a block's length cannot be right"), at: cursor.offset + 4)
      }
      guard BlockType.isRead(type) else {
        let passed = min(total, cursor.remaining)
        try cursor.skip(passed)
        unreadBytes = total - passed
        if unreadBytes > 0 { return nil }
        continue
      }
      // Options may follow a packet, but a block this long is damage.
      guard total <= longestPacket * 2 else {
        throw ParseError(.invalid("a block is longer than any packet"), at: cursor.offset + 4)
      }
      guard total <= cursor.remaining else { return nil }
      var body = ByteCursor(try block.read(total - Self.smallestBlock), base: block.offset)
      guard Int(try block.readUInt32(bigEndian: order)) == total else {
        throw ParseError(
          .invalid("a block's two lengths differ"), at: cursor.offset + total - 4)
      }
      cursor = block
      switch type {
      case BlockType.sectionHeader:
        isBigEndian = order
        interfaces.removeAll()
      case BlockType.interfaceDescription:
        let interface = try PcapngInterface(parsing: &body, bigEndian: isBigEndian)
        interfaces.append(interface)
        if interface.linkType.isSupported { hasSupportedPackets = true }
      case BlockType.enhancedPacket: return try readEnhancedPacket(body)
      case BlockType.simplePacket: return try readSimplePacket(body)
      default: return try readPacket(body)
      }
    }
    return nil
  }

  func need(at cursor: borrowing ByteCursor) -> Need {
    if unreadBytes > 0 {
      return Need(what: "rest of a block", bytes: unreadBytes, isInsideRecord: true)
    }
    var header = ByteCursor(cursor.rest)
    guard header.remaining >= Self.smallestBlock,
      let type = try? header.readUInt32(bigEndian: isBigEndian)
    else { return Need(what: "header of a block", bytes: Self.smallestBlock) }
    let isSection = type == BlockType.sectionHeader
    let order = isSection ? (try? Self.sectionIsBigEndian(header)) ?? isBigEndian : isBigEndian
    return Need(what: "block", bytes: Int((try? header.readUInt32(bigEndian: order)) ?? 0))
  }

  /// The byte order of a section, from its Byte-Order Magic.
  ///
  /// - Parameter cursor: Stands behind the block's type, which reads the same in both orders.
  private static func sectionIsBigEndian(_ cursor: borrowing ByteCursor) throws(ParseError) -> Bool {
    var ahead = ByteCursor(cursor.rest, base: cursor.offset)
    try ahead.skip(4)
    switch try ahead.readLittleEndian(UInt32.self) {
    case byteOrderMagic: return false
    case byteOrderMagic.byteSwapped: return true
    default:
      throw ParseError(.invalid("a section's byte-order magic is wrong"), at: cursor.offset + 4)
    }
  }

  /// Interface ID | time stamp high | low | captured length | original length | packet | options.
  @_lifetime(copy body)
  private mutating func readEnhancedPacket(_ body: consuming ByteCursor) throws(ParseError)
    -> CapturedPacket
  {
    let start = body.offset
    let number = Int(try body.readUInt32(bigEndian: isBigEndian))
    guard number < interfaces.count else {
      throw ParseError(.invalid("a packet names an interface that no block describes"), at: start)
    }
    let high = UInt64(try body.readUInt32(bigEndian: isBigEndian))
    let low = UInt64(try body.readUInt32(bigEndian: isBigEndian))
    let length = Int(try body.readUInt32(bigEndian: isBigEndian))
    try body.skip(4)  // Original Packet Length
    latestTime = interfaces[number].time(ofTicks: high << 32 | low)
    return CapturedPacket(
      time: latestTime, linkType: interfaces[number].linkType, bytes: try body.read(length))
  }

  /// Original length | packet: always of the first interface, and without a time.
  @_lifetime(copy body)
  private mutating func readSimplePacket(_ body: consuming ByteCursor) throws(ParseError)
    -> CapturedPacket
  {
    guard let interface = interfaces.first else {
      throw ParseError(
        .invalid("a packet names an interface that no block describes"), at: body.offset)
    }
    var length = Int(try body.readUInt32(bigEndian: isBigEndian))
    if interface.snapLength > 0 { length = min(length, interface.snapLength) }
    return CapturedPacket(
      time: latestTime, linkType: interface.linkType,
      bytes: try body.read(min(length, body.remaining)))
  }

  /// The obsolete Packet Block: Interface ID (2) | drops (2) | then as the Enhanced one.
  @_lifetime(copy body)
  private mutating func readPacket(_ body: consuming ByteCursor) throws(ParseError)
    -> CapturedPacket
  {
    let start = body.offset
    let number = Int(try body.readUInt16(bigEndian: isBigEndian))
    guard number < interfaces.count else {
      throw ParseError(.invalid("a packet names an interface that no block describes"), at: start)
    }
    try body.skip(2)
    let high = UInt64(try body.readUInt32(bigEndian: isBigEndian))
    let low = UInt64(try body.readUInt32(bigEndian: isBigEndian))
    let length = Int(try body.readUInt32(bigEndian: isBigEndian))
    try body.skip(4)
    latestTime = interfaces[number].time(ofTicks: high << 32 | low)
    return CapturedPacket(
      time: latestTime, linkType: interfaces[number].linkType, bytes: try body.read(length))
  }
}
