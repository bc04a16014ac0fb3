/// The link layer's checksum (Core Specification, Vol 6, Part B, §3.1.1): the polynomial
/// x²⁴ + x¹⁰ + x⁹ + x⁶ + x⁴ + x³ + x + 1, least significant bit first.
package enum CRC24 {
  /// The initial register on advertising channels: 0x555555, bit-reversed for the shift register.
  static let advertisingStart: UInt32 = 0xAA_AAAA

  /// Returns the 24-bit checksum of a PDU on an advertising channel, header included. On air, the
  /// least significant octet comes first.
  package static func advertising(_ pdu: RawSpan) -> UInt32 {
    var register = advertisingStart
    for index in 0..<pdu.byteCount {
      // The range of the loop keeps the load inside the bytes.
      let byte = unsafe pdu.unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
      register = register >> 8 ^ table[Int((register ^ UInt32(byte)) & 0xFF)]
    }
    return register
  }

  /// The change of the register for each octet. The bit-reversed polynomial is 0xDA6000.
  private static let table: [UInt32] = (0..<256).map { octet in
    (0..<8).reduce(UInt32(octet)) { register, _ in
      register & 1 == 1 ? register >> 1 ^ 0xDA_6000 : register >> 1
    }
  }
}
