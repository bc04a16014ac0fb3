import HCIPackets
import TestSupport
import Testing

/// The checksum against one that is computed bit by bit.
@Suite struct CRC24Tests {
  private func crc(_ pdu: [UInt8]) -> [UInt8] {
    let value = unsafe CRC24.advertising(pdu.span.bytes)
    return (0..<3).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  @Test(arguments: 0...255 as ClosedRange<UInt8>)
  func everyOctet(octet: UInt8) {
    #expect(crc([octet]) == checksum(of: [octet]))
    #expect(crc([0x42, octet, 0xFF]) == checksum(of: [0x42, octet, 0xFF]))
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func randomPDUs(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let pdu = random.bytes(Int.random(in: 0...257, using: &random))
    #expect(crc(pdu) == checksum(of: pdu), "seed \(seed)")
  }

  /// Any burst of up to 24 wrong bits is seen: what the polynomial promises.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func bursts(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let pdu = random.bytes(39)
    let right = crc(pdu)
    for _ in 0..<50 {
      var wrong = pdu
      let start = Int(random.next() % (39 * 8 - 24))
      let pattern = random.next() % 0xFF_FFFF + 1
      for bit in 0..<24 where pattern >> bit & 1 == 1 {
        wrong[(start + bit) / 8] ^= 1 << ((start + bit) % 8)
      }
      #expect(crc(wrong) != right, "seed \(seed)")
    }
  }

  @Test func nothing() {
    let value = unsafe CRC24.advertising([UInt8]().span.bytes)
    #expect(value == 0xAA_AAAA)
  }
}
