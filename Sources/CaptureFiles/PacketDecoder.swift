import Advertising
import Bytes
import LinkLayer
import Scanning

/// Takes a captured packet's headers off, by link type, and hands what is inside to the
/// collector. docs/formats.md has the table.
enum PacketDecoder {
  /// Finds the sightings in one packet.
  ///
  /// - Parameters:
  ///   - packet: The packet.
  ///   - collector: Who takes them; its time is already the packet's.
  static func decode(
    _ packet: CapturedPacket, into collector: inout SightingCollector
  ) {
    collector.counts.packets &+= 1
    var cursor = ByteCursor(packet.bytes)
    do throws(ParseError) {
      switch packet.linkType {
      case .hciH4WithDirection:
        try cursor.skip(4)
        try decodeH4(&cursor, &collector)
      case .hciH4:
        try decodeH4(&cursor, &collector)
      case .hciH1:
        // Bit 0: received. Bit 1: command or event.
        if packet.flags & 0b11 == 0b11 { collector.hear(event: cursor.rest) }
      case .btsnoopMonitor:
        decodeMonitor(
          adapter: UInt16(packet.flags >> 16), opcode: UInt16(packet.flags & 0xFFFF), cursor.rest,
          &collector)
      case .linuxMonitor:
        let adapter = try cursor.readBigEndian(UInt16.self)
        let opcode = try cursor.readBigEndian(UInt16.self)
        decodeMonitor(adapter: adapter, opcode: opcode, cursor.rest, &collector)
      case .linkLayer:
        collector.hear(
          packet: cursor.rest, isCoded: false, checksum: .unchecked, rssi: nil)
      case .linkLayerWithRadio:
        try decodeRadio(&cursor, &collector)
      case .nordic:
        try decodeNordic(&cursor, &collector)
      default:
        collector.refuse(.unsupportedPacket)
      }
    } catch {
      collector.refuse(.truncatedPacket)
    }
  }

  @inline(__always)
  private static func decodeH4(_ cursor: inout ByteCursor, _ collector: inout SightingCollector)
    throws(ParseError)
  {
    // Event; commands, data and what others add are passed over.
    if try cursor.readUInt8() == 0x04 { collector.hear(event: cursor.rest) }
  }

  /// Linux's monitor (BlueZ, src/shared/btsnoop.h): opcode 3 is an event.
  private static func decodeMonitor(
    adapter: UInt16, opcode: UInt16, _ bytes: RawSpan, _ collector: inout SightingCollector
  ) {
    guard opcode == 3 else { return }
    collector.adapter = adapter
    collector.hear(event: bytes)
  }

  /// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR: channel | signal | noise | access address offenses |
  /// reference access address (4) | flags (2).
  private static func decodeRadio(_ cursor: inout ByteCursor, _ collector: inout SightingCollector)
    throws(ParseError)
  {
    try cursor.skip(1)
    let signal = try cursor.readInt8()
    try cursor.skip(6)
    let flags = try cursor.readLittleEndian(UInt16.self)
    let checksum: AdvertisingPDU.Checksum =
      flags & 0x0400 == 0 ? .unchecked : flags & 0x0800 != 0 ? .valid : .wrong
    collector.hear(
      packet: cursor.rest, isCoded: flags >> 14 == 2, checksum: checksum,
      rssi: flags & 0x0002 != 0 ? signal : nil)
  }

  /// nRF Sniffer, protocol versions 1 to 3 (Nordic Semiconductor's SnifferAPI): board | lengths (2) |
  /// version | counter (2) | packet type | header length | flags | channel | −signal | event counter
  /// (2) | time (4).
  private static func decodeNordic(_ cursor: inout ByteCursor, _ collector: inout SightingCollector)
    throws(ParseError)
  {
    try cursor.skip(3)
    let version = try cursor.readUInt8()
    guard (1...3).contains(version) else { return collector.refuse(.unsupportedPacket) }
    try cursor.skip(2)
    let type = try cursor.readUInt8()
    // 6: a packet in versions 1 and 2, one of a connection in 3, where 2 is one of advertising.
    guard type == 0x06 || version == 3 && type == 0x02 else { return }
    try cursor.skip(1)
    let flags = try cursor.readUInt8()
    try cursor.skip(1)
    let loss = try cursor.readUInt8()
    try cursor.skip(6)
    let isCoded = version >= 2 && flags >> 4 & 0b111 == 2
    collector.hear(
      packet: cursor.rest, isCoded: isCoded, checksum: flags & 1 != 0 ? .valid : .wrong,
      rssi: loss <= 127 ? -Int8(loss) : nil)
  }
}
