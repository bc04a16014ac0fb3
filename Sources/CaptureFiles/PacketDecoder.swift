import Advertising
import Bytes
import HCIPackets
import Scanning

/// A decoder of packets of every link type. docs/formats.md has the table.
enum PacketDecoder {
  /// Decodes one packet. The collector's time is already the packet's.
  @inline(__always)
  static func decode(
    _ packet: CapturedPacket, in read: RawSpan, firstAdapter: UInt16,
    into collector: inout SightingCollector
  ) {
    collector.counts.packets &+= 1
    collector.adapter = firstAdapter &+ packet.adapter
    switch packet.contents {
    case .h4: receive(h4: packet, in: read, at: packet.start, &collector)
    case .h4WithDirection: receive(h4: packet, in: read, at: packet.start &+ 4, &collector)
    default: decodeOther(packet, in: read, firstAdapter: firstAdapter, into: &collector)
    }
  }

  /// Passes on events (H4 packet type 4) and skips all other packets.
  @inline(__always)
  private static func receive(
    h4 packet: CapturedPacket, in read: RawSpan, at start: Int, _ collector: inout SightingCollector
  ) {
    guard start < packet.end else { return collector.refuse(.truncatedPacket) }
    // The load ends before `packet.end`, which the guard compared.
    if unsafe read.littleEndian(UInt8.self, unchecked: start) == 0x04 {
      unsafe collector.receive(event: read, from: start &+ 1, to: packet.end)
    }
  }

  @inline(never)
  private static func decodeOther(
    _ packet: CapturedPacket, in read: RawSpan, firstAdapter: UInt16,
    into collector: inout SightingCollector
  ) {
    let bytes = packet.bytes(in: read)
    switch packet.contents {
    case .h4, .h4WithDirection: break
    case .h1:
      // Bit 0: received. Bit 1: command or event.
      if packet.flags & 0b11 == 0b11 { collector.receive(event: bytes) }
    // Opcode 3 of Linux's monitor is an event (BlueZ, src/shared/btsnoop.h).
    case .btsnoopMonitor:
      collector.adapter = firstAdapter &+ UInt16(packet.flags >> 16)
      if packet.flags & 0xFFFF == 3 { collector.receive(event: bytes) }
    case .linuxMonitor:
      guard bytes.byteCount >= 4 else { return collector.refuse(.truncatedPacket) }
      collector.adapter = firstAdapter &+ bytes.bigEndian(UInt16.self, at: 0)
      if bytes.bigEndian(UInt16.self, at: 2) == 3 { collector.receive(event: bytes, at: 4) }
    case .linkLayer:
      collector.receive(packet: bytes, isCoded: false, checksum: .unchecked, rssi: nil)
    case .linkLayerWithRadio: receive(radio: bytes, &collector)
    case .nordic: receive(nordic: bytes, &collector)
    case .unsupported: collector.refuse(.unsupportedPacket)
    }
  }

  /// LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR.
  ///
  /// ```
  /// channel | signal | noise | access address offenses | reference access address (4) | flags (2)
  /// ```
  private static func receive(radio bytes: RawSpan, _ collector: inout SightingCollector) {
    guard bytes.byteCount >= 10 else { return collector.refuse(.truncatedPacket) }
    let flags = bytes.littleEndian(UInt16.self, at: 8)
    let checksum: AdvertisingPDU.Checksum =
      flags & 0x0400 == 0 ? .unchecked : flags & 0x0800 != 0 ? .valid : .wrong
    collector.receive(
      packet: bytes.extracting(droppingFirst: 10), isCoded: flags >> 14 == 2, checksum: checksum,
      rssi: flags & 0x0002 != 0 ? bytes.littleEndian(Int8.self, at: 1) : nil)
  }

  /// nRF Sniffer, protocol versions 1 to 3 (Nordic Semiconductor's SnifferAPI).
  ///
  /// ```
  /// board | lengths (2) | version | counter (2) | packet type |
  /// header length | flags | channel | −signal | event counter (2) | time (4)
  /// ```
  private static func receive(nordic bytes: RawSpan, _ collector: inout SightingCollector) {
    guard bytes.byteCount >= 17 else { return collector.refuse(.truncatedPacket) }
    let version = bytes.littleEndian(UInt8.self, at: 3)
    guard (1...3).contains(version) else { return collector.refuse(.unsupportedPacket) }
    let type = bytes.littleEndian(UInt8.self, at: 6)
    // Type 6: any packet in versions 1 and 2, one of a connection in 3. Type 2: advertising in 3.
    guard type == 0x06 || version == 3 && type == 0x02 else { return }
    let flags = bytes.littleEndian(UInt8.self, at: 8)
    let loss = bytes.littleEndian(UInt8.self, at: 10)
    collector.receive(
      packet: bytes.extracting(droppingFirst: 17),
      isCoded: version >= 2 && flags >> 4 & 0b111 == 2,
      checksum: flags & 1 != 0 ? .valid : .wrong, rssi: loss <= 127 ? -Int8(loss) : nil)
  }
}
