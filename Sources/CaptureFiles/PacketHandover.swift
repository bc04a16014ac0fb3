import Bytes
import Scanning

/// A converter that passes a capture's HCI packets to a tap as H4, and skips a sniffer's.
struct PacketHandover {
  let tap: PacketTap
  /// The memory for a packet that gets an H4 type.
  private var typed: [UInt8] = []

  init(to tap: @escaping PacketTap, firstAdapter: UInt16) {
    self.tap = { packet, time, isReceived, adapter in
      tap(packet, time, isReceived, firstAdapter &+ adapter)
    }
  }

  mutating func hand(_ packet: CapturedPacket, in read: RawSpan) {
    let bytes = packet.bytes(in: read)
    switch packet.contents {
    case .h4:
      guard !bytes.isEmpty else { return }
      let type = bytes.littleEndian(UInt8.self, at: 0)
      // btsnoop's flags contain the direction. pcap has none, and most packet types have only one.
      let isReceived = type == 0x04 || type != 0x01 && packet.flags & 1 != 0
      tap(bytes, packet.time, isReceived, packet.adapter)
    case .h4WithDirection:
      guard bytes.byteCount > 4 else { return }
      tap(
        bytes.extracting(droppingFirst: 4), packet.time,
        bytes.bigEndian(UInt32.self, at: 0) & 1 != 0,
        packet.adapter)
    case .h1:
      let isReceived = packet.flags & 1 != 0
      let type: UInt8 = packet.flags & 2 == 0 ? 0x02 : isReceived ? 0x04 : 0x01
      hand(bytes, type, packet.time, isReceived, packet.adapter)
    case .btsnoopMonitor:
      hand(
        monitor: bytes, UInt16(truncatingIfNeeded: packet.flags), packet.time,
        UInt16(packet.flags >> 16))
    case .linuxMonitor:
      guard bytes.byteCount >= 4 else { return }
      hand(
        monitor: bytes.extracting(droppingFirst: 4), bytes.bigEndian(UInt16.self, at: 2),
        packet.time, bytes.bigEndian(UInt16.self, at: 0))
    case .linkLayer, .linkLayerWithRadio, .nordic, .unsupported: break
    }
  }

  private mutating func hand(
    monitor bytes: RawSpan, _ opcode: UInt16, _ time: WallClockTime, _ adapter: UInt16
  ) {
    guard let packet = MonitorOpcode(rawValue: opcode)?.packet else { return }
    hand(bytes, packet.type, time, packet.isReceived, adapter)
  }

  private mutating func hand(
    _ bytes: RawSpan, _ type: UInt8, _ time: WallClockTime, _ isReceived: Bool, _ adapter: UInt16
  ) {
    typed.removeAll(keepingCapacity: true)
    typed.append(type)
    // The memory is used only during the calls.
    unsafe bytes.withUnsafeBytes { unsafe typed.append(contentsOf: $0) }
    tap(unsafe typed.span.bytes, time, isReceived, adapter)
  }
}
