/// The CRC-32 of IEEE 802.3, which gzip and PNG have too: it sees every damage of up to 32 bits in a row.
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { rest, _ in
      rest & 1 == 0 ? rest >> 1 : rest >> 1 ^ 0xEDB8_8320
    }
  }

  /// The checksum of some bytes.
  static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    let table = table
    var rest = UInt32.max
    for byte in bytes {
      rest = rest >> 8 ^ table[Int(UInt8(truncatingIfNeeded: rest) ^ byte)]
    }
    return ~rest
  }
}
