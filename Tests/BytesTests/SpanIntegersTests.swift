import Bytes
import TestSupport
import Testing

/// Integers at an offset of a span, in both byte orders.
@Suite struct SpanIntegersTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func bothOrdersAtEveryOffset(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let bytes = random.bytes(24)
    let span = unsafe bytes.span.bytes
    for offset in 0...16 {
      let field = Array(bytes[offset..<offset + 8])
      let big = field.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let little = field.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      #expect(span.bigEndian(UInt64.self, at: offset) == big, "seed \(seed)")
      #expect(span.littleEndian(UInt64.self, at: offset) == little, "seed \(seed)")
      #expect(span.bigEndian(UInt16.self, at: offset) == UInt16(big >> 48), "seed \(seed)")
      #expect(
        span.littleEndian(UInt32.self, at: offset) == UInt32(truncatingIfNeeded: little),
        "seed \(seed)")
      let unchecked = unsafe span.littleEndian(UInt64.self, unchecked: offset)
      #expect(unchecked == little, "seed \(seed)")
      #expect(span.bigEndian(Int8.self, at: offset) == Int8(bitPattern: field[0]))
    }
  }

  @Test func partsHoldTheirBytes() {
    let bytes: [UInt8] = [0, 1, 2, 3, 4]
    let span = unsafe bytes.span.bytes
    for start in 0...5 {
      for count in 0...(5 - start) {
        let part = unsafe span.part(unchecked: start, count: count)
        let octets = (0..<part.byteCount).map { part.littleEndian(UInt8.self, at: $0) }
        #expect(octets == Array(bytes[start..<start + count]))
      }
    }
  }
}
