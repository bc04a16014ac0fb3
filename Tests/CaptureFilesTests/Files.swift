/// Integers in the byte order that a file has.
struct ByteOrder: Sendable, CustomStringConvertible {
  var isBig: Bool

  static let big = ByteOrder(isBig: true)
  static let little = ByteOrder(isBig: false)
  static let both = [little, big]

  var description: String { isBig ? "big-endian" : "little-endian" }

  func callAsFunction<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    let octets = (0..<Value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    return isBig ? octets.reversed() : octets
  }
}

/// Parts of a file, one behind the other.
func joined(_ parts: [UInt8]...) -> [UInt8] {
  parts.flatMap(\.self)
}

/// btsnoop by hand, after RFC 1761 and BlueZ's header file.
enum BTSnoopFile {
  /// Microseconds from 0 AD to 1970.
  static let epoch: Int64 = 0x00DC_DDB3_0F2F_8000

  static func header(datalink: UInt32 = 1002, version: UInt32 = 1) -> [UInt8] {
    joined(Array("btsnoop\0".utf8), ByteOrder.big(version), ByteOrder.big(datalink))
  }

  static func record(_ packet: [UInt8], microseconds: Int64 = 0, flags: UInt32 = 3) -> [UInt8] {
    let order = ByteOrder.big
    let length = order(UInt32(packet.count))
    return joined(
      length, length, order(flags), order(UInt32(0)), order(microseconds &+ epoch), packet)
  }
}

/// pcap by hand, after its draft.
struct PcapFile {
  var order = ByteOrder.little
  var isNano = false
  var linkType: UInt32 = 187
  var version: UInt16 = 2

  var header: [UInt8] {
    joined(
      order(isNano ? 0xA1B2_3C4D : 0xA1B2_C3D4 as UInt32), order(version), order(UInt16(4)),
      order(UInt32(0)), order(UInt32(0)), order(UInt32(65535)), order(linkType))
  }

  func record(_ packet: [UInt8], seconds: UInt32 = 0, fraction: UInt32 = 0) -> [UInt8] {
    let length = order(UInt32(packet.count))
    return joined(order(seconds), order(fraction), length, length, packet)
  }
}

/// pcapng by hand, after its draft.
struct PcapngFile {
  var order = ByteOrder.little

  func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
    let padded = body + [UInt8](repeating: 0, count: -body.count & 3)
    let length = UInt32(padded.count + 12)
    return joined(order(type), order(length), padded, order(length))
  }

  var section: [UInt8] {
    block(
      0x0A0D_0D0A,
      joined(
        order(0x1A2B_3C4D as UInt32), order(UInt16(1)), order(UInt16(0)), order(Int64(-1))))
  }

  func option(_ code: UInt16, _ value: [UInt8]) -> [UInt8] {
    joined(
      order(code), order(UInt16(value.count)), value,
      [UInt8](repeating: 0, count: -value.count & 3))
  }

  func interface(
    _ linkType: UInt16 = 187, snapLength: UInt32 = 0, resolution: UInt8? = nil,
    offset: Int64? = nil
  ) -> [UInt8] {
    var options = option(2, Array("hci0".utf8))
    if let resolution { options += option(9, [resolution]) }
    if let offset { options += option(14, order(offset)) }
    options += order(UInt16(0)) + order(UInt16(0))
    return block(1, joined(order(linkType), order(UInt16(0)), order(snapLength), options))
  }

  func packet(_ packet: [UInt8], interface: UInt32 = 0, ticks: UInt64 = 0, options: [UInt8] = [])
    -> [UInt8]
  {
    let padding = [UInt8](repeating: 0, count: -packet.count & 3)
    return block(
      6,
      joined(
        order(interface), order(UInt32(ticks >> 32)), order(UInt32(truncatingIfNeeded: ticks)),
        order(UInt32(packet.count)), order(UInt32(packet.count)), packet, padding, options))
  }

  func simplePacket(_ packet: [UInt8], original: UInt32? = nil) -> [UInt8] {
    block(3, order(original ?? UInt32(packet.count)) + packet)
  }

  func obsoletePacket(_ packet: [UInt8], interface: UInt16 = 0, ticks: UInt64 = 0) -> [UInt8] {
    block(
      2,
      joined(
        order(interface), order(UInt16(0xFFFF)), order(UInt32(ticks >> 32)),
        order(UInt32(truncatingIfNeeded: ticks)), order(UInt32(packet.count)),
        order(UInt32(packet.count)), packet))
  }
}
