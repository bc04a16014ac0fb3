import Bytes
import TestSupport
import Testing

/// Reading bytes from front to back, and what happens where they end.
@Suite struct ByteCursorTests {
  @Test(arguments: CursorRead.allCases)
  func readsWhatTheOctetsSay(_ read: CursorRead) {
    let patterns: [[UInt8]] = [
      [0, 0, 0, 0, 0, 0, 0, 0], [255, 255, 255, 255, 255, 255, 255, 255],
      [1, 2, 3, 4, 5, 6, 7, 8], [0x80, 0, 0, 0, 0, 0, 0, 0x80],
      [0x7F, 255, 255, 255, 255, 255, 255, 0x7F],
    ]
    for pattern in patterns {
      let field = Array(pattern.prefix(read.width))
      let bytes = [0xEE] + field + [0xDD]
      var cursor = unsafe ByteCursor(bytes.span.bytes)
      _ = CursorRead.unsigned8.result(&cursor)
      let value = read.result(&cursor)
      #expect(value == .success(read.expected(field)), "\(pattern)")
      let (position, remaining) = (cursor.position, cursor.remaining)
      #expect(position == 1 + read.width)
      #expect(remaining == 1)
      #expect(CursorRead.unsigned8.result(&cursor) == .success(0xDD))
    }
  }

  /// Every prefix that is too short says where, how many and how many there are, and moves nothing.
  @Test(arguments: CursorRead.allCases, [0, 1, 1000])
  func failedReadMovesNothing(_ read: CursorRead, base: Int) {
    for available in 0..<read.width {
      let bytes = [UInt8](repeating: 7, count: 3 + available)
      var cursor = unsafe ByteCursor(bytes.span.bytes, base: base)
      #expect((try? cursor.skip(3)) != nil)
      let result = read.result(&cursor)
      let error = ParseError(
        .truncated(needed: read.width, available: available), at: base + 3)
      #expect(result == .failure(error))
      let (position, offset, remaining) = (cursor.position, cursor.offset, cursor.remaining)
      #expect(position == 3)
      #expect(offset == base + 3)
      #expect(remaining == available)
      for _ in 0..<available { #expect(CursorRead.unsigned8.result(&cursor) == .success(7)) }
    }
  }

  @Test(arguments: [-1, 0, 1, 4, 5, 6, Int.max, Int.min])
  func partsStayInside(count: Int) {
    let bytes: [UInt8] = [10, 11, 12, 13, 14, 15]
    let fits = (0...5).contains(count)
    let error = ParseError(.truncated(needed: count, available: 5), at: 101)

    var reading = unsafe ByteCursor(bytes.span.bytes, base: 100)
    _ = CursorRead.unsigned8.result(&reading)
    var read: [UInt8]?
    var readError: ParseError?
    do throws(ParseError) { read = octets(try reading.read(count)) } catch { readError = error }
    #expect(read == (fits ? Array(bytes[1..<1 + count]) : nil))
    #expect(readError == (fits ? nil : error))

    var skipping = unsafe ByteCursor(bytes.span.bytes, base: 100)
    _ = CursorRead.unsigned8.result(&skipping)
    var skipError: ParseError?
    do throws(ParseError) { try skipping.skip(count) } catch { skipError = error }
    #expect(skipError == (fits ? nil : error))

    var taking = unsafe ByteCursor(bytes.span.bytes, base: 100)
    _ = CursorRead.unsigned8.result(&taking)
    let peeked = octets(ifAny: taking.peek(count))
    let unmoved = taking.position
    let taken = octets(ifAny: taking.take(count))
    #expect(unmoved == 1)
    #expect(peeked == read)
    #expect(taken == read)

    let positions = [reading.position, skipping.position, taking.position]
    #expect(positions == Array(repeating: fits ? 1 + count : 1, count: 3))
  }

  @Test func theRestIsWhatWasNotRead() throws {
    let bytes: [UInt8] = [1, 2, 3]
    var cursor = unsafe ByteCursor(bytes.span.bytes)
    var rests: [[UInt8]] = [octets(cursor.rest)]
    while cursor.remaining > 0 {
      try cursor.skip(1)
      rests.append(octets(cursor.rest))
    }
    #expect(rests == [[1, 2, 3], [2, 3], [3], []])
    #expect(octets(cursor.bytes) == bytes)
  }

  /// Any mix of reads gives what a walk over the array gives, and ends where that ends.
  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func randomReads(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let bytes = random.bytes(Int.random(in: 0...64, using: &random))
    var cursor = unsafe ByteCursor(bytes.span.bytes)
    var position = 0
    for _ in 0..<40 {
      guard let read = CursorRead.allCases.randomElement(using: &random) else { return }
      let end = position + read.width
      let expected: Result<Int128, ParseError> =
        end <= bytes.count
        ? .success(read.expected(Array(bytes[position..<end])))
        : .failure(
          ParseError(
            .truncated(needed: read.width, available: bytes.count - position), at: position))
      #expect(read.result(&cursor) == expected, "seed \(seed)")
      if end <= bytes.count { position = end }
      let reached = cursor.position
      #expect(reached == position, "seed \(seed)")
    }
  }

  private func octets(ifAny span: RawSpan?) -> [UInt8]? {
    if let span { octets(span) } else { nil }
  }

  private func octets(_ span: RawSpan) -> [UInt8] {
    (0..<span.byteCount).map { span.littleEndian(UInt8.self, at: $0) }
  }
}
