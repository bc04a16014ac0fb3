package import Scanning

/// A writer of HCI packets as a capture in memory, which is allocated only to grow the array.
package struct CaptureWriter: Sendable {
  package enum Format: String, CaseIterable, Sendable {
    /// btsnoop, read by phones' and BlueZ's tools: datalink 1002 (H4), microseconds, no adapters.
    case btsnoop
    /// btsnoop as of BlueZ's `btmon -w`, with several adapters: datalink 2001 (Linux monitor).
    case btmon
    /// pcapng as of Wireshark: link type 201 (H4 with direction), nanoseconds.
    case pcapng
  }

  package let format: Format

  package init(format: Format) { self.format = format }

  package func writeHeader(to bytes: inout [UInt8]) {
    switch format {
    case .btsnoop, .btmon:
      bytes += BTSnoop.magic
      bytes.appendBigEndian(UInt32(1))  // version
      bytes.appendBigEndian(UInt32(format == .btmon ? 2001 : 1002))  // datalink
    case .pcapng:
      writeSection(to: &bytes)
      writeInterface(to: &bytes)
    }
  }

  /// Appends an HCI packet, which begins with its H4 packet type and is cut after 262,140 bytes.
  ///
  /// `source` is the adapter's index in ``Format/btmon`` and the interface's number in
  /// ``Format/pcapng``. pcapng has no time before 1970.
  package func write(
    _ packet: RawSpan, at time: WallClockTime, isReceived: Bool = true, source: UInt16 = 0,
    to bytes: inout [UInt8]
  ) {
    let captured = packet.extracting(first: longestPacket - 4)
    // An empty packet has no type; any other has a first byte.
    let type: UInt8? =
      packet.isEmpty ? nil : unsafe packet.unsafeLoad(fromUncheckedByteOffset: 0, as: UInt8.self)
    switch format {
    case .btsnoop:
      let isCommandOrEvent = type == 0x01 || type == 0x04
      let flags: UInt32 = (isReceived ? 1 : 0) | (isCommandOrEvent ? 2 : 0)
      writeRecordHead(
        original: packet.byteCount, captured: captured.byteCount, flags: flags, time, to: &bytes)
      bytes.append(captured)
    case .btmon:
      let opcode = MonitorOpcode(packetType: type, isReceived: isReceived)
      let body = captured.extracting(droppingFirst: 1)
      writeRecordHead(
        original: max(0, packet.byteCount - 1), captured: body.byteCount,
        flags: UInt32(source) << 16 | UInt32(opcode.rawValue), time, to: &bytes)
      bytes.append(body)
    case .pcapng:
      let ticks = UInt64(max(0, time.nanoseconds))
      let total = UInt32(size(ofPacket: packet.byteCount))
      let length = UInt32(captured.byteCount + 4)
      bytes.appendLittleEndian(Pcapng.BlockType.enhancedPacket, total)
      bytes.appendLittleEndian(UInt32(source), UInt32(ticks >> 32))
      bytes.appendLittleEndian(UInt32(truncatingIfNeeded: ticks), length)
      let direction: UInt32 = isReceived ? 1 : 0
      bytes.appendLittleEndian(UInt32(clamping: packet.byteCount + 4), direction.byteSwapped)
      bytes.append(captured)
      for _ in 0..<(-captured.byteCount & 3) { bytes.append(0) }
      bytes.appendLittleEndian(total)
    }
  }

  package func write(
    _ packet: [UInt8], at time: WallClockTime, isReceived: Bool = true, source: UInt16 = 0,
    to bytes: inout [UInt8]
  ) {
    // The array outlives the call.
    unsafe write(packet.span.bytes, at: time, isReceived: isReceived, source: source, to: &bytes)
  }

  func size(ofPacket count: Int) -> Int {
    let captured = min(count, longestPacket - 4)
    switch format {
    case .btsnoop: return BTSnoop.recordHeaderBytes + captured
    case .btmon: return BTSnoop.recordHeaderBytes + max(0, captured - 1)
    case .pcapng: return 36 + (captured + 3) / 4 * 4
    }
  }

  func writeRecordHead(
    original: Int, captured: Int, flags: UInt32, _ time: WallClockTime, to bytes: inout [UInt8]
  ) {
    bytes.appendBigEndian(UInt64(UInt32(clamping: original)) << 32 | UInt64(captured))
    bytes.appendBigEndian(UInt64(flags) << 32)  // and no drops
    bytes.appendBigEndian(time.microseconds + BTSnoop.epoch)
  }

  func writeSection(to bytes: inout [UInt8]) {
    writeBlock(Pcapng.BlockType.sectionHeader, to: &bytes) { body in
      body.appendLittleEndian(Pcapng.byteOrderMagic)
      body.appendLittleEndian(UInt16(1))
      body.appendLittleEndian(UInt16(0))
      body.appendLittleEndian(Int64(-1))  // section length: not known
    }
  }

  func writeInterface(name: String = "", to bytes: inout [UInt8]) {
    writeBlock(Pcapng.BlockType.interfaceDescription, to: &bytes) { body in
      body.appendLittleEndian(UInt16(PacketContents.h4WithDirection.rawValue))
      body.appendLittleEndian(UInt16(0))
      body.appendLittleEndian(UInt32(longestPacket))
      if !name.isEmpty {
        body.appendLittleEndian(UInt16(2))  // if_name
        body.appendLittleEndian(UInt16(name.utf8.count))
        body += name.utf8
        body += repeatElement(0, count: -name.utf8.count & 3)
      }
      body.appendLittleEndian(UInt16(9))  // if_tsresol
      body.appendLittleEndian(UInt16(1))
      body += [9, 0, 0, 0]  // 10⁻⁹ s, padded
      body.appendLittleEndian(UInt32(0))  // opt_endofopt
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

extension WallClockTime {
  /// Microseconds since 1970, rounded down.
  fileprivate var microseconds: Int64 {
    let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ bytes: RawSpan) {
    // The memory is used only during the call.
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }

  fileprivate mutating func appendLittleEndian<Value: FixedWidthInteger>(_ value: Value) {
    // The integer outlives the call.
    unsafe Swift.withUnsafeBytes(of: value.littleEndian) { unsafe append(contentsOf: $0) }
  }

  /// Appends two numbers with one append, which costs half as much as two.
  fileprivate mutating func appendLittleEndian(_ first: UInt32, _ second: UInt32) {
    appendLittleEndian(UInt64(second) << 32 | UInt64(first))
  }

  fileprivate mutating func appendBigEndian<Value: FixedWidthInteger>(_ value: Value) {
    appendLittleEndian(value.byteSwapped)
  }
}
