/// The link layer's checksum (Core Specification, Vol 6, Part B, §3.1.1): the polynomial
/// x²⁴ + x¹⁰ + x⁹ + x⁶ + x⁴ + x³ + x + 1, least significant bit first.
package enum CRC24 {
  /// The register's start for everything on the advertising channels, 0x555555, bit-reversed as the
  /// shift register below holds it.
  static let advertisingStart: UInt32 = 0xAA_AAAA

  /// The checksum of a PDU, header included, on an advertising channel.
  ///
  /// - Returns: 24 bits, as three octets on the wire have them, the least significant first.
  package static func advertising(_ pdu: RawSpan) -> UInt32 {
    var register = advertisingStart
    for index in 0..<pdu.byteCount {
      // The loop's range keeps the load inside the bytes.
      let byte = unsafe pdu.unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
      register = register >> 8 ^ table[Int((register ^ UInt32(byte)) & 0xFF)]
    }
    return register
  }

  /// One step of the register for every octet; the polynomial bit-reversed is 0xDA6000.
  private static let table: [UInt32] = (0..<256).map { octet in
    (0..<8).reduce(UInt32(octet)) { register, _ in
      register & 1 == 1 ? register >> 1 ^ 0xDA_6000 : register >> 1
    }
  }
}
