public import Scanning

/// Writes HCI packets as a capture: bytes in memory, which the caller puts where it wants.
///
/// btsnoop files have the datalink 1002 (H4), pcapng files the link type 201 (H4 with direction) and
/// nanosecond time stamps.
public struct CaptureWriter: Sendable {
  /// The formats that are written.
  public enum Format: String, CaseIterable, Sendable {
    /// btsnoop, which phones and BlueZ's tools read and write.
    case btsnoop
    /// pcapng, which Wireshark writes.
    case pcapng
  }

  /// The format.
  public let format: Format

  /// Makes a writer.
  public init(format: Format) {
    self.format = format
  }

  /// Appends what the file begins with.
  public func writeHeader(to bytes: inout [UInt8]) {
    switch format {
    case .btsnoop:
      bytes += BTSnoop.magic
      bytes.appendBigEndian(UInt32(1))  // version
      bytes.appendBigEndian(UInt32(1002))  // datalink
    case .pcapng:
      writeBlock(Pcapng.BlockType.sectionHeader, to: &bytes) { body in
        body.appendLittleEndian(Pcapng.byteOrderMagic)
        body.appendLittleEndian(UInt16(1))
        body.appendLittleEndian(UInt16(0))
        body.appendLittleEndian(Int64(-1))  // section length: not known
      }
      writeBlock(Pcapng.BlockType.interfaceDescription, to: &bytes) { body in
        body.appendLittleEndian(UInt16(LinkType.hciH4WithDirection.rawValue))
        body.appendLittleEndian(UInt16(0))
        body.appendLittleEndian(UInt32(longestPacket))
        body.appendLittleEndian(UInt16(9))  // if_tsresol
        body.appendLittleEndian(UInt16(1))
        body += [9, 0, 0, 0]  // 10⁻⁹ s, padded
        body.appendLittleEndian(UInt32(0))  // opt_endofopt
      }
    }
  }

  /// Appends one packet.
  ///
  /// - Parameters:
  ///   - packet: HCI with its H4 packet type in front; at most 262,140 bytes, more are cut.
  ///   - time: When it was sent or received.
  ///   - isReceived: Whether it came from the controller.
  ///   - bytes: Where it goes.
  public func write(
    _ packet: [UInt8], at time: Timestamp, isReceived: Bool = true, to bytes: inout [UInt8]
  ) {
    let captured = packet.prefix(longestPacket - 4)
    switch format {
    case .btsnoop:
      // Commands and events have bit 1 set.
      let isCommandOrEvent = packet.first == 0x01 || packet.first == 0x04
      bytes.appendBigEndian(UInt32(packet.count))
      bytes.appendBigEndian(UInt32(captured.count))
      bytes.appendBigEndian(UInt32((isReceived ? 1 : 0) | (isCommandOrEvent ? 2 : 0)))
      bytes.appendBigEndian(UInt32(0))  // drops
      bytes.appendBigEndian(time.nanoseconds / 1000 + BTSnoop.epoch)
      bytes += captured
    case .pcapng:
      writeBlock(Pcapng.BlockType.enhancedPacket, to: &bytes) { body in
        let ticks = UInt64(bitPattern: time.nanoseconds)
        body.appendLittleEndian(UInt32(0))  // interface
        body.appendLittleEndian(UInt32(ticks >> 32))
        body.appendLittleEndian(UInt32(truncatingIfNeeded: ticks))
        body.appendLittleEndian(UInt32(captured.count + 4))
        body.appendLittleEndian(UInt32(packet.count + 4))
        body.appendBigEndian(UInt32(isReceived ? 1 : 0))  // direction
        body += captured
      }
    }
  }

  private func writeBlock(_ type: UInt32, to bytes: inout [UInt8], body: (inout [UInt8]) -> Void) {
    let start = bytes.count
    bytes.appendLittleEndian(type)
    bytes.appendLittleEndian(UInt32(0))  // the length, when it is known
    body(&bytes)
    while (bytes.count - start) % 4 != 0 { bytes.append(0) }
    let total = UInt32(bytes.count - start + 4)
    bytes.appendLittleEndian(total)
    for index in 0..<4 {
      bytes[start + 4 + index] = UInt8(truncatingIfNeeded: total >> (8 * index))
    }
  }
}

extension [UInt8] {
  fileprivate mutating func appendLittleEndian<Value: FixedWidthInteger>(_ value: Value) {
    for index in 0..<(Value.bitWidth / 8) {
      append(UInt8(truncatingIfNeeded: value >> (8 * index)))
    }
  }

  fileprivate mutating func appendBigEndian<Value: FixedWidthInteger>(_ value: Value) {
    appendLittleEndian(value.byteSwapped)
  }
}
