import Advertising
import Bytes
import HCIPackets
import LinkLayer
import Scanning

/// Takes a captured packet's headers off, by link type, and hands what is inside to the decoder that
/// knows it. docs/formats.md has the table.
struct PacketDecoder: ~Copyable {
  private var events = HCIEventDecoder()

  /// Finds the sightings in one packet.
  ///
  /// - Parameters:
  ///   - packet: The packet.
  ///   - collector: Who takes them; its time is already the packet's.
  @inline(__always)
  mutating func decode(
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
        if packet.flags & 0b11 == 0b11 { decodeEvent(cursor.rest, &collector) }
      case .btsnoopMonitor:
        decodeMonitor(
          adapter: UInt16(packet.flags >> 16), opcode: UInt16(packet.flags & 0xFFFF), cursor.rest,
          &collector)
      case .linuxMonitor:
        let adapter = try cursor.readBigEndian(UInt16.self)
        let opcode = try cursor.readBigEndian(UInt16.self)
        decodeMonitor(adapter: adapter, opcode: opcode, cursor.rest, &collector)
      case .linkLayer:
        decodeLinkLayer(cursor.rest, checksum: .unchecked, rssi: nil, &collector)
      case .linkLayerWithRadio:
        try decodeRadio(&cursor, &collector)
      case .nordic:
        try decodeNordic(&cursor, &collector)
      default:
        collector.refused(.unsupportedPacket)
      }
    } catch {
      collector.refused(.truncatedPacket)
    }
  }

  @inline(__always)
  private mutating func decodeH4(_ cursor: inout ByteCursor, _ collector: inout SightingCollector)
    throws(ParseError)
  {
    // Event; commands, data and what others add are passed over.
    if try cursor.readUInt8() == 0x04 { decodeEvent(cursor.rest, &collector) }
  }

  @inline(__always)
  private mutating func decodeEvent(_ event: RawSpan, _ collector: inout SightingCollector) {
    if events.decode(
      event: event, adapter: collector.adapter, at: collector.time.nanoseconds, into: &collector)
    {
      collector.counts.advertisingPackets &+= 1
    }
  }

  /// Linux's monitor (BlueZ, src/shared/btsnoop.h): opcode 3 is an event.
  private mutating func decodeMonitor(
    adapter: UInt16, opcode: UInt16, _ bytes: RawSpan, _ collector: inout SightingCollector
  ) {
    guard opcode == 3 else { return }
    collector.adapter = adapter
    decodeEvent(bytes, &collector)
  }

  private func decodeLinkLayer(
    _ packet: RawSpan, isCoded: Bool = false, checksum: AdvertisingPDUDecoder.Checksum,
    rssi: Int8?, _ collector: inout SightingCollector
  ) {
    if AdvertisingPDUDecoder.decode(
      packet: packet, isCoded: isCoded, checksum: checksum, rssi: rssi, into: &collector)
    {
      collector.counts.advertisingPackets &+= 1
    }
  }

  /// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR: channel | signal | noise | access address offenses |
  /// reference access address (4) | flags (2).
  private func decodeRadio(_ cursor: inout ByteCursor, _ collector: inout SightingCollector)
    throws(ParseError)
  {
    try cursor.skip(1)
    let signal = try cursor.readInt8()
    try cursor.skip(6)
    let flags = try cursor.readLittleEndian(UInt16.self)
    let checksum: AdvertisingPDUDecoder.Checksum =
      flags & 0x0400 == 0 ? .unchecked : flags & 0x0800 != 0 ? .valid : .wrong
    decodeLinkLayer(
      cursor.rest, isCoded: flags >> 14 == 2, checksum: checksum,
      rssi: flags & 0x0002 != 0 ? signal : nil, &collector)
  }

  /// nRF Sniffer, protocol versions 1 to 3 (Nordic Semiconductor's SnifferAPI): board | lengths (2) |
  /// version | counter (2) | packet type | header length | flags | channel | −signal | event counter
  /// (2) | time (4).
  private func decodeNordic(_ cursor: inout ByteCursor, _ collector: inout SightingCollector)
    throws(ParseError)
  {
    try cursor.skip(3)
    let version = try cursor.readUInt8()
    guard (1...3).contains(version) else { return collector.refused(.unsupportedPacket) }
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
    decodeLinkLayer(
      cursor.rest, isCoded: isCoded, checksum: flags & 1 != 0 ? .valid : .wrong,
      rssi: loss <= 127 ? -Int8(loss) : nil, &collector)
  }
}
